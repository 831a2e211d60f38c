import type { ApiObject } from '../../machinery/meta/object.js';
import { StatusError } from '../../machinery/meta/status.js';
import {
  NO_REVISION,
  revision,
  type KeyValue,
  type KeyValueStore,
  type Transaction,
  type TransactionResult,
} from '../../storage/store.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { KeyLocks } from './key-locks.js';
import { keyOf, type StoredResource, storedBytes } from './resources.js';

interface Beside {
  readonly stored: StoredResource;
  readonly namespace: string;
  readonly name: string;
}

/** An object that changes in one transaction with the one that is written: both or neither. */
export interface ChangingCompanion extends Beside {
  /**
   * Its next state. Called again with the newer state after a lost race.
   *
   * @param current A copy that it may change; undefined when the object is gone.
   * @returns undefined when it stays as it is
   * @throws {StatusError} to refuse the write
   */
  next(current: ApiObject | undefined): ApiObject | undefined;
}

/** An object that stays as it is until the other one is written. Writes do not take turns for it. */
export interface SteadyCompanion extends Beside {
  /**
   * Looks whether it allows the write. Called again with the newer state after a lost race.
   *
   * @param current undefined when the object is gone. @throws {StatusError} to refuse the write
   */
  check(current: CachedObject | undefined): void;
}

export type Companion = ChangingCompanion | SteadyCompanion;

/** Other servers change the same companion: of two that do so all the time, each wins about every second race. */
const MAX_RACES = 64;

/** A companion and its state as last seen. */
interface Place {
  readonly companion: Companion;
  readonly key: string;
  readonly current: CachedObject | undefined;
  /** The store said so; what a cache says may be outdated. */
  readonly isCertain: boolean;
}

/** A companion's next state; undefined: it has to stay in the present one. */
interface Step {
  readonly place: Place;
  readonly value: Buffer | undefined;
}

/**
 * Transactions that take companions along. Those of one process that change the same companion take turns, so that they
 * do not lose races against each other. Locks are taken in the order of keys, and a holder of one waits for nothing
 * but the store: there is no deadlock.
 */
export class CompanionTransactions {
  readonly #store: KeyValueStore;
  readonly #locks: KeyLocks;

  constructor(store: KeyValueStore, locks: KeyLocks) {
    this.#store = store;
    this.#locks = locks;
  }

  /** A store whose transactions change `companions` too, or hold them to their state. Refusals of companions are thrown by `transact`. */
  along(companions: readonly Companion[]): Pick<KeyValueStore, 'transact'> {
    return {
      transact: (transaction, signal) => this.#locked(companions, (at) => this.#transact(transaction, at, signal)),
    };
  }

  /** Whether the companions would let a write pass. Writes nothing. @throws {StatusError} */
  async rehearse(companions: readonly Companion[], signal: AbortSignal): Promise<void> {
    await this.#steps(companions.map(placeOf), signal);
  }

  #locked<T>(companions: readonly Companion[], work: (at: readonly Place[]) => Promise<T>): Promise<T> {
    const inOrder = [...companions].sort((a, b) => (keyFor(a) < keyFor(b) ? -1 : 1));
    const run = inOrder.filter(changes).reduceRight<() => Promise<T>>(
      (inner, companion) => () => this.#locks.run(keyFor(companion), inner),
      () => work(inOrder.map(placeOf)),
    );
    return run();
  }

  async #transact(own: Transaction, first: readonly Place[], signal: AbortSignal): Promise<TransactionResult> {
    const asked = own.otherwiseGet ?? [];
    let places = first;
    for (let race = 0; race < MAX_RACES; race++) {
      const { steps, now } = await this.#steps(places, signal);
      const result = await this.#store.transact(joined(own, steps), signal);
      if (result.succeeded) {
        for (const { place, value } of steps) expectWritten(place, value, result.revision);
        return result;
      }
      const found = { ...result, found: result.found.slice(0, asked.length) };
      if (lost(own, found)) return found;
      const seen = new Map(steps.map(({ place }, i) => [place.key, result.found[asked.length + i]]));
      places = now.map((place) => (seen.has(place.key) ? certain(place, seen.get(place.key)) : place));
    }
    throw new StatusError('ServiceUnavailable', 'What changes along with the object is changing too fast; try again', {
      details: { retryAfterSeconds: 1 },
    });
  }

  /** A refusal counts only when it was made from the store's own word. */
  async #steps(
    places: readonly Place[],
    signal: AbortSignal,
  ): Promise<{ readonly steps: readonly Step[]; readonly now: readonly Place[] }> {
    try {
      return { steps: await stepsOf(places), now: places };
    } catch (err) {
      if (places.every(({ isCertain }) => isCertain)) throw err;
      const now = await Promise.all(places.map((place) => this.#certain(place, signal)));
      return { steps: await stepsOf(now), now };
    }
  }

  async #certain(place: Place, signal: AbortSignal): Promise<Place> {
    const { kv } = await this.#store.get(place.key, {}, signal);
    return certain(place, kv);
  }
}

/** A place as the store has it. */
function certain(place: Place, kv: KeyValue | undefined): Place {
  const { cache } = place.companion.stored;
  const current = kv === undefined ? undefined : cache.decode(kv.key, kv.value, kv.modRevision, kv);
  return { ...place, current, isCertain: true };
}

const keyFor = ({ stored, namespace, name }: Companion): string => keyOf(stored, namespace, name);

function placeOf(companion: Companion): Place {
  const key = keyFor(companion);
  return { companion, key, current: companion.stored.cache.newest(key), isCertain: false };
}

const changes = (companion: Companion): companion is ChangingCompanion => 'next' in companion;

/** Of those that change, or must not. @throws {StatusError} */
async function stepsOf(places: readonly Place[]): Promise<Step[]> {
  const steps: Step[] = [];
  for (const place of places) {
    const { companion, current } = place;
    if (changes(companion)) {
      const next = companion.next(current?.parse() as ApiObject | undefined); // we encoded it
      if (next !== undefined) steps.push({ place, value: await storedBytes(next) });
    } else {
      companion.check(current);
      steps.push({ place, value: undefined });
    }
  }
  return steps;
}

const joined = (own: Transaction, steps: readonly Step[]): Transaction => ({
  conditions: [
    ...own.conditions,
    ...steps.map(({ place: { key, current } }) => ({
      key,
      modRevision: current === undefined ? NO_REVISION : revision(current.revision),
    })),
  ],
  operations: [
    ...own.operations,
    ...steps.flatMap(({ place: { key }, value }) =>
      value === undefined ? [] : [{ type: 'put', key, value } as const],
    ),
  ],
  otherwiseGet: [...(own.otherwiseGet ?? []), ...steps.map(({ place: { key } }) => key)],
});

type Lost = TransactionResult & { readonly succeeded: false };

/** Whether one of the transaction's own conditions did not hold. */
function lost({ conditions, otherwiseGet = [] }: Transaction, { found }: Lost): boolean {
  const at = new Map(otherwiseGet.map((key, i) => [key, found[i]?.modRevision ?? NO_REVISION]));
  return conditions.some(({ key, modRevision }) => at.has(key) && at.get(key) !== modRevision);
}

function expectWritten({ key, companion: { stored } }: Place, value: Buffer | undefined, at: number): void {
  if (value === undefined) return;
  const object = stored.cache.decode(key, value, at);
  if (object !== undefined) stored.cache.expect(object);
}
