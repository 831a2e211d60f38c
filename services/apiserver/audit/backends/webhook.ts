import { setTimeout as sleep } from 'node:timers/promises';
import { guarded } from '../../../client/remote/guarded.js';
import { RemoteError, type RemoteFailure, type RemoteService } from '../../../client/remote/remote-service.js';
import { openRemoteService } from '../../../client/remote/open-remote-service.js';
import type { ApiServerOptions } from '../../options/flags.js';
import { auditVersion } from '../policy/read.js';
import type { AuditBackendDeps } from './audit-backends.js';
import { CLOSE_MS, STRICT, type AuditBackend, type OnLost, type Sink } from './backend.js';
import { Batching } from './batching.js';
import { blocking } from './blocking.js';

export interface WebhookOptions {
  readonly service: RemoteService;
  /** Group version of the events. */
  readonly apiVersion: string;
  /** Before the second attempt; twice as long before each further one. */
  readonly initialBackoffMs: number;
  /** Told of events that are no JSON. */
  readonly onLost: OnLost;
}

const NAME = 'audit webhook';
/** Longest that one request may take. */
const TIMEOUT_MS = 30_000;

/** @throws {Error} In one line, for a file that cannot be used. */
export function openWebhookBackend(
  o: ApiServerOptions,
  { vocabulary, log, onLost, metrics }: AuditBackendDeps,
): AuditBackend {
  const remote = openRemoteService(o.auditWebhookConfigFile, {
    timeoutMs: TIMEOUT_MS,
    name: NAME,
    log,
    vocabulary,
    wants: 'status',
  });
  const breakerObserver = metrics.breaker(NAME);
  // It is asked again here; a request that waits for it, as requests may, shall not wait for one that is away.
  const service = guarded(remote, { name: NAME, totalMs: TIMEOUT_MS, attempts: 1, breakerObserver });
  const apiVersion = auditVersion(vocabulary);
  const sink = new Webhook({ service, apiVersion, initialBackoffMs: o.auditWebhookInitialBackoffMs, onLost });
  const bounds = { closeMs: CLOSE_MS, onLost, maxEvents: o.auditWebhookBatchMaxSize };
  if (o.auditWebhookMode !== 'batch') return blocking(sink, { ...bounds, strict: o.auditWebhookMode === STRICT });
  const throttle = { perSecond: o.auditWebhookBatchThrottleQps, burst: o.auditWebhookBatchThrottleBurst };
  return new Batching(sink, {
    ...bounds,
    bufferSize: o.auditWebhookBatchBufferSize,
    maxWaitMs: o.auditWebhookBatchMaxWaitMs,
    ...(throttle.perSecond === 0 ? {} : { throttle }),
  });
}

const ATTEMPTS = 4;
const PASSING: ReadonlySet<RemoteFailure> = new Set(['connection', 'timeout', 'open']);
/** Servers that failed together do not come back together: each delay is longer by up to this part. */
const JITTER = 0.2;
/** Whatever a service wishes for: others wait behind. */
const MOST_WISHED_MS = 60_000;
const TOO_MANY_REQUESTS = 429;

interface Failure {
  readonly err: Error;
  /** Whether it is worth trying again. */
  readonly mayPass: boolean;
  /** How long the service wants to be left alone. */
  readonly wishedMs: number;
}

/** Sends events to a service, and again when it fails in a way that may pass. */
export class Webhook implements Sink {
  readonly name = 'webhook';
  readonly #o: WebhookOptions;

  constructor(o: WebhookOptions) {
    this.#o = o;
  }

  async write(events: readonly string[], signal: AbortSignal): Promise<void> {
    const { apiVersion, initialBackoffMs } = this.#o;
    const items = events.flatMap((event) => this.#parsed(event));
    if (items.length === 0) return;
    const list = { kind: 'EventList', apiVersion, metadata: {}, items };
    for (let attempt = 1; ; attempt++) {
      const failure = await this.#post(list, signal);
      if (failure === undefined) return;
      if (!failure.mayPass || attempt === ATTEMPTS) throw failure.err;
      const delay = initialBackoffMs * 2 ** (attempt - 1) * (1 + JITTER * Math.random());
      await sleep(Math.max(delay, failure.wishedMs), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw failure.err;
    }
  }

  close(): Promise<void> {
    this.#o.service.close();
    return Promise.resolve();
  }

  /** Nothing when it is no JSON: the others go without it. */
  #parsed(event: string): readonly unknown[] {
    try {
      return [JSON.parse(event)];
    } catch (err) {
      this.#o.onLost(this.name, 1, err);
      return [];
    }
  }

  async #post(list: object, signal: AbortSignal): Promise<Failure | undefined> {
    try {
      const { status, retryAfterMs = 0 } = await this.#o.service.post(list, signal);
      if (status < 300) return undefined;
      return {
        err: new Error(`The service answered ${status}`),
        mayPass: status >= 500 || status === TOO_MANY_REQUESTS,
        wishedMs: Math.min(retryAfterMs, MOST_WISHED_MS),
      };
    } catch (err) {
      const mayPass = err instanceof RemoteError && PASSING.has(err.failure);
      return { err: err as Error, mayPass: mayPass && !signal.aborted, wishedMs: 0 };
    }
  }
}
