import type { Served } from '../../client/discovery/discovery.js';
import { FakeServer } from '../../client/testing/fake-server.js';
import type { Log } from '../../machinery/log/log.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Controller, ControllerDeps } from '../controller.js';

/** A server in memory with what else a controller is given, and its queue. */
export class FakeCluster extends FakeServer {
  readonly warnings: string[] = [];
  readonly events: { readonly reason: string; readonly message: string }[] = [];
  readonly queued = new Set<string>();
  /** What discovery tells. */
  served: Served = { resources: [], failed: [] };

  deps(words: 'platform' | 'kubernetes' = 'platform'): ControllerDeps {
    return {
      client: this.client,
      informers: this.informers,
      discovery: {
        served: () => Promise.resolve(this.served),
        resourceOf: () => Promise.resolve(undefined),
        listen: () => () => undefined,
      },
      events: { record: (event) => this.events.push(event) },
      vocabulary: vocabulary(words),
      log: this.#log,
      server: 'https://server.example:6443',
      authorities: undefined,
      queue: { add: (key) => this.queued.add(key), addAfter: (key) => this.queued.add(key) },
    };
  }

  /** Reconciles what is queued, until nothing is; failures end it. @param most Of keys that bring themselves back. */
  async settle({ reconcile }: Controller, most = 200): Promise<void> {
    const { signal } = new AbortController();
    for (let rounds = 0; this.queued.size > 0; rounds++) {
      if (rounds === most) throw new Error(`It does not come to rest: ${[...this.queued].join(', ')}`);
      const [key = ''] = this.queued;
      this.queued.delete(key);
      if ((await reconcile(key, signal)) !== undefined) this.queued.add(key);
    }
  }

  get #log(): Log {
    const ignore = (): void => undefined;
    return {
      debug: ignore,
      info: ignore,
      warn: (message) => this.warnings.push(message),
      error: (message) => this.warnings.push(message),
    };
  }
}
