/** How late a deadline may be noticed. */
const TICK_MS = 50;
const SLOTS = 256;

/** Something that waits until a point in time at the longest. */
export interface Waiting {
  expire(): void;
}

interface Entry {
  readonly waiting: Waiting;
  readonly dueTick: number;
}

export type DeadlineEntry = Entry;

/**
 * Deadlines of many short calls on one timer: a wheel with a slot for every 50 ms, in which an entry costs no more than
 * its place in a set. The timer runs only while a call waits. What has arrived is read before it is looked at: after a
 * long stop of the process the answers that lie there already count.
 */
export class Deadlines {
  readonly #slots: Set<Entry>[] = Array.from({ length: SLOTS }, () => new Set<Entry>());
  #count = 0;
  #tick = 0;
  #timer: NodeJS.Timeout | undefined;

  add(waiting: Waiting, ms: number): DeadlineEntry {
    const now = tickNow();
    if (this.#count === 0) this.#tick = now;
    const entry = { waiting, dueTick: now + Math.ceil(ms / TICK_MS) + 1 };
    this.#slotOf(entry.dueTick).add(entry);
    this.#count++;
    this.#timer ??= setInterval(() => setImmediate(() => this.#advance()), TICK_MS);
    return entry;
  }

  remove(entry: DeadlineEntry): void {
    if (!this.#slotOf(entry.dueTick).delete(entry)) return;
    this.#count--;
  }

  #slotOf(tick: number): Set<Entry> {
    return this.#slots[tick % SLOTS] as Set<Entry>; // there is one for every remainder
  }

  #advance(): void {
    if (this.#count === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = tickNow();
    // After a long stop of the process one round over all slots is enough.
    const first = Math.max(this.#tick + 1, now - SLOTS + 1);
    for (let tick = first; tick <= now; tick++) this.#expire(this.#slotOf(tick), now);
    this.#tick = now;
  }

  #expire(slot: Set<Entry>, now: number): void {
    for (const entry of [...slot]) {
      if (entry.dueTick > now || !slot.delete(entry)) continue;
      this.#count--;
      entry.waiting.expire();
    }
  }
}

const tickNow = (): number => Math.floor(performance.now() / TICK_MS);
