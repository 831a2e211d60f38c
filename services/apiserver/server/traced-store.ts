import { traced } from '../../machinery/tracing/trace.js';
import type { KeyValueStore } from '../../storage/store.js';

/** Tells traces of what requests ask of a store. Keys are not told. */
export function tracedStore(store: KeyValueStore): KeyValueStore {
  const own: Pick<KeyValueStore, 'head' | 'get' | 'range' | 'transact'> = {
    head: (signal) => traced('Store head', {}, () => store.head(signal)),
    get: (key, o, signal) => traced('Store get', {}, () => store.get(key, o, signal)),
    range: (prefix, o, signal) => traced('Store range', {}, () => store.range(prefix, o, signal)),
    transact: (t, signal) =>
      traced('Store transaction', { conditions: t.conditions.length, operations: t.operations.length }, () =>
        store.transact(t, signal),
      ),
  };
  return {
    ...own,
    watch: (o, handler) => store.watch(o, handler),
    compact: (at, signal) => store.compact(at, signal),
    grantLease: (ttlSeconds, signal) => store.grantLease(ttlSeconds, signal),
    renewLease: (lease, signal) => store.renewLease(lease, signal),
    revokeLease: (lease, signal) => store.revokeLease(lease, signal),
    space: (signal) => store.space(signal),
    capabilities: () => store.capabilities(),
    close: () => store.close(),
  };
}
