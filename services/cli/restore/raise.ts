import { inParallel } from '../../machinery/loop/in-parallel.js';
import { INTERNAL } from '../../storage/layout.js';
import { isStoreError, revision, type KeyValueStore, type Revision } from '../../storage/store.js';
import { CommandError } from '../failure.js';
import { patiently, type Claim } from './claim.js';

/** A store whose revisions go on above some number from now on. */
export interface RaiseOptions {
  readonly store: KeyValueStore & { readonly skipTo?: (at: Revision) => void };
  readonly claim: Claim;
  readonly prefix: string;
  /** The least that the head has to be. */
  readonly least: number;
  readonly report: (line: string) => void;
}

/** Between two compactions: what such writes leave in the store is bounded. */
const STEP = 50_000;
const AT_ONCE = 64;
/** More take too long: some thousands a second are usual. */
const MOST_WRITES = 10_000_000;

/** The key that is written again and again where a store has no other means. */
export const raisingKey = (prefix: string): string => `${prefix}${INTERNAL}revisions`;

/**
 * Raises the head to `least`. The embedded store skips revisions; etcd counts its writes, so as many are made.
 * @throws {CommandError} that would be too many
 */
export async function raiseRevisions(o: RaiseOptions, signal: AbortSignal): Promise<void> {
  const { store, least } = o;
  if (store.skipTo !== undefined) {
    store.skipTo(revision(least));
    return;
  }
  let head = await store.head(signal);
  if (least - head > MOST_WRITES) throw tooMany(head, least);
  while (head < least) {
    o.report(`Raising revisions by writes: ${head} of ${least}`);
    await writeOften(o, Math.min(STEP, least - head), signal);
    head = await store.head(signal);
    await compactUpTo(store, head, signal);
  }
}

async function writeOften({ claim, prefix }: RaiseOptions, count: number, signal: AbortSignal): Promise<void> {
  const put = { type: 'put', key: raisingKey(prefix), value: Buffer.alloc(0) } as const;
  const share = Math.ceil(count / AT_ONCE);
  const shares = Array.from({ length: AT_ONCE }, (_, i) => Math.max(0, Math.min(share, count - i * share)));
  await inParallel(shares, AT_ONCE, async (writes) => {
    for (let i = 0; i < writes; i++) await claim.write([put], signal);
  });
}

/** Watches from there or below begin anew. */
export async function compactUpTo(store: KeyValueStore, at: Revision, signal: AbortSignal): Promise<void> {
  try {
    await patiently(() => store.compact(at, signal), signal);
  } catch (err) {
    if (!isStoreError(err, 'compacted')) throw err;
  }
}

const tooMany = (head: Revision, least: number): CommandError =>
  new CommandError(
    `The store is at revision ${head} and has to come to ${least}: that is too far for writes. Begin with an etcd that ` +
      `"etcdutl snapshot restore --bump-revision=${least} --mark-compacted" made, or give a smaller --bump-revisions`,
  );
