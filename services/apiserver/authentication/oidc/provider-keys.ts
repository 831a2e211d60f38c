import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../../../machinery/loop/backoff.js';
import type { KeySet } from './key-set.js';
import type { FetchedKeys } from './provider.js';

export interface ProviderKeysDeps {
  /** Bounded in time. @throws {Error} In one line. */
  readonly fetchKeys: (signal: AbortSignal) => Promise<FetchedKeys>;
  readonly log: {
    info(message: string, keys?: object): void;
    warn(message: string, keys?: object): void;
  };
  /** Ends all questions. */
  readonly signal: AbortSignal;
  /** Milliseconds since some time. */
  readonly nowMs?: () => number;
  /** Ends early when the signal fires, well or not. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const pauseFor = (ms: number, signal: AbortSignal): Promise<unknown> => sleep(ms, undefined, { signal, ref: false });

/** The pause after a failure, doubled for each further one. */
const BACKOFF = { leastMs: 1_000, mostMs: 30_000 };
/** Between questions for tokens that no known key has signed: made up tokens do not make this server ask more often. */
const LEAST_BETWEEN_MS = 10_000;
/** How long keys are kept: as the provider says, within these bounds, or the usual time. */
const KEPT_MS = { least: 60_000, usual: 10 * 60_000, most: 24 * 60 * 60_000 };
/** Most tokens that wait for newer keys. */
const MAX_WAITING = 1_000;

/**
 * The keys of a provider, which follow it. Those that were read last are good until there are newer ones, however long
 * that takes: a provider that is away revokes nothing.
 */
export class ProviderKeys {
  readonly #d: ProviderKeysDeps;
  readonly #nowMs: () => number;
  #current: KeySet | undefined;
  #fetching: Promise<boolean> | undefined;
  #askedAtMs = -Infinity;
  #keptMs = KEPT_MS.usual;
  #failures = 0;
  #waiting = 0;

  constructor(d: ProviderKeysDeps) {
    this.#d = d;
    this.#nowMs = d.nowMs ?? ((): number => performance.now());
  }

  /** The same object as long as the keys are the same. undefined: they have not been read yet. */
  get current(): KeySet | undefined {
    return this.#current;
  }

  /** Reads the keys, and again when they are too old or could not be read, until the signal fires. */
  async run(): Promise<void> {
    const { signal, pause = pauseFor } = this.#d;
    while (!signal.aborted) {
      const isRead = await (this.#fetching ?? this.#fetch());
      const ms = isRead ? this.#keptMs : backoffMs(this.#failures - 1, BACKOFF);
      await pause(ms, signal).catch(() => undefined);
    }
  }

  /**
   * Reads the keys anew, for a token that none of the current ones has signed. All who come meanwhile share it.
   *
   * @returns Whether the current ones are newer than the call. They may be without it: the question may have been under
   * way before. Nothing is asked when the last question is too young, or too many wait.
   */
  async renew(): Promise<boolean> {
    const shared = this.#fetching;
    const mayAsk = shared !== undefined || this.#nowMs() - this.#askedAtMs >= LEAST_BETWEEN_MS;
    if (!mayAsk || this.#waiting >= MAX_WAITING) return false;
    this.#waiting++;
    try {
      return (await (shared ?? this.#fetch())) && shared === undefined;
    } finally {
      this.#waiting--;
    }
  }

  #fetch(): Promise<boolean> {
    this.#askedAtMs = this.#nowMs();
    return (this.#fetching = this.#read().finally(() => (this.#fetching = undefined)));
  }

  async #read(): Promise<boolean> {
    const { fetchKeys, log, signal } = this.#d;
    try {
      const { keys, unusable, maxAgeMs = KEPT_MS.usual } = await fetchKeys(signal);
      this.#failures = 0;
      this.#keptMs = Math.min(Math.max(maxAgeMs, KEPT_MS.least), KEPT_MS.most);
      if (!keys.equals(this.#current)) {
        this.#current = keys;
        log.info('Keys of the OpenID provider read', { keys: keys.keys.length });
        if (unusable.length > 0) log.warn('Keys of the OpenID provider cannot be used', { unusable });
      }
      return true;
    } catch (err) {
      this.#failures++;
      if (!signal.aborted) log.warn('Keys of the OpenID provider cannot be read', { err, failures: this.#failures });
      return false;
    }
  }
}
