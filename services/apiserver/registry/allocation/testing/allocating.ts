import { changeObject } from '../../testing/writes.js';
import { setMaxListeners } from 'node:events';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { loadCatalog } from '../../../../machinery/types/catalog.js';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { KeyValueStore } from '../../../../storage/store.js';
import { OPEN_STORE, type OpenStore } from '../../../../storage/testing/open-store.js';
import { Feed } from '../../../cache/feed.js';
import { HistoryBudget } from '../../../cache/history.js';
import { ResourceCache } from '../../../cache/resource-cache.js';
import { FORM, LAYOUT } from '../../../cache/testing/objects.js';
import { registryKeys } from '../../keys.js';
import { keyOf, type StoredResource } from '../../resources.js';
import { DEFAULT_STRATEGY } from '../../strategy.js';
import { Writer } from '../../writer.js';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
export const never = new AbortController().signal;
setMaxListeners(0, never); // hundreds of calls at once share it

const keys = registryKeys('/registry');

/** The allocations of a ConfigMap: `data.allocations`, separated by commas. */
const allocationsOf = ({ data }: ApiObject): string[] => {
  const { allocations = '' } = (data ?? {}) as { allocations?: string };
  return allocations.split(',').filter((allocation) => allocation !== '');
};

export const allocating = (name: string, allocations: string, more: Record<string, string> = {}): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'ns' },
  data: { allocations, ...more },
});

/** A server's half of a store with objects that have allocations. */
export class AllocatingScene {
  readonly store: KeyValueStore;
  readonly feed: Feed;
  readonly stored: StoredResource;
  readonly writer: Writer;
  readonly allocationKey = keys.allocation;
  readonly #dispose: () => Promise<void>;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  private constructor({ store, dispose }: OpenStore) {
    const hub = loadCatalog(vocabulary('platform')).resources.find((r) => r.resource === 'configmaps');
    if (hub === undefined) throw new Error('No declaration of configmaps');
    this.store = store;
    this.#dispose = dispose;
    const cache = new ResourceCache(keys.of(hub), LAYOUT, FORM, new HistoryBudget({ maxBytes: 1e8, retainMs: 1e8 }));
    this.stored = {
      hub,
      cache,
      strategy: { ...DEFAULT_STRATEGY, allocations: allocationsOf },
      emptyStatus: () => ({}),
    };
    this.feed = new Feed({ store, prefix: keys.prefix, log: quiet });
    this.feed.register(cache);
    setMaxListeners(0, this.#stop.signal);
    this.#running = this.feed.run(this.#stop.signal);
    const leaseFor = (): never => {
      throw new Error('Nothing here has a lease');
    };
    this.writer = new Writer({
      store,
      signal: this.#stop.signal,
      leaseFor,
      allocationKey: keys.allocation,
      reached: () => Promise.resolve(true),
    });
  }

  static async open(store: keyof typeof OPEN_STORE): Promise<AllocatingScene> {
    const scene = new AllocatingScene(await OPEN_STORE[store]());
    await scene.feed.whenLoaded(never);
    return scene;
  }

  keyOf(name: string): string {
    return keyOf(this.stored, 'ns', name);
  }

  /** The allocations in the store, as `allocation: name of the holder`, in order. */
  async allocations(): Promise<string[]> {
    const { kvs } = await this.store.range(keys.allocation(''), {}, never);
    return kvs.map(
      ({ key, value }) => `${key.slice(keys.allocation('').length)}: ${value.toString().split('/').at(-1) ?? ''}`,
    );
  }

  async change(name: string, allocations: string, more: Record<string, string> = {}): Promise<void> {
    await changeObject(this.writer, this.stored, name, (current) => ({
      do: 'put',
      object: { ...(current.parse() as ApiObject), data: { allocations, ...more } },
    }));
  }

  async remove(name: string): Promise<void> {
    await changeObject(this.writer, this.stored, name, () => ({ do: 'delete' }));
  }

  /** Writes or removes past the writer, as another program would. */
  async putRaw(key: string, value: string | Buffer | undefined): Promise<void> {
    const operation =
      value === undefined
        ? ({ type: 'delete', key } as const)
        : ({ type: 'put', key, value: Buffer.from(value) } as const);
    await this.store.transact({ conditions: [], operations: [operation] }, never);
  }

  /** Resolves when the cache shows all that has been written. */
  async settled(): Promise<void> {
    await this.feed.waitFor(await this.store.head(never), 5_000);
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('The test is over'));
    await this.#running;
    await this.#dispose();
  }
}
