import { StatusError } from '../../machinery/meta/status.js';
import {
  NO_REVISION,
  type Condition,
  type KeyValue,
  type KeyValueStore,
  type Operation,
  type Revision,
  type TransactionResult,
} from '../../storage/store.js';
import { ClaimTaken, MAX_CLAIM_CHANGES, type ClaimChanges } from './claims.js';

/** The write of an object with what changes hands by it. */
export interface ClaimingWrite {
  /** The object's. */
  readonly key: string;
  readonly modRevision: Revision;
  readonly operation: Operation;
  readonly changes: ClaimChanges;
  readonly claimKey: (claim: string) => string;
}

/** What a transaction takes for granted about one claim, and does about it. */
interface Step {
  readonly claim: string;
  readonly key: string;
  readonly take: boolean;
  readonly modRevision: Revision;
  /** Whether there is something to do: what another has is not ours to leave. */
  readonly acts: boolean;
}

/** Rounds of one write. The first finds out where the claims stand, when the guess about them was wrong. */
const MAX_ROUNDS = 4;

/**
 * Writes an object and its claims, or nothing.
 *
 * A claim that is new is guessed to be free, one that is left to have been written with the object's last state; mostly
 * both are so. A wrong guess fails the transaction, which tells what stands there, and the next round knows. A claim that
 * names this very object is its own, however it came about.
 *
 * @returns As the store does; `found` has the object, when it was not at `modRevision`.
 * @throws {ClaimTaken} @throws {StoreError}
 */
export async function transactClaiming(
  store: KeyValueStore,
  w: ClaimingWrite,
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
  throw new StatusError('ServiceUnavailable', 'What the object claims is changing too fast; try again', {
    details: { retryAfterSeconds: 1 },
  });
}

/** Looks whether a write would get what it claims. Writes nothing. @throws {ClaimTaken} @throws {StoreError} */
export async function rehearseClaims(
  store: KeyValueStore,
  { key, changes, claimKey }: Pick<ClaimingWrite, 'key' | 'changes' | 'claimKey'>,
  signal: AbortSignal,
): Promise<void> {
  refuseTooMany(changes);
  if (changes.taken.length === 0) return;
  const steps = changes.taken.map((claim) => free(claim, claimKey));
  const keys = steps.map((step) => step.key);
  const result = await store.transact({ conditions: steps.map(condition), operations: [], otherwiseGet: keys }, signal);
  if (!result.succeeded) for (const [i, step] of steps.entries()) corrected(step, result.found[i], key);
}

function refuseTooMany({ taken, left }: ClaimChanges): void {
  if (taken.length + left.length <= MAX_CLAIM_CHANGES) return;
  throw new StatusError(
    'RequestEntityTooLarge',
    `The write takes and leaves ${taken.length + left.length} addresses and ports at once, and the most is ${MAX_CLAIM_CHANGES}: do it in steps`,
  );
}

const free = (claim: string, claimKey: (claim: string) => string): Step => ({
  claim,
  key: claimKey(claim),
  take: true,
  modRevision: NO_REVISION,
  acts: true,
});

const guesses = ({ changes, claimKey, modRevision }: ClaimingWrite): Step[] => [
  ...changes.taken.map((claim) => free(claim, claimKey)),
  ...changes.left.map((claim) => ({ claim, key: claimKey(claim), take: false, modRevision, acts: true })),
];

/** @throws {ClaimTaken} */
function corrected(step: Step, found: KeyValue | undefined, key: string): Step {
  const holder = found?.value.toString();
  if (step.take && found !== undefined && holder !== key) throw new ClaimTaken(step.claim, holder ?? '');
  return { ...step, modRevision: found?.modRevision ?? NO_REVISION, acts: step.take || holder === key };
}

const condition = ({ key, modRevision }: Step): Condition => ({ key, modRevision });

function transactionOf(
  { key, modRevision, operation }: ClaimingWrite,
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
