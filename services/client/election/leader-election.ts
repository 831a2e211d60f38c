import { randomUUID } from 'node:crypto';
import { hostname, uptime } from 'node:os';
import type { Log } from '../../machinery/log/log.js';
import { hasFired, rest } from '../../machinery/loop/repeat.js';
import type { Lease } from '../../machinery/types/generated/coordination.v1.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { builtInTypes } from '../rest/built-in-types.js';
import { isApiError, type ApiClient, type ResourceClient } from '../rest/client.js';
import type { Live } from '../rest/resource-type.js';

export interface ElectionOptions {
  readonly client: Pick<ApiClient, 'resource'>;
  readonly vocabulary: Vocabulary;
  /** The Lease that candidates compete for. */
  readonly lease: { readonly namespace: string; readonly name: string };
  /** No other candidate has it. @default The host's name and a random part. */
  readonly identity?: string;
  /** How long others wait for a leader that does not renew. Whole seconds. */
  readonly leaseDurationMs: number;
  /** How long a leader that cannot renew goes on; less than `leaseDurationMs`, for what it has begun takes time to end. */
  readonly renewDeadlineMs: number;
  /** Between two tries to acquire, and two renewals. */
  readonly retryPeriodMs: number;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Told when this candidate begins and ceases to lead. */
  readonly changed?: (isLeader: boolean) => void;
  /** Milliseconds that only rise, also while the process is stopped or the machine sleeps. */
  readonly now?: () => number;
}

/** What a leader knows of its time. */
export interface Leadership {
  /** Fires when it is lost, or to be given back: work ends with it. The Lease is renewed until the work has ended. */
  readonly signal: AbortSignal;
  /** Fires when it is lost: what is under way ends at once. */
  readonly lost: AbortSignal;
  /**
   * Whether no other can have taken the Lease yet, by this process's own clock. False as soon as the time is over, also when a
   * process that was stopped wakes up and no timer has run yet: to be asked before each write.
   */
  readonly isHeld: () => boolean;
  /** How often the Lease has changed hands: rises with each leader, so that a store can tell an old one (a fencing token). */
  readonly transitions: number;
}

/**
 * Competes for a Lease, and works while it holds it (spec: `leases` of the group of coordination). Clocks of candidates are not
 * compared: a Lease is taken for abandoned when it was not seen to change for as long as its holder has said.
 *
 * @param work Has to end soon after its signal fires.
 * @returns Why it ended: `stopped`: `signal` fired, and the Lease was given back; `lost`: it could not be renewed.
 */
export async function lead(
  o: ElectionOptions,
  work: (leadership: Leadership) => Promise<void>,
  signal: AbortSignal,
): Promise<'stopped' | 'lost'> {
  const candidate = new Candidate(o);
  if (!(await candidate.acquire(signal))) return 'stopped';
  o.log.info('This process leads', { lease: o.lease.name, identity: candidate.identity });
  o.changed?.(true);
  const [lost, ended] = [new AbortController(), new AbortController()];
  const leadership: Leadership = {
    signal: AbortSignal.any([signal, lost.signal]),
    lost: lost.signal,
    isHeld: () => candidate.isHeld(),
    transitions: candidate.transitions,
  };
  const renewing = candidate.renew(ended.signal).finally(() => {
    if (!ended.signal.aborted) lost.abort();
  });
  try {
    await work(leadership);
  } finally {
    ended.abort();
    await renewing;
    o.changed?.(false);
    if (candidate.isHeld()) await candidate.release();
  }
  return lost.signal.aborted ? 'lost' : 'stopped';
}

/** When a state of the Lease was seen first. */
interface Observed {
  readonly resourceVersion: string;
  readonly at: number;
}

/** Longest that giving the Lease back may take. */
const RELEASE_MS = 2_000;

class Candidate {
  readonly identity: string;
  readonly #o: ElectionOptions;
  readonly #leases: ResourceClient<Lease>;
  readonly #now: () => number;
  #observed: Observed | undefined;
  /** As it was written last by this candidate. */
  #own: Live<Lease> | undefined;
  /** When the last renewal that succeeded was sent. */
  #renewedAt = -Infinity;

  constructor(o: ElectionOptions) {
    this.#o = o;
    this.identity = o.identity ?? `${hostname()}_${randomUUID()}`;
    this.#leases = o.client.resource(builtInTypes(o.vocabulary).leases);
    this.#now = o.now ?? ((): number => uptime() * 1000);
  }

  get transitions(): number {
    return this.#own?.spec?.leaseTransitions ?? 0;
  }

  get #endsAt(): number {
    return this.#renewedAt + this.#o.renewDeadlineMs;
  }

  isHeld(): boolean {
    return this.#own !== undefined && this.#now() < this.#endsAt;
  }

  /** @returns false when `signal` fired first. */
  async acquire(signal: AbortSignal): Promise<boolean> {
    let told = '';
    while (!hasFired(signal)) {
      try {
        if (await this.#tryToAcquire(signal)) return true;
        told = '';
      } catch (err) {
        if (hasFired(signal)) return false;
        const failure = String(err);
        if (failure !== told) this.#o.log.warn('The Lease of the leader cannot be read or taken yet', { err });
        told = failure;
      }
      await rest(this.#jittered(), signal);
    }
    return false;
  }

  /** Resolves when the Lease is lost, or `signal` fires. */
  async renew(signal: AbortSignal): Promise<void> {
    while (!hasFired(signal)) {
      await rest(Math.max(0, Math.min(this.#o.retryPeriodMs, this.#endsAt - this.#now())), signal);
      if (hasFired(signal)) return;
      if (!(await this.#tryToRenew(signal))) break;
    }
    if (!hasFired(signal)) this.#o.log.warn('This process leads no more', { lease: this.#o.lease.name });
  }

  /** Others need not wait. Never throws: they take it when its time is over. */
  async release(): Promise<void> {
    const own = this.#own;
    this.#own = undefined;
    if (own === undefined) return;
    const spec = { ...own.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime() };
    try {
      await this.#leases.update({ ...own, spec }, {}, AbortSignal.timeout(RELEASE_MS));
    } catch (err) {
      this.#o.log.warn('The Lease of the leader could not be given back', { err });
    }
  }

  async #tryToAcquire(signal: AbortSignal): Promise<boolean> {
    try {
      const present = await this.#read(signal);
      if (present !== undefined && !this.#isFree(present)) return false;
      const spec = this.#takenFrom(present);
      const taken = this.#now();
      this.#own =
        present === undefined
          ? await this.#leases.create({ metadata: { ...this.#o.lease }, spec }, {}, signal)
          : await this.#leases.update({ ...present, spec }, {}, signal);
      this.#renewedAt = taken;
      return this.isHeld();
    } catch (err) {
      if (isApiError(err, 'Conflict', 'AlreadyExists')) return false; // another candidate was quicker
      throw err;
    }
  }

  /** @returns Whether the Lease is held still. */
  async #tryToRenew(signal: AbortSignal): Promise<boolean> {
    const own = this.#own;
    if (own === undefined || !this.isHeld()) return false;
    const leftMs = this.#endsAt - this.#now();
    const within = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(leftMs))]);
    const sentAt = this.#now();
    try {
      this.#own = await this.#leases.update({ ...own, spec: { ...own.spec, renewTime: microTime() } }, {}, within);
      this.#renewedAt = sentAt;
    } catch (err) {
      if (hasFired(signal)) return true;
      if (isApiError(err, 'Conflict', 'NotFound')) return this.#isOursStill(within);
      this.#o.log.warn('The Lease of the leader could not be renewed', { err });
    }
    return this.isHeld();
  }

  /** After a conflict: a write of ours whose answer was lost looks like one of another. */
  async #isOursStill(signal: AbortSignal): Promise<boolean> {
    try {
      const present = await this.#read(signal);
      if (present?.spec?.holderIdentity !== this.identity) {
        this.#own = undefined;
        return false;
      }
      this.#own = present;
    } catch {
      // the next renewal tells
    }
    return this.isHeld();
  }

  async #read(signal: AbortSignal): Promise<Live<Lease> | undefined> {
    try {
      return await this.#leases.get(this.#o.lease, signal);
    } catch (err) {
      if (isApiError(err, 'NotFound')) return undefined;
      throw err;
    }
  }

  #isFree({ metadata: { resourceVersion }, spec = {} }: Live<Lease>): boolean {
    const now = this.#now();
    if (this.#observed?.resourceVersion !== resourceVersion) this.#observed = { resourceVersion, at: now };
    const { holderIdentity = '', leaseDurationSeconds } = spec;
    if (holderIdentity === '' || holderIdentity === this.identity) return true;
    const durationMs = leaseDurationSeconds === undefined ? this.#o.leaseDurationMs : leaseDurationSeconds * 1000;
    return now - this.#observed.at >= durationMs;
  }

  #takenFrom(present: Live<Lease> | undefined): NonNullable<Lease['spec']> {
    const time = microTime();
    const { holderIdentity, leaseTransitions = 0 } = present?.spec ?? {};
    const isAnother = present !== undefined && holderIdentity !== this.identity;
    return {
      holderIdentity: this.identity,
      leaseDurationSeconds: Math.ceil(this.#o.leaseDurationMs / 1000),
      acquireTime: time,
      renewTime: time,
      leaseTransitions: isAnother ? leaseTransitions + 1 : leaseTransitions,
    };
  }

  /** Candidates that began together do not ask together for ever. */
  #jittered(): number {
    return this.#o.retryPeriodMs * (1 + Math.random() * 0.2);
  }
}

/** As times of leases are written: microseconds. */
const microTime = (): string => new Date().toISOString().replace('Z', '000Z');
