import { later, type Later } from './later.js';

export interface GenerationLimits {
  /** Most bytes of one generation; two are kept. */
  readonly maxBytes: number;
  /** A generation becomes the old one after that long, also when it is not full. */
  readonly turnMs: number;
}

interface Turning {
  turn(): void;
}

/** The bound of what several `Generations` keep together: when it is reached, all of them forget what is old. */
export class GenerationBudget {
  readonly #limits: GenerationLimits;
  readonly #now: () => number;
  readonly #later: Later;
  /** Weak: kinds come and go, and with them what is kept of their objects. */
  readonly #members = new Set<WeakRef<Turning>>();
  /** Of the young generation. */
  #bytes = 0;
  #begunMs: number;
  #waiting = false;

  /** @param o.now Milliseconds on a clock that only goes forward. */
  constructor(limits: GenerationLimits, o: { readonly now?: () => number; readonly later?: Later } = {}) {
    this.#limits = limits;
    this.#now = o.now ?? ((): number => performance.now());
    this.#later = o.later ?? later;
    this.#begunMs = this.#now();
  }

  /** `member` turns whenever the young generation becomes the old one, for as long as it lives. */
  join(member: Turning): void {
    this.#members.add(new WeakRef(member));
  }

  take(bytes: number): void {
    if (this.#bytes + bytes > this.#limits.maxBytes) this.#turn();
    this.#bytes += bytes;
    this.#await(this.#begunMs + this.#limits.turnMs - this.#now());
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }

  #turn(): void {
    for (const member of this.#members) {
      const living = member.deref();
      if (living === undefined) this.#members.delete(member);
      else living.turn();
    }
    this.#bytes = 0;
    this.#begunMs = this.#now();
  }

  #await(ms: number): void {
    if (this.#waiting) return;
    this.#waiting = true;
    this.#later(() => this.#onTime(), Math.max(0, ms));
  }

  #onTime(): void {
    this.#waiting = false;
    const left = this.#begunMs + this.#limits.turnMs - this.#now();
    if (left > 0) {
      this.#await(left);
      return;
    }
    const oneMore = this.#bytes > 0; // values that are young now have to go, too, if they are not asked for
    this.#turn();
    if (oneMore) this.#await(this.#limits.turnMs);
  }
}

/**
 * Values made of objects, kept for as long as the objects are, at most. When the budget turns, the young ones become
 * the old ones, and those that were not asked for since the turn before are forgotten.
 */
export class Generations<K extends object, V> {
  readonly #budget: GenerationBudget;
  readonly #bytesOf: (value: V) => number;
  #young = new WeakMap<K, V>();
  #old = new WeakMap<K, V>();

  constructor(bytesOf: (value: V) => number, budget: GenerationBudget) {
    this.#budget = budget;
    this.#bytesOf = bytesOf;
    budget.join(this);
  }

  /** For the budget: what is young becomes old, and what was old is forgotten. */
  turn(): void {
    this.#old = this.#young;
    this.#young = new WeakMap<K, V>();
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    this.#budget.take(this.#bytesOf(value)); // before it is put in: that may be a turn
    const before = this.#young.get(key);
    if (before !== undefined) this.#budget.give(this.#bytesOf(before));
    this.#young.set(key, value);
  }

  delete(key: K): void {
    const young = this.#young.get(key);
    if (young !== undefined) this.#budget.give(this.#bytesOf(young));
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
