import { guarded } from '../../../client/remote/guarded.js';
import type { RemoteService } from '../../../client/remote/remote-service.js';
import type { Log } from '../../../machinery/log/log.js';
import type { AdmissionMetrics } from '../../metrics/admission-metrics.js';
import { Outages } from '../../webhook-reviews/outages.js';
import type { CompiledWebhook } from './compiled.js';
import { CallError, UNREACHABLE } from './errors.js';
import { WebhookService, type WebhookServiceDeps } from './webhook-service.js';

export interface CallersDeps extends WebhookServiceDeps {
  readonly log: Pick<Log, 'warn'>;
  readonly metrics: Pick<AdmissionMetrics, 'breaker'>;
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
    try {
      const service = new WebhookService(clientConfig, timeoutSeconds, this.#d);
      const totalMs = timeoutSeconds * 1000;
      const { shown } = service;
      const called = `admission webhook ${name}`;
      const outages = new Outages(called, this.#d.log);
      const breakerObserver = this.#d.metrics.breaker(called);
      const how = { name: shown, totalMs, attempts: 1, breakerObserver };
      return { service: guarded(service, how), shown, outages };
    } catch (err) {
      const why = err instanceof Error ? err.message : '';
      throw new CallError(`could not get REST client: unable to load root certificates: ${why}`, UNREACHABLE, {
        cause: err,
      });
    }
  }
}
