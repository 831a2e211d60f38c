import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../../machinery/loop/backoff.js';
import { LIVING_SERVERS, RECORDS } from '../../storage/layout.js';
import {
  NO_REVISION,
  isStoreError,
  type Condition,
  type KeyValueStore,
  type Operation,
  type Revision,
} from '../../storage/store.js';
import { CommandError } from '../failure.js';

/** What a restore has to do next. It is done from its beginning when a restore goes on: every step may be done twice. */
export type Phase = 'emptying' | 'raising' | 'filling';

/** The record that stands in a store while it is restored. */
interface Marker {
  /** The digest of the backup. */
  readonly backup: string;
  readonly phase: Phase;
  /** Who is at it: another one takes over with a name of its own. */
  readonly run: string;
}

export interface ClaimOptions {
  readonly store: KeyValueStore;
  readonly prefix: string;
  /** The digest of the backup. */
  readonly backup: string;
  /** Whether what is there may go. */
  readonly force: boolean;
}

const ATTEMPTS = 10;
const RETRY = { leastMs: 100, mostMs: 3000 };

/**
 * The right to write below a prefix, as long as the marker is the one that this restore put there. While it stands no server
 * starts on the store, no backup is made of it, and no other backup is restored into it.
 */
export class Claim {
  readonly #o: ClaimOptions;
  readonly #run = randomUUID();
  readonly #key: string;
  #phase: Phase;
  #modRevision: Revision = NO_REVISION;

  private constructor(o: ClaimOptions, phase: Phase) {
    this.#o = o;
    this.#key = o.prefix + RECORDS.restore;
    this.#phase = phase;
  }

  /** @throws {CommandError} something is there, or another backup is half restored */
  static async take(o: ClaimOptions, signal: AbortSignal): Promise<Claim> {
    await assertUnused(o, signal);
    const { kv } = await o.store.get(o.prefix + RECORDS.restore, {}, signal);
    if (kv !== undefined) {
      const { backup, phase } = JSON.parse(kv.value.toString()) as Marker;
      if (backup !== o.backup && !o.force) throw halfRestored(o.prefix, backup);
      const claim = new Claim(o, backup === o.backup ? phase : 'emptying');
      await claim.#mark([{ key: kv.key, modRevision: kv.modRevision }], [], signal);
      return claim;
    }
    const claim = new Claim(o, o.force ? 'emptying' : 'raising');
    await claim.#assertEmpty(0, signal);
    await claim.#beginNew(signal);
    await claim.#assertEmpty(1, signal);
    return claim;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Goes on to the next phase. */
  async enter(phase: Phase, signal: AbortSignal): Promise<void> {
    this.#phase = phase;
    await this.#mark(this.#condition(), [], signal);
  }

  /** Writes while the claim holds. May be done twice, so what is lost on the way is sent again. @throws {CommandError} it does not hold */
  async write(operations: readonly Operation[], signal: AbortSignal): Promise<void> {
    const t = { conditions: this.#condition(), operations };
    const { succeeded } = await patiently(() => this.#o.store.transact(t, signal), signal);
    if (!succeeded) throw new CommandError('Another restore has taken over');
  }

  /** The last write, and the end of the claim, in one. */
  async finish(operations: readonly Operation[], signal: AbortSignal): Promise<void> {
    const t = {
      conditions: this.#condition(),
      operations: [...operations, { type: 'delete', key: this.#key }] as const,
      otherwiseGet: [this.#key],
    };
    const result = await patiently(() => this.#o.store.transact(t, signal), signal);
    // When it is no more, an answer was lost and the write was not.
    if (!result.succeeded && result.found[0] !== undefined) throw new CommandError('Another restore has taken over');
  }

  #condition(): readonly Condition[] {
    return [{ key: this.#key, modRevision: this.#modRevision }];
  }

  /** On a store that nobody is restoring: the vocabulary goes first, so that no server starts from here on. */
  async #beginNew(signal: AbortSignal): Promise<void> {
    const vocabulary = this.#o.prefix + RECORDS.vocabulary;
    const { kv } = await this.#o.store.get(vocabulary, {}, signal);
    const conditions = [
      { key: this.#key, modRevision: NO_REVISION },
      { key: vocabulary, modRevision: kv?.modRevision ?? NO_REVISION },
    ];
    await this.#mark(conditions, kv === undefined ? [] : [{ type: 'delete', key: vocabulary }], signal);
  }

  /** Writes the marker. An answer that is lost is looked for in the store. */
  async #mark(conditions: readonly Condition[], operations: readonly Operation[], signal: AbortSignal): Promise<void> {
    const marker: Marker = { backup: this.#o.backup, phase: this.#phase, run: this.#run };
    const value = Buffer.from(JSON.stringify(marker));
    const put = { type: 'put', key: this.#key, value } as const;
    const t = { conditions, operations: [...operations, put], otherwiseGet: [this.#key] };
    const result = await patiently(() => this.#o.store.transact(t, signal), signal);
    const mine = result.succeeded ? undefined : result.found[0];
    if (!result.succeeded && mine?.value.equals(value) !== true) {
      throw new CommandError('Something else writes to the store: stop all servers and restores first');
    }
    this.#modRevision = mine?.modRevision ?? result.revision;
  }

  async #assertEmpty(marks: 0 | 1, signal: AbortSignal): Promise<void> {
    const { store, prefix, force } = this.#o;
    if (force) return;
    const { kvs } = await store.range(prefix, { limit: 2 }, signal);
    if (kvs.every(({ key }) => key === this.#key)) return;
    if (marks === 1) await this.finish([], signal);
    throw new CommandError(`There is something under ${prefix}: --force takes it away before it restores`);
  }
}

/** What is taken away under a server that lives, it would write again. */
async function assertUnused({ store, prefix }: ClaimOptions, signal: AbortSignal): Promise<void> {
  const { count = 0 } = await store.range(prefix + LIVING_SERVERS, {}, signal);
  if (count === 0) return;
  throw new CommandError(`${count} API servers use the store: stop them, and wait 15 s for those that were killed`);
}

const halfRestored = (prefix: string, backup: string): CommandError =>
  new CommandError(
    `What lies under ${prefix} is half restored from another backup (${backup}): restore that one, or use --force`,
  );

/** Repeats what is no harm to do twice while the store does not answer. */
export async function patiently<T>(act: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (err) {
      if (!isStoreError(err, 'unavailable') || attempt === ATTEMPTS) throw err;
      await sleep(backoffMs(attempt, RETRY), undefined, { signal });
    }
  }
}
