import { setTimeout as sleep } from 'node:timers/promises';
import type { Feed } from '../cache/feed.js';
import type { Log } from '../../machinery/log/log.js';
import type { Member, Members } from './members.js';
import type { Publisher } from './publish.js';

export interface PlatformEndpointsDeps {
  readonly self: Member;
  readonly members: Members;
  readonly publisher: Publisher;
  /** Prefix of all keys of members. */
  readonly membersPrefix: string;
  readonly log: Pick<Log, 'warn'>;
}

/** A third of the time after which a silent server is taken for dead. */
const EVERY_MS = 5_000;
/** Changes mostly come together. */
const GATHER_MS = 50;
/** Longest that a stop waits for the store to take this server out. */
const LEAVE_MS = 2_000;

/**
 * Keeps this server among the living ones, and the service that leads to them up to date. Every server does it for all:
 * the state comes from the store, so the order of servers does not matter, and there is no leader.
 */
export class PlatformEndpoints {
  readonly #d: PlatformEndpointsDeps;
  #wake: (() => void) | undefined;
  #changed = false;
  #left = false;
  #failure = '';
  #round: Promise<void> = Promise.resolve();

  constructor(d: PlatformEndpointsDeps) {
    this.#d = d;
  }

  /** Puts an object that was changed or deleted right soon. */
  follow(feed: Pick<Feed, 'listen'>): void {
    const { membersPrefix, publisher } = this.#d;
    const onChange = (): void => {
      this.#changed = true;
      this.#wake?.();
    };
    feed.listen(membersPrefix, onChange);
    for (const prefix of publisher.prefixes) {
      feed.listen(prefix, ({ key }) => {
        if (publisher.keeps(key)) onChange();
      });
    }
  }

  /** Never throws; what fails is tried again. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#left) {
      this.#round = this.#goRound(signal);
      await this.#round;
      await this.#pause(signal);
    }
  }

  /** Takes this server out, at once and for good. Never throws, and takes 2 s at most. */
  async leave(): Promise<void> {
    this.#left = true;
    this.#wake?.();
    const tooLate = AbortSignal.timeout(LEAVE_MS);
    try {
      await Promise.race([this.#leaveWithin(tooLate), sleep(LEAVE_MS, undefined, { ref: false })]);
    } catch (err) {
      this.#d.log.warn('This server could not be taken out of the endpoints; they drop it soon', { err });
    }
  }

  async #leaveWithin(signal: AbortSignal): Promise<void> {
    const { members, publisher } = this.#d;
    await this.#round; // it may be about to join
    await members.leave(signal);
    const others = await members.list(signal);
    // The last one leaves its address: no address would be no better, and the next server puts its own there.
    if (others.length > 0) await publisher.publish(others);
  }

  async #goRound(signal: AbortSignal): Promise<void> {
    const { members, self, publisher, log } = this.#d;
    this.#changed = false;
    try {
      await members.join(self, signal);
      const living = await members.list(signal);
      if (this.#left) return;
      if (!living.some(({ address, port }) => address === self.address && port === self.port)) members.forget();
      else await publisher.publish(living);
      await publisher.keepService(self.port);
      this.#failure = '';
    } catch (err) {
      if (signal.aborted) return;
      const failure = String(err);
      if (failure !== this.#failure)
        log.warn('The endpoints of the API servers could not be brought up to date', { err });
      this.#failure = failure;
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = (): void => woken.abort();
    if (!this.#changed && !this.#left) {
      const either = AbortSignal.any([signal, woken.signal]);
      await sleep(EVERY_MS, undefined, { signal: either }).catch(() => undefined);
    }
    this.#wake = undefined;
    if (!this.#left) await sleep(GATHER_MS, undefined, { signal }).catch(() => undefined);
  }
}
