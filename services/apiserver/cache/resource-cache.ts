import { hasStoragePrefix } from '../../machinery/codec/encode.js';
import type { KeyValue, StoreEvent } from '../../storage/store.js';
import { CachedObject, isReadable, UnreadableObject, type ObjectLayout } from './cached-object.js';
import type { CacheFollower } from './follow.js';
import { Change, History, type HistoryBudget } from './history.js';
import { OrderedObjects, type Snapshot } from './ordered.js';
import { SNAPSHOT_LIMITS, SnapshotBudget, Snapshots } from './snapshots.js';
import { Watchers } from './watchers.js';

/** Where a resource's objects lie in the store. */
export interface ResourceKeys {
  /** `<registry prefix>/<group or core>/<resource>/` */
  readonly prefix: string;
  readonly namespaced: boolean;
}

/** Splits a key below `keys.prefix` into namespace and name; undefined when it is no object's key. */
export function parseKey(keys: ResourceKeys, key: string): { namespace: string; name: string } | undefined {
  const rest = key.slice(keys.prefix.length);
  const slash = rest.indexOf('/');
  if (!keys.namespaced) return rest !== '' && slash < 0 ? { namespace: '', name: rest } : undefined;
  if (slash <= 0 || slash === rest.length - 1 || rest.includes('/', slash + 1)) return undefined;
  return { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) };
}

/** How to tell what is stored in one version. */
interface VersionForm {
  /** Every object of ours starts with it. */
  readonly prefix: Buffer;
  /** Brings bytes that do start with it up to date, where their type may have changed since; equal ones if it has not. */
  readonly reread?: (key: string, stored: Buffer) => Buffer;
}

/** How to tell what is stored, and to read what others stored. */
export interface StoredForm extends VersionForm {
  /** Brings bytes that start otherwise into our form; undefined when they are no object of this resource. */
  readonly adopt: (key: string, stored: Buffer) => Buffer | undefined;
  /** Of versions in which objects may be stored, too: they stay in them until they are written. */
  readonly others?: readonly (VersionForm & { readonly layout: ObjectLayout })[];
}

/** What the store says of a value beside it. */
export type StoredAs = Pick<KeyValue, 'stale' | 'unreadable'>;

/** A half-open range of keys: one namespace of a resource, or all of it. */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
}

interface LaidOut extends VersionForm {
  readonly layout: ObjectLayout;
  /** Of objects in another form than they are written in. */
  readonly foreign: ObjectLayout;
}

const foreign = (layout: ObjectLayout): ObjectLayout => ({ ...layout, isForeign: true });

/**
 * All objects of one resource as of the feed's revision, with a bounded history for watchers. Written by the feed only.
 */
export class ResourceCache {
  readonly keys: ResourceKeys;
  readonly layout: ObjectLayout;
  readonly history: History;
  readonly watchers: Watchers;
  readonly #adopt: StoredForm['adopt'];
  /** That of the storage version first. */
  readonly #forms: readonly LaidOut[];
  readonly #budget: HistoryBudget;
  readonly #snapshots: Snapshots;
  #byKey = new Map<string, CachedObject>();
  /** Keys of values that could not be read. */
  readonly #unreadable = new Set<string>();
  #ordered = new OrderedObjects();
  #current: Snapshot | undefined;
  /** Revision of the newest change here; the state has been the same ever since. */
  #changedAt = 0;
  /** Objects that this process wrote and will see on the feed: encoded once for the response and the cache. */
  readonly #expected = new Map<string, CachedObject>();
  #followers: CacheFollower[] = [];
  #state: 'empty' | 'loaded' | 'closed' = 'empty';
  /** Woken when the state moves on from `empty`. */
  readonly #waiting = new Set<() => void>();

  constructor(
    keys: ResourceKeys,
    layout: ObjectLayout,
    form: StoredForm,
    budget: HistoryBudget,
    snapshots = new SnapshotBudget(SNAPSHOT_LIMITS),
  ) {
    this.keys = keys;
    this.layout = layout;
    this.#adopt = form.adopt;
    const others = (form.others ?? []).map((other) => ({ ...other, layout: foreign(other.layout) }));
    this.#forms = [{ ...form, layout }, ...others].map((it) => ({ ...it, foreign: foreign(it.layout) }));
    this.#budget = budget;
    this.#snapshots = new Snapshots(snapshots);
    this.history = new History(budget, 0);
    this.watchers = new Watchers(this.history);
  }

  /** Keys of values that could not be read, the one that was tried last at the end. */
  get unreadable(): readonly string[] {
    return [...this.#unreadable];
  }

  get hasUnreadable(): boolean {
    return this.#unreadable.size > 0;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** It has the store's state, as of some revision of the feed. */
  get loaded(): boolean {
    return this.#state === 'loaded';
  }

  /** The resource is no more. */
  get closed(): boolean {
    return this.#state === 'closed';
  }

  /**
   * Resolves when it has the store's state, or after `timeoutMs`.
   *
   * @returns Whether it has; never for a resource that is no more.
   * @throws `signal.reason` if it fires first
   */
  async whenLoaded(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.#state !== 'empty') return this.loaded;
    signal.throwIfAborted();
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      signal.addEventListener('abort', wake);
      this.#waiting.add(wake);
    });
    signal.throwIfAborted();
    return this.loaded;
  }

  get(key: string): CachedObject | undefined {
    return this.#byKey.get(key);
  }

  /** The newest state that this process knows: written by itself, or seen on the feed. */
  newest(key: string): CachedObject | undefined {
    return this.#expected.get(key) ?? this.#byKey.get(key);
  }

  /** The present state, which later changes leave as it is. The same object until something changes. */
  get current(): Snapshot {
    return (this.#current ??= this.#ordered.snapshot());
  }

  /** Keys of one namespace, or of all ('' as `namespace`). */
  range(namespace: string): KeyRange {
    const from = namespace === '' ? this.keys.prefix : `${this.keys.prefix}${namespace}/`;
    return { from, to: `${from.slice(0, -1)}0` }; // '0' follows '/'
  }

  /**
   * The state as of `revision`, when it is at hand: a kept snapshot, or the present state when nothing has changed
   * since.
   *
   * @param feedRevision Up to where the cache has followed the store.
   */
  at(revision: number, feedRevision: number): Snapshot | undefined {
    if (revision >= this.#changedAt && revision <= feedRevision) return this.current;
    return this.#snapshots.get(revision);
  }

  /** Keeps the present state for continue tokens that name `revision`. */
  keepSnapshot(revision: number): void {
    this.#snapshots.keep(revision, this.current);
  }

  /** Names an object that was just written, before the feed shows it. Dropped when something newer is there already. */
  expect(object: CachedObject): void {
    const known = this.#byKey.get(object.key);
    if (known !== undefined && known.revision >= object.revision) return;
    if (this.#expected.size >= 1024) this.#expected.clear(); // the feed is far behind: it decodes for itself
    this.#expected.set(object.key, object);
  }

  /** Every object, in no particular order. */
  objects(): Iterable<CachedObject> {
    return this.#byKey.values();
  }

  /** From now on; see `follow`. */
  followBy(follower: CacheFollower): void {
    this.#followers.push(follower);
  }

  /** Takes the whole state anew; watchers have to start over. */
  load(objects: readonly CachedObject[], revision: number): void {
    this.#byKey = new Map(objects.map((o) => [o.key, o]));
    this.#ordered = new OrderedObjects();
    this.#current = undefined;
    this.#unreadable.clear();
    for (const object of objects) {
      this.#ordered.set(object);
      if (!isReadable(object)) this.#unreadable.add(object.key);
    }
    this.#changedAt = revision;
    this.#snapshots.clear();
    this.#expected.clear();
    for (const follower of this.#followers) follower.loaded(objects.filter(isReadable));
    this.history.restart(revision);
    this.watchers.expireAll();
    this.#moveTo('loaded');
  }

  /**
   * The resource is no more: its watches end, and what others keep for it is let go of. Requests that found it before
   * go on with the state that it had.
   */
  close(): void {
    this.#followers = [];
    this.#snapshots.clear();
    this.#expected.clear();
    this.watchers.close();
    this.history.close();
    this.#moveTo('closed');
  }

  #moveTo(state: 'loaded' | 'closed'): void {
    this.#state = state;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Takes one change of the feed. Watchers get it at the next `flush()`. @returns Whether there is one to come. */
  apply(event: StoreEvent): boolean {
    const previous = this.#byKey.get(event.key);
    if (event.unreadable !== undefined || previous instanceof UnreadableObject) {
      const next = event.type === 'put' ? this.#decode(event) : undefined;
      this.#replaceUntold(event.key, previous, next, event.modRevision);
      return false;
    }
    const object = event.type === 'put' ? this.#decode(event) : previous?.at(event.modRevision);
    this.#changedAt = event.modRevision;
    if (object === undefined) return false; // a deletion of what was never seen
    this.#current = undefined;
    if (previous !== undefined) this.#snapshots.replaced(previous.bytes.length);
    if (event.type === 'put') {
      this.#byKey.set(event.key, object);
      this.#ordered.set(object);
    } else {
      this.#byKey.delete(event.key);
      this.#ordered.delete(event.key);
    }
    const change = new Change(object, previous, event.type === 'delete', this.#budget.now());
    for (const follower of this.#followers) follower.changed(change);
    this.history.append(change);
    return this.watchers.collect(change);
  }

  /** Takes a value that could not be read before, unless it has changed since. @returns Whether it can be read now. */
  heal(kv: KeyValue): boolean {
    const { key, value, modRevision } = kv;
    const present = this.#byKey.get(key);
    if (!(present instanceof UnreadableObject) || present.revision !== modRevision) return true;
    this.#unreadable.delete(key);
    this.#unreadable.add(key); // behind the others
    const object = kv.unreadable === undefined ? this.decode(key, value, modRevision, kv) : undefined;
    if (object === undefined) return false;
    this.#replaceUntold(key, present, object, this.#changedAt);
    return true;
  }

  /** From or to what cannot be read: watchers cannot be told, so they have to begin anew. */
  #replaceUntold(key: string, previous: CachedObject | undefined, next: CachedObject | undefined, at: number): void {
    this.#changedAt = at;
    this.#current = undefined;
    this.#unreadable.delete(key);
    if (next === undefined) {
      this.#byKey.delete(key);
      this.#ordered.delete(key);
    } else {
      this.#byKey.set(key, next);
      this.#ordered.set(next);
      if (!isReadable(next)) this.#unreadable.add(key);
    }
    const was = previous !== undefined && isReadable(previous) ? previous : undefined;
    const is = next !== undefined && isReadable(next) ? next : undefined;
    const state = is ?? was?.at(at);
    if (state !== undefined) {
      const change = new Change(state, was, is === undefined, this.#budget.now());
      for (const follower of this.#followers) follower.changed(change);
    }
    this.#snapshots.clear();
    this.history.restart(at);
    this.watchers.expireAll();
  }

  flush(): void {
    this.watchers.flush();
  }

  /** An object of the store's bytes; undefined when key or bytes are none of ours. @param as How the store had them. */
  decode(key: string, value: Buffer, revision: number, as: StoredAs = {}): CachedObject | undefined {
    const parsed = parseKey(this.keys, key);
    if (parsed === undefined) return undefined;
    const { namespace, name } = parsed;
    if (as.unreadable !== undefined) {
      return new UnreadableObject(key, namespace, name, revision, as.unreadable, this.layout);
    }
    const form = this.#formOf(value);
    if (form !== undefined) {
      const present = form.reread?.(key, value) ?? value;
      const layout = as.stale === true || !present.equals(value) ? form.foreign : form.layout;
      return CachedObject.fromStored(key, namespace, name, revision, present, layout);
    }
    const adopted = this.#adopt(key, value);
    const layout = adopted && this.#formOf(adopted)?.foreign;
    if (adopted === undefined || layout === undefined) return undefined;
    return CachedObject.fromStored(key, namespace, name, revision, adopted, layout);
  }

  #formOf(value: Buffer): LaidOut | undefined {
    for (const form of this.#forms) if (hasStoragePrefix(value, form.prefix)) return form;
    return undefined;
  }

  #decode(event: StoreEvent): CachedObject | undefined {
    const expected = this.#expected.get(event.key);
    if (expected !== undefined && expected.revision <= event.modRevision) {
      this.#expected.delete(event.key);
      if (expected.revision === event.modRevision) return expected;
    }
    return this.decode(event.key, event.value, event.modRevision, event);
  }
}
