import type { CachedObject } from './cached-object.js';
import type { Change, ChangeType, History } from './history.js';
import type { ObjectFilter } from './ordered.js';

/** Which changes a watcher wants. Watchers with equal `id` and scope share every decision; '' selects everything. */
export type ChangeFilter = ObjectFilter;

export const EVERYTHING: ChangeFilter = { id: '', matches: () => true };

/** The scope of a watch; '' for `namespace` and `name` is no restriction. */
export interface WatchScope {
  readonly namespace: string;
  readonly name: string;
}

/** How changes become bytes; watchers that share an encoder share its frames. */
export interface FrameEncoder {
  /** Distinguishes encoders in the groups, e.g. `json` or `table/v1`. */
  readonly id: string;
  /** undefined: this encoder shows nothing of it. */
  encode(change: Change, as: 'same' | 'entering' | 'leaving'): Buffer | undefined;
}

export const STORED_JSON: FrameEncoder = {
  id: 'json',
  encode: (change, as) =>
    as === 'same' ? change.frame : as === 'entering' ? change.enteringFrame : change.leavingFrame,
};

/** Frames in another form than the cache's own. */
export const frameEncoder = (id: string, event: (type: ChangeType, object: CachedObject) => Buffer): FrameEncoder => ({
  id,
  encode: (change, as) => {
    if (as === 'entering') return event('ADDED', change.object);
    return as === 'same' ? event(change.type, change.object) : event('DELETED', change.left);
  },
});

/** The receiving end of a watch. */
export interface WatchSink {
  /** Takes `count` whole frames in order. False: full; nothing more comes until `resume()`. */
  write(frames: Buffer, count: number): boolean;
  /** The history it still needed is gone; nothing more comes. */
  expired(): void;
  /** A change could not be selected, encoded or written; nothing more comes. */
  failed(err: unknown): void;
}

/** The frame that `filter` makes of a change; undefined when the watcher must not see it. */
export function frameFor(change: Change, filter: ChangeFilter, encoder: FrameEncoder): Buffer | undefined {
  if (filter.id === '') return encoder.encode(change, 'same');
  const was = change.previous !== undefined && filter.matches(change.previous);
  if (change.deleted) return was ? encoder.encode(change, 'same') : undefined;
  const is = filter.matches(change.object);
  if (is) return encoder.encode(change, was ? 'same' : 'entering');
  return was ? encoder.encode(change, 'leaving') : undefined;
}

const inScope = (change: Change, scope: WatchScope): boolean =>
  (scope.namespace === '' || scope.namespace === change.object.namespace) &&
  (scope.name === '' || scope.name === change.object.name);

/** Most bytes of history that a watcher which fell behind is given in one write. */
const CATCH_UP_BYTES = 256 * 1024;

/**
 * One watcher: live (gets what its group gets) or behind (reads the history from its own position, as fast as its sink
 * takes it).
 */
export class Watcher {
  readonly #group: WatcherGroup;
  readonly #sink: WatchSink;
  /** Position in the history of the next change to look at; undefined while live. */
  #behindAt: number | undefined;
  #closed = false;

  constructor(group: WatcherGroup, sink: WatchSink, position: number) {
    this.#group = group;
    this.#sink = sink;
    this.#behindAt = position;
  }

  /** Everything up to the cache's revision has been handed to the sink. */
  get live(): boolean {
    return this.#behindAt === undefined && !this.#closed;
  }

  /** To be called when the sink can take more, and once at the start. Never throws. */
  resume(): void {
    this.#group.flush(); // from here on the history's end is what live watchers have got
    try {
      this.#catchUp();
    } catch (err) {
      this.fail(err);
    }
  }

  #catchUp(): void {
    while (this.#behindAt !== undefined && !this.#closed) {
      if (this.#behindAt < this.#group.history.first) {
        this.expire();
        return;
      }
      const { frames, position } = this.#group.read(this.#behindAt);
      this.#behindAt = position;
      if (frames.length > 0 && !this.#sink.write(joined(frames), frames.length)) return;
      if (position >= this.#group.history.end) this.#behindAt = undefined;
    }
  }

  /** Called by the group, for live watchers. Never throws. */
  deliver(frames: Buffer, count: number): void {
    try {
      if (!this.#sink.write(frames, count)) this.#behindAt = this.#group.history.end;
    } catch (err) {
      this.fail(err);
    }
  }

  /** Ends this watcher alone: the changes that it needs are gone. */
  fail(err: unknown): void {
    if (this.#closed) return;
    this.close();
    this.#sink.failed(err);
  }

  expire(): void {
    if (this.#closed) return;
    this.close();
    this.#sink.expired();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#group.remove(this);
  }
}

const joined = (frames: readonly Buffer[]): Buffer =>
  frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames);

/** Watchers that see the same sequence of frames: decided, encoded and joined once for all of them. */
class WatcherGroup {
  readonly history: History;
  readonly scope: WatchScope;
  readonly filter: ChangeFilter;
  readonly encoder: FrameEncoder;
  readonly #members = new Set<Watcher>();
  readonly #emptied: () => void;
  /** Frames that live members have yet to get; empty whenever a watcher reads the history. */
  #pending: Buffer[] = [];

  constructor(history: History, key: GroupKey, emptied: () => void) {
    this.history = history;
    this.scope = key.scope;
    this.filter = key.filter;
    this.encoder = key.encoder;
    this.#emptied = emptied;
  }

  get size(): number {
    return this.#members.size;
  }

  join(sink: WatchSink, position: number): Watcher {
    const watcher = new Watcher(this, sink, position);
    this.#members.add(watcher);
    return watcher;
  }

  remove(watcher: Watcher): void {
    this.#members.delete(watcher);
    if (this.#members.size === 0) this.#emptied();
  }

  members(): Watcher[] {
    return [...this.#members];
  }

  /** True when the group has something to flush. A change that it cannot show ends its watchers: they would miss it. */
  collect(change: Change): boolean {
    try {
      const frame = frameFor(change, this.filter, this.encoder);
      if (frame !== undefined) this.#pending.push(frame);
    } catch (err) {
      this.flush(); // what came before it they get
      for (const watcher of this.members()) watcher.fail(err);
    }
    return this.#pending.length > 0;
  }

  /** Hands what was collected to the live watchers, in one write each. */
  flush(): void {
    if (this.#pending.length === 0) return;
    const batch = joined(this.#pending);
    const count = this.#pending.length;
    this.#pending = [];
    for (const watcher of this.members()) if (watcher.live) watcher.deliver(batch, count);
  }

  /** Frames from `position` on, up to a bound, and the position after them. */
  read(position: number): { readonly frames: readonly Buffer[]; readonly position: number } {
    const frames: Buffer[] = [];
    let bytes = 0;
    let at = position;
    for (; at < this.history.end && bytes < CATCH_UP_BYTES; at++) {
      const change = this.history.at(at);
      if (change === undefined || !inScope(change, this.scope)) continue;
      const frame = frameFor(change, this.filter, this.encoder);
      if (frame === undefined) continue;
      frames.push(frame);
      bytes += frame.length;
    }
    return { frames, position: at };
  }
}

export interface GroupKey {
  readonly scope: WatchScope;
  readonly filter: ChangeFilter;
  readonly encoder: FrameEncoder;
}

/** Reads the history from its own position, when it likes. */
export interface Cursor {
  /** There is more in the history. Called in the turn of a change: whatever takes time comes later. */
  changed(): void;
  /** The history that it may still need is gone, or the resource. */
  expired(): void;
}

/** A position in the history that is never there. */
const BEFORE_ALL = -1;

/** All watchers of one resource, found by scope so that a change visits only groups that may want it. */
export class Watchers {
  readonly #history: History;
  readonly #byScope = new Map<string, Map<string, WatcherGroup>>();
  readonly #dirty = new Set<WatcherGroup>();
  readonly #cursors = new Set<Cursor>();
  #closed = false;

  constructor(history: History) {
    this.#history = history;
  }

  get count(): number {
    let n = this.#cursors.size;
    for (const groups of this.#byScope.values()) for (const group of groups.values()) n += group.size;
    return n;
  }

  /**
   * Adds a watcher that has seen everything before `position`. It gets nothing until its first `resume()`; of a
   * resource that is no more, nothing but that it has expired.
   */
  add(key: GroupKey, sink: WatchSink, position: number): Watcher {
    const scopeId = `${key.scope.namespace}/${key.scope.name}`;
    const groupId = `${key.encoder.id}\n${key.filter.id}`;
    let groups = this.#byScope.get(scopeId);
    if (groups === undefined) this.#byScope.set(scopeId, (groups = new Map<string, WatcherGroup>()));
    let group = groups.get(groupId);
    if (group === undefined) {
      const created: WatcherGroup = new WatcherGroup(this.#history, key, () => this.#forget(scopeId, groupId, created));
      groups.set(groupId, (group = created));
    }
    return group.join(sink, this.#closed ? BEFORE_ALL : position);
  }

  /** @returns Takes it away. */
  follow(cursor: Cursor): () => void {
    this.#cursors.add(cursor);
    return () => void this.#cursors.delete(cursor);
  }

  /** Notes a change that has just been appended to the history. @returns Whether there is something to flush. */
  collect(change: Change): boolean {
    for (const cursor of this.#cursors) cursor.changed();
    if (this.#byScope.size === 0) return false;
    const { namespace, name } = change.object;
    this.#collectIn('/', change);
    if (namespace !== '') this.#collectIn(`${namespace}/`, change);
    this.#collectIn(`/${name}`, change);
    if (namespace !== '') this.#collectIn(`${namespace}/${name}`, change);
    return this.#dirty.size > 0;
  }

  /** Hands out what was collected, one write per watcher. */
  flush(): void {
    for (const group of this.#dirty) group.flush();
    this.#dirty.clear();
  }

  /** The history was lost: all watchers have to start over. */
  expireAll(): void {
    this.#dirty.clear();
    for (const cursor of [...this.#cursors]) cursor.expired();
    for (const groups of [...this.#byScope.values()]) {
      for (const group of [...groups.values()]) for (const watcher of group.members()) watcher.expire();
    }
  }

  /** The resource is no more: all watchers have to start over, later ones with an older declaration as well. */
  close(): void {
    this.#closed = true;
    this.expireAll();
  }

  #collectIn(scopeId: string, change: Change): void {
    const groups = this.#byScope.get(scopeId);
    if (groups === undefined) return;
    for (const group of groups.values()) {
      if (group.collect(change)) this.#dirty.add(group);
    }
  }

  #forget(scopeId: string, groupId: string, group: WatcherGroup): void {
    const groups = this.#byScope.get(scopeId);
    if (groups?.get(groupId) !== group) return;
    groups.delete(groupId);
    this.#dirty.delete(group);
    if (groups.size === 0) this.#byScope.delete(scopeId);
  }
}
