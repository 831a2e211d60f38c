import type { CachedObject } from './cached-object.js';
import { later, type Later } from './later.js';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

const HEAD: Record<ChangeType, Buffer> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
const TAIL = Buffer.from('}\n');

/** One watch event's bytes in the storage version. */
export function encodeFrame(type: ChangeType, object: CachedObject): Buffer {
  const head = HEAD[type];
  const frame = Buffer.allocUnsafeSlow(head.length + object.bytes.length + TAIL.length); // kept: not from the shared pool
  head.copy(frame);
  object.bytes.copy(frame, head.length);
  TAIL.copy(frame, head.length + object.bytes.length);
  return frame;
}

/** One change of one object. Its frames are encoded once, for however many watchers. */
export class Change {
  readonly revision: number;
  /** The state after the change; for a deletion the last state under the deletion's revision. */
  readonly object: CachedObject;
  /** The state before; undefined for a creation. */
  readonly previous: CachedObject | undefined;
  readonly deleted: boolean;
  readonly atMs: number;
  #same: Buffer | undefined;
  #entering: Buffer | undefined;
  #leaving: Buffer | undefined;

  constructor(object: CachedObject, previous: CachedObject | undefined, deleted: boolean, atMs: number) {
    this.revision = object.revision;
    this.object = object;
    this.previous = previous;
    this.deleted = deleted;
    this.atMs = atMs;
  }

  /** The event of a watcher without selectors. */
  get type(): ChangeType {
    return this.deleted ? 'DELETED' : this.previous === undefined ? 'ADDED' : 'MODIFIED';
  }

  get frame(): Buffer {
    return (this.#same ??= encodeFrame(this.type, this.object));
  }

  /** The object came into a selection. */
  get enteringFrame(): Buffer {
    return this.type === 'ADDED' ? this.frame : (this.#entering ??= encodeFrame('ADDED', this.object));
  }

  /** The object left a selection: its state before the change, under the change's revision. */
  get leavingFrame(): Buffer {
    if (this.deleted || this.previous === undefined) return this.frame;
    return (this.#leaving ??= encodeFrame('DELETED', this.left));
  }

  /** The object in a DELETED event. */
  get left(): CachedObject {
    return this.deleted ? this.object : (this.previous ?? this.object).at(this.revision);
  }

  /** Bytes that only the history keeps alive, roughly. */
  get cost(): number {
    return 200 + 2 * this.object.bytes.length;
  }
}

/** The bound of all histories together: the oldest change goes first, whichever resource it is of. */
export class HistoryBudget {
  readonly #maxBytes: number;
  readonly #retainMs: number;
  readonly #now: () => number;
  readonly #later: Later;
  #queue: ({ readonly history: History; readonly change: Change } | undefined)[] = [];
  #head = 0;
  #bytes = 0;
  #waiting = false;

  /**
   * @param o.maxBytes Most bytes that all changes may hold.
   * @param o.retainMs Changes older than this go even when there is room, and when nothing changes any more.
   * @param o.now Milliseconds on a clock that only goes forward.
   */
  constructor(o: {
    readonly maxBytes: number;
    readonly retainMs: number;
    readonly now?: () => number;
    readonly later?: Later;
  }) {
    this.#maxBytes = o.maxBytes;
    this.#retainMs = o.retainMs;
    this.#now = o.now ?? (() => performance.now());
    this.#later = o.later ?? later;
  }

  now(): number {
    return this.#now();
  }

  added(history: History, change: Change): void {
    this.#queue.push({ history, change });
    this.#bytes += change.cost;
    this.#trim();
    this.#await();
  }

  /** Lets go of all changes of a resource that is no more. O(changes of all resources). */
  forget(history: History): void {
    this.#queue = this.#queue.slice(this.#head).filter((kept) => {
      if (kept?.history !== history) return true;
      this.#bytes -= kept.change.cost;
      return false;
    });
    this.#head = 0;
  }

  /** The bytes of the changes of all resources. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Forgets what is too old or too much. */
  #trim(): void {
    const oldest = this.#now() - this.#retainMs;
    for (;;) {
      const first = this.#queue[this.#head];
      if (first === undefined || (this.#bytes <= this.#maxBytes && first.change.atMs >= oldest)) break;
      this.#queue[this.#head++] = undefined; // the slot stays for a while, the change must not
      this.#bytes -= first.change.cost;
      first.history.dropOldest(first.change);
    }
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Comes back when the oldest change is too old. */
  #await(): void {
    const first = this.#queue[this.#head];
    if (this.#waiting || first === undefined) return;
    this.#waiting = true;
    const act = (): void => {
      this.#waiting = false;
      this.#trim();
      this.#await();
    };
    this.#later(act, Math.max(1, first.change.atMs + this.#retainMs - this.#now() + 1));
  }
}

/**
 * The latest changes of one resource in revision order, addressed by a position that never shifts, so that watchers are
 * cursors. Complete for every revision above `floor`.
 */
export class History {
  readonly #budget: HistoryBudget;
  #changes: (Change | undefined)[] = [];
  /** Position of #changes[0]. */
  #base = 0;
  /** Position of the oldest kept change. */
  #first = 0;
  #floor: number;

  constructor(budget: HistoryBudget, floor: number) {
    this.#budget = budget;
    this.#floor = floor;
  }

  /** Changes up to and including this revision are no longer here. */
  get floor(): number {
    return this.#floor;
  }
  /** Position of the oldest kept change. */
  get first(): number {
    return this.#first;
  }
  /** Position after the newest change. */
  get end(): number {
    return this.#base + this.#changes.length;
  }

  append(change: Change): void {
    this.#changes.push(change);
    this.#budget.added(this, change);
  }

  at(position: number): Change | undefined {
    return this.#changes[position - this.#base];
  }

  /** Position of the first change with a revision above `revision`. The caller has compared it with `floor`. */
  after(revision: number): number {
    let lo = this.#first;
    let hi = this.end;
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if ((this.at(mid)?.revision ?? 0) <= revision) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  }

  /** Called by the budget, oldest first. A change from before `restart` is not here any more. */
  dropOldest(change: Change): void {
    if (this.at(this.#first) !== change) return;
    this.#floor = change.revision;
    this.#changes[this.#first - this.#base] = undefined;
    this.#first++;
    const dead = this.#first - this.#base;
    if (dead > 1024 && dead * 2 > this.#changes.length) {
      this.#changes = this.#changes.slice(dead);
      this.#base = this.#first;
    }
  }

  /** Forgets everything: what happened up to `floor` cannot be told. Positions from before are below `first`. */
  restart(floor: number): void {
    this.#base = this.end + 1; // a cursor that stood at the end has missed something, too
    this.#first = this.#base;
    this.#changes = [];
    this.#floor = floor;
  }

  /** The resource is no more: what it keeps in the budget is free for others. */
  close(): void {
    this.#budget.forget(this);
  }
}
