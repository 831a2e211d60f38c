import { repeat } from '../../machinery/loop/repeat.js';
import { PageSize } from '../../storage/page-size.js';
import { NO_REVISION, revision, type KeyValue, type KeyValueStore } from '../../storage/store.js';
import type { Log } from '../../machinery/log/log.js';
import { ClaimIndex, type Claimant } from './claims-index.js';
import type { StoredResource } from './resource.js';

export interface ClaimRepairOptions {
  readonly store: Pick<KeyValueStore, 'range' | 'transact'>;
  /** The key of a claim; of '', what all of them start with. */
  readonly claimKey: (claim: string) => string;
  /** Waits until the caches have reached a revision; false when they have not in time. */
  readonly reached: (revision: number, timeoutMs: number) => Promise<boolean>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

export interface Repaired {
  /** Claims that were missing, or that stood for an object which has them no longer. */
  readonly written: number;
  /** Claims of what is not there, or has them no longer. */
  readonly removed: number;
  /** Claims that more than one object has; somebody has to change one of them. */
  readonly twice: number;
}

const EVERY_MS = 3 * 60_000;
/** The sooner next time after a failure. */
const AGAIN_MS = 10_000;
const PAGE = 1_000;
const CATCH_UP_MS = 10_000;
/** Transactions under way at once: a restore may leave tens of thousands to do. */
const WORKERS = 16;

/** Looks after the claims of a store now and then, until `signal` fires. Never throws. */
export async function runClaimRepair(
  o: ClaimRepairOptions,
  resources: Iterable<StoredResource>,
  signal: AbortSignal,
): Promise<void> {
  const indexes = claimIndexes(resources);
  const round = async (): Promise<number> => {
    await repairClaims(o, indexes, signal);
    return EVERY_MS;
  };
  const onFailure = (err: unknown): void => o.log.warn('Claims of addresses and ports could not be checked', { err });
  await repeat({ round, onFailure, retry: { leastMs: AGAIN_MS, mostMs: EVERY_MS } }, signal);
}

/** Of those that claim something. */
export const claimIndexes = (resources: Iterable<StoredResource>): ClaimIndex[] =>
  [...resources].flatMap(({ cache, strategy: { claims } }) =>
    claims === undefined ? [] : [new ClaimIndex(cache, claims)],
  );

/**
 * Brings the claims in line with the objects: after a restore, or where something else has written to the store. What
 * this server writes itself is in line, for it is one transaction. Each step is one, too, and holds only if object and
 * claim still are as they were seen; so it may run anywhere, at any time, and end anywhere.
 */
export async function repairClaims(
  o: ClaimRepairOptions,
  indexes: readonly ClaimIndex[],
  signal: AbortSignal,
): Promise<Repaired> {
  const { claims, at } = await storedClaims(o, signal);
  if (!(await o.reached(at, CATCH_UP_MS))) throw new Error('The cache did not catch up with the store in time');
  const wanted = claimantsByClaim(indexes);
  const twice = tellTwice(wanted, o.log);
  const written = await writeMissing(o, wanted, claims, signal);
  const removed = await removeOrphans(o, wanted, claims, signal);
  if (written + removed > 0) o.log.info('Claims of addresses and ports were repaired', { written, removed });
  return { written, removed, twice };
}

async function storedClaims(
  { store, claimKey }: ClaimRepairOptions,
  signal: AbortSignal,
): Promise<{ readonly claims: ReadonlyMap<string, KeyValue>; readonly at: number }> {
  const prefix = claimKey('');
  const claims = new Map<string, KeyValue>();
  const size = new PageSize(PAGE);
  let from = prefix;
  for (;;) {
    // Pages of different revisions do no harm: what has changed meanwhile fails its transaction.
    const page = await store.range(prefix, { limit: size.entries, from }, signal);
    size.learn(page.kvs);
    for (const kv of page.kvs) claims.set(kv.key.slice(prefix.length), kv);
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return { claims, at: page.revision };
    from = `${last.key}\0`;
  }
}

function claimantsByClaim(indexes: readonly ClaimIndex[]): Map<string, Claimant[]> {
  const wanted = new Map<string, Claimant[]>();
  for (const index of indexes) {
    index.catchUp();
    for (const claimant of index.claimants()) {
      for (const claim of claimant.claims) {
        const others = wanted.get(claim);
        if (others === undefined) wanted.set(claim, [claimant]);
        else others.push(claimant);
      }
    }
  }
  return wanted;
}

function tellTwice(wanted: ReadonlyMap<string, readonly Claimant[]>, log: Pick<Log, 'warn'>): number {
  let twice = 0;
  for (const [claim, claimants] of wanted) {
    if (claimants.length < 2) continue;
    twice++;
    log.warn('More than one object has the same address or port', { claim, objects: claimants.map(({ key }) => key) });
  }
  return twice;
}

async function writeMissing(
  { store, claimKey }: ClaimRepairOptions,
  wanted: ReadonlyMap<string, readonly Claimant[]>,
  claims: ReadonlyMap<string, KeyValue>,
  signal: AbortSignal,
): Promise<number> {
  return countOf(wanted, async ([claim, claimants]) => {
    const found = claims.get(claim);
    const holder = found?.value.toString();
    const [first] = claimants;
    if (first === undefined || claimants.some(({ key }) => key === holder)) return false;
    const key = claimKey(claim);
    const seen = { key: first.key, modRevision: revision(first.revision) };
    const conditions = [seen, { key, modRevision: found?.modRevision ?? NO_REVISION }];
    const operations = [{ type: 'put', key, value: Buffer.from(first.key) }] as const;
    return (await store.transact({ conditions, operations }, signal)).succeeded;
  });
}

/** Whoever takes a claim writes it, even one that names him already: one that is as it was seen is still nobody's. */
async function removeOrphans(
  { store }: ClaimRepairOptions,
  wanted: ReadonlyMap<string, readonly Claimant[]>,
  claims: ReadonlyMap<string, KeyValue>,
  signal: AbortSignal,
): Promise<number> {
  return countOf(claims, async ([claim, { key, modRevision }]) => {
    if (wanted.has(claim)) return false;
    const operations = [{ type: 'delete', key }] as const;
    return (await store.transact({ conditions: [{ key, modRevision }], operations }, signal)).succeeded;
  });
}

/** Does something for each, several at a time. @returns For how many it was done. */
async function countOf<T>(items: Iterable<T>, act: (item: T) => Promise<boolean>): Promise<number> {
  let count = 0;
  const left = [...items].values();
  const worker = async (): Promise<void> => {
    for (const item of left) if (await act(item)) count++;
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  return count;
}
