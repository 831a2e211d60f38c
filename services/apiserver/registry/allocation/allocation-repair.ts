import { repeat } from '../../../machinery/loop/repeat.js';
import { PageSize } from '../../../storage/page-size.js';
import { NO_REVISION, revision, type KeyValue, type KeyValueStore } from '../../../storage/store.js';
import type { Log } from '../../../machinery/log/log.js';
import { AllocationIndex, type AllocatedObject } from './allocation-index.js';
import type { StoredResource } from '../resources.js';

export interface AllocationRepairOptions {
  readonly store: Pick<KeyValueStore, 'range' | 'transact'>;
  /** The key of an allocation; of '', what all of them start with. */
  readonly allocationKey: (allocation: string) => string;
  /** Waits until the caches have reached a revision; false when they have not in time. */
  readonly reached: (revision: number, timeoutMs: number) => Promise<boolean>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

export interface Repaired {
  /** Allocations that were missing, or that stood for an object which has them no longer. */
  readonly written: number;
  /** Allocations whose object is gone, or has released them. */
  readonly removed: number;
  /** Allocations that more than one object has: one of these has to be changed by hand. */
  readonly twice: number;
}

const EVERY_MS = 3 * 60_000;
/** Shortest wait after a failure. */
const AGAIN_MS = 10_000;
const PAGE = 1_000;
const CATCH_UP_MS = 10_000;
/** Transactions under way at once: a restore may leave tens of thousands to do. */
const WORKERS = 16;

/** Repairs the allocations of a store every three minutes, until `signal` fires. Never throws. */
export async function runAllocationRepair(
  o: AllocationRepairOptions,
  resources: Iterable<StoredResource>,
  signal: AbortSignal,
): Promise<void> {
  const indexes = allocationIndexes(resources);
  const round = async (): Promise<number> => {
    await repairAllocations(o, indexes, signal);
    return EVERY_MS;
  };
  const onFailure = (err: unknown): void =>
    o.log.warn('Allocations of addresses and ports could not be checked', { err });
  await repeat({ round, onFailure, retry: { leastMs: AGAIN_MS, mostMs: EVERY_MS } }, signal);
}

/** One index for each kind that has allocations. */
export const allocationIndexes = (resources: Iterable<StoredResource>): AllocationIndex[] =>
  [...resources].flatMap(({ cache, strategy: { allocations } }) =>
    allocations === undefined ? [] : [new AllocationIndex(cache, allocations)],
  );

/**
 * Brings the allocations in line with the objects after a restore, or where another program has written to the store. The
 * server's own writes are in line, as object and allocations are one transaction. Each repair is a transaction that holds
 * only while object and allocation are as they were read: it may run on any server, at any time, and be killed.
 */
export async function repairAllocations(
  o: AllocationRepairOptions,
  indexes: readonly AllocationIndex[],
  signal: AbortSignal,
): Promise<Repaired> {
  const { allocations, at } = await storedAllocations(o, signal);
  if (!(await o.reached(at, CATCH_UP_MS))) throw new Error('The cache did not catch up with the store in time');
  const wanted = objectsByAllocation(indexes);
  const twice = warnOfTwice(wanted, o.log);
  const written = await writeMissing(o, wanted, allocations, signal);
  const removed = await removeOrphans(o, wanted, allocations, signal);
  if (written + removed > 0) o.log.info('Allocations of addresses and ports were repaired', { written, removed });
  return { written, removed, twice };
}

async function storedAllocations(
  { store, allocationKey }: AllocationRepairOptions,
  signal: AbortSignal,
): Promise<{ readonly allocations: ReadonlyMap<string, KeyValue>; readonly at: number }> {
  const prefix = allocationKey('');
  const allocations = new Map<string, KeyValue>();
  const size = new PageSize(PAGE);
  let from = prefix;
  for (;;) {
    // Pages of different revisions do no harm: what has changed meanwhile fails its transaction.
    const page = await store.range(prefix, { limit: size.entries, from }, signal);
    size.learn(page.kvs);
    for (const kv of page.kvs) allocations.set(kv.key.slice(prefix.length), kv);
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return { allocations, at: page.revision };
    from = `${last.key}\0`;
  }
}

function objectsByAllocation(indexes: readonly AllocationIndex[]): Map<string, AllocatedObject[]> {
  const wanted = new Map<string, AllocatedObject[]>();
  for (const index of indexes) {
    index.catchUp();
    for (const object of index.objects()) {
      for (const allocation of object.allocations) {
        const others = wanted.get(allocation);
        if (others === undefined) wanted.set(allocation, [object]);
        else others.push(object);
      }
    }
  }
  return wanted;
}

function warnOfTwice(wanted: ReadonlyMap<string, readonly AllocatedObject[]>, log: Pick<Log, 'warn'>): number {
  let twice = 0;
  for (const [allocation, objects] of wanted) {
    if (objects.length < 2) continue;
    twice++;
    log.warn('More than one object has the same address or port', {
      allocation,
      objects: objects.map(({ key }) => key),
    });
  }
  return twice;
}

async function writeMissing(
  { store, allocationKey }: AllocationRepairOptions,
  wanted: ReadonlyMap<string, readonly AllocatedObject[]>,
  allocations: ReadonlyMap<string, KeyValue>,
  signal: AbortSignal,
): Promise<number> {
  return countOf(wanted, async ([allocation, objects]) => {
    const found = allocations.get(allocation);
    const holder = found?.value.toString();
    const [first] = objects;
    if (first === undefined || objects.some(({ key }) => key === holder)) return false;
    const key = allocationKey(allocation);
    const seen = { key: first.key, modRevision: revision(first.revision) };
    const conditions = [seen, { key, modRevision: found?.modRevision ?? NO_REVISION }];
    const operations = [{ type: 'put', key, value: Buffer.from(first.key) }] as const;
    return (await store.transact({ conditions, operations }, signal)).succeeded;
  });
}

/** A write that takes an allocation puts its key, also where it names the object already: an unchanged key is still an orphan's. */
async function removeOrphans(
  { store }: AllocationRepairOptions,
  wanted: ReadonlyMap<string, readonly AllocatedObject[]>,
  allocations: ReadonlyMap<string, KeyValue>,
  signal: AbortSignal,
): Promise<number> {
  return countOf(allocations, async ([allocation, { key, modRevision }]) => {
    if (wanted.has(allocation)) return false;
    const operations = [{ type: 'delete', key }] as const;
    return (await store.transact({ conditions: [{ key, modRevision }], operations }, signal)).succeeded;
  });
}

/** Calls `act` for each item, 16 at a time. @returns How often it did something. */
async function countOf<T>(items: Iterable<T>, act: (item: T) => Promise<boolean>): Promise<number> {
  let count = 0;
  const left = [...items].values();
  const worker = async (): Promise<void> => {
    for (const item of left) if (await act(item)) count++;
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  return count;
}
