import { guarded } from '../../../client/remote/guarded.js';
import type { RemoteService } from '../../../client/remote/remote-service.js';
import type { Log } from '../../../machinery/log/log.js';
import type { WebhookClientConfig } from '../../../machinery/types/generated/admissionregistration.v1.js';
import type { ObserveBreaker } from '../../metrics/breaker-metrics.js';
import { Outages } from '../../webhook-reviews/outages.js';
import type { CompiledWebhook } from './compiled.js';
import { CallError, UNREACHABLE } from './errors.js';
import { WebhookService, type WebhookServiceDeps } from './webhook-service.js';

export interface CallersDeps extends WebhookServiceDeps {
  readonly log: Pick<Log, 'warn'>;
  readonly metrics: { readonly breaker: ObserveBreaker };
}

/** How a webhook is asked. */
export interface CallerOptions {
  /** Names it to operators, e.g. `admission webhook a.example.com`. */
  readonly called: string;
  readonly clientConfig: WebhookClientConfig;
  readonly timeoutSeconds: number;
}

/** A webhook that can be asked, behind a breaker of its own. */
export interface Caller {
  readonly service: RemoteService;
  /** Begins what is told of failures. */
  readonly shown: string;
  readonly outages: Outages;
}

/** Callers of the webhooks of the present configurations. What has not changed keeps its breaker. */
export class Callers {
  readonly #d: CallersDeps;
  readonly #known = new Map<string, Caller>();

  constructor(d: CallersDeps) {
    this.#d = d;
  }

  /** @throws {CallError} For one that cannot be asked. */
  of(webhook: CompiledWebhook): Caller {
    let caller = this.#known.get(webhook.id);
    if (caller === undefined) this.#known.set(webhook.id, (caller = this.#open(webhook)));
    return caller;
  }

  /** Forgets all but these. What is under way goes on. */
  keep(webhooks: readonly CompiledWebhook[]): void {
    const kept = new Set(webhooks.map(({ id }) => id));
    for (const [id, { service }] of this.#known) {
      if (kept.has(id)) continue;
      this.#known.delete(id);
      service.close();
    }
  }

  close(): void {
    this.keep([]);
    this.#d.pools.close();
    this.#d.users.close();
  }

  #open({ name, clientConfig, timeoutSeconds }: CompiledWebhook): Caller {
    return openCaller({ called: `admission webhook ${name}`, clientConfig, timeoutSeconds }, this.#d);
  }
}

/** @throws {CallError} For one that cannot be asked. */
export function openCaller({ called, clientConfig, timeoutSeconds }: CallerOptions, d: CallersDeps): Caller {
  try {
    const service = new WebhookService(clientConfig, timeoutSeconds, d);
    const totalMs = timeoutSeconds * 1000;
    const { shown } = service;
    const outages = new Outages(called, d.log);
    const how = { name: shown, totalMs, attempts: 1, breakerObserver: d.metrics.breaker(called) };
    return { service: guarded(service, how), shown, outages };
  } catch (err) {
    const why = err instanceof Error ? err.message : '';
    const message = `could not get REST client: unable to load root certificates: ${why}`;
    throw new CallError(message, UNREACHABLE, { cause: err });
  }
}
