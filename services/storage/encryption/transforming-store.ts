import type { KeyValue, KeyValueStore, Operation, TransactionResult } from '../store.js';
import { inParallel, openValue, type TransformerOf } from './opening.js';
import { TransformedWatch } from './transformed-watch.js';

/**
 * A store whose values are transformed on their way in and out. A value that cannot be read comes marked as such
 * (`unreadable`), with nothing in it, so that the others around it can be read.
 */
export function transformingStore(store: KeyValueStore, transformerOf: TransformerOf): KeyValueStore {
  const opened = <T extends KeyValue | undefined>(kvs: readonly T[]): readonly T[] | Promise<readonly T[]> =>
    inParallel(kvs, (kv) => (kv === undefined ? kv : openOne(transformerOf, kv)) as T | Promise<T>);
  return {
    head: (signal) => store.head(signal),
    get: async (key, o, signal) => {
      const result = await store.get(key, o, signal);
      const [kv] = await opened([result.kv]);
      return kv === result.kv ? result : { ...result, kv };
    },
    range: async (prefix, o, signal) => {
      const result = await store.range(prefix, o, signal);
      const kvs = await opened(result.kvs);
      return kvs === result.kvs ? result : { ...result, kvs };
    },
    transact: async (t, signal) => {
      const sealed = inParallel(t.operations, (operation) => sealOne(transformerOf, operation));
      const operations = sealed instanceof Promise ? await sealed : sealed;
      const result: TransactionResult = await store.transact({ ...t, operations }, signal);
      return result.succeeded ? result : { ...result, found: await opened(result.found) };
    },
    watch: (o, handler) => new TransformedWatch(store, transformerOf, o, handler),
    compact: (at, signal) => store.compact(at, signal),
    grantLease: (ttlSeconds, signal) => store.grantLease(ttlSeconds, signal),
    renewLease: (lease, signal) => store.renewLease(lease, signal),
    revokeLease: (lease, signal) => store.revokeLease(lease, signal),
    space: (signal) => store.space(signal),
    capabilities: () => store.capabilities(),
    close: () => store.close(),
  };
}

function openOne(transformerOf: TransformerOf, kv: KeyValue): KeyValue | Promise<KeyValue> {
  const transformer = transformerOf(kv.key);
  if (transformer === undefined || transformer.asIs(kv.value)) return kv;
  const opened = openValue(transformer, kv.key, kv.value);
  if (opened instanceof Promise) return opened.then((o) => ({ ...kv, ...o }));
  return { ...kv, ...opened };
}

function sealOne(transformerOf: TransformerOf, operation: Operation): Operation | Promise<Operation> {
  if (operation.type === 'delete') return operation;
  const { key, value } = operation;
  const sealed = transformerOf(key)?.toStore(key, value) ?? value;
  if (sealed instanceof Promise) return sealed.then((bytes) => ({ ...operation, value: bytes }));
  return sealed === value ? operation : { ...operation, value: sealed };
}
