import { StatusError } from '../../../machinery/meta/status.js';
import {
  NO_REVISION,
  type Condition,
  type KeyValue,
  type KeyValueStore,
  type Operation,
  type Revision,
  type TransactionResult,
} from '../../../storage/store.js';
import { AlreadyAllocated, MAX_ALLOCATION_CHANGES, type AllocationChanges } from './allocations.js';

/** The write of an object, with the changes of its allocations. */
export interface AllocatingWrite {
  /** The object's. */
  readonly key: string;
  readonly modRevision: Revision;
  readonly operation: Operation;
  readonly changes: AllocationChanges;
  readonly allocationKey: (allocation: string) => string;
}

/** One allocation in a transaction: its key as it is assumed to be, and whether it is taken or released. */
interface Step {
  readonly allocation: string;
  readonly key: string;
  readonly take: boolean;
  readonly modRevision: Revision;
  /** Whether there is an operation: the allocation of another object is not deleted. */
  readonly acts: boolean;
}

/** Rounds of one write. The first one reads the allocations when the guess about them was wrong. */
const MAX_ROUNDS = 4;

/**
 * Writes an object and its allocations, or nothing.
 *
 * A new allocation is guessed to be free, and a released one to have been written with the object's last state. A wrong guess
 * fails the transaction, which brings the present state for the next round. An allocation that names this very object is
 * its own.
 *
 * @returns As the store does; `found` has the object, when it was not at `modRevision`.
 * @throws {AlreadyAllocated} @throws {StoreError}
 */
export async function transactAllocating(
  store: Pick<KeyValueStore, 'transact'>,
  w: AllocatingWrite,
  signal: AbortSignal,
): Promise<TransactionResult> {
  refuseTooMany(w.changes);
  let steps = guesses(w);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = await store.transact(transactionOf(w, steps), signal);
    if (result.succeeded) return result;
    const [object, ...found] = result.found;
    if ((object?.modRevision ?? NO_REVISION) !== w.modRevision) return { ...result, found: [object] };
    steps = steps.map((step, i) => corrected(step, found[i], w.key));
  }
  throw new StatusError('ServiceUnavailable', 'The addresses and ports of the object change too fast; try again', {
    details: { retryAfterSeconds: 1 },
  });
}

/** Checks, without writing, that what a write takes is free or its own. @throws {AlreadyAllocated} @throws {StoreError} */
export async function rehearseAllocations(
  store: KeyValueStore,
  { key, changes, allocationKey }: Pick<AllocatingWrite, 'key' | 'changes' | 'allocationKey'>,
  signal: AbortSignal,
): Promise<void> {
  refuseTooMany(changes);
  if (changes.taken.length === 0) return;
  const steps = changes.taken.map((allocation) => free(allocation, allocationKey));
  const keys = steps.map((step) => step.key);
  const result = await store.transact({ conditions: steps.map(condition), operations: [], otherwiseGet: keys }, signal);
  if (!result.succeeded) for (const [i, step] of steps.entries()) corrected(step, result.found[i], key);
}

function refuseTooMany({ taken, released }: AllocationChanges): void {
  if (taken.length + released.length <= MAX_ALLOCATION_CHANGES) return;
  throw new StatusError(
    'RequestEntityTooLarge',
    `The write takes and releases ${taken.length + released.length} addresses and ports at once, and the most is ${MAX_ALLOCATION_CHANGES}: do it in steps`,
  );
}

const free = (allocation: string, allocationKey: (allocation: string) => string): Step => ({
  allocation,
  key: allocationKey(allocation),
  take: true,
  modRevision: NO_REVISION,
  acts: true,
});

const guesses = ({ changes, allocationKey, modRevision }: AllocatingWrite): Step[] => [
  ...changes.taken.map((allocation) => free(allocation, allocationKey)),
  ...changes.released.map((allocation) => ({
    allocation,
    key: allocationKey(allocation),
    take: false,
    modRevision,
    acts: true,
  })),
];

/** @throws {AlreadyAllocated} */
function corrected(step: Step, found: KeyValue | undefined, key: string): Step {
  const holder = found?.value.toString();
  if (step.take && found !== undefined && holder !== key) throw new AlreadyAllocated(step.allocation, holder ?? '');
  return { ...step, modRevision: found?.modRevision ?? NO_REVISION, acts: step.take || holder === key };
}

const condition = ({ key, modRevision }: Step): Condition => ({ key, modRevision });

function transactionOf(
  { key, modRevision, operation }: AllocatingWrite,
  steps: readonly Step[],
): Parameters<KeyValueStore['transact']>[0] {
  const holder = Buffer.from(key);
  const operations = steps.flatMap((step): Operation[] => {
    if (!step.acts) return [];
    return [step.take ? { type: 'put', key: step.key, value: holder } : { type: 'delete', key: step.key }];
  });
  return {
    conditions: [{ key, modRevision }, ...steps.map(condition)],
    operations: [operation, ...operations],
    otherwiseGet: [key, ...steps.map((step) => step.key)],
  };
}
