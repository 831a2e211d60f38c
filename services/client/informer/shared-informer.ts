import type { Log } from '../../machinery/log/log.js';
import { unlessAborted } from '../deadline/deadline.js';
import { keyOf, type AnyObject, type Live, type ResourceType } from '../rest/resource-type.js';
import { IndexedStore } from './indexed-store.js';
import type { Handler, IndexFunction, Informer } from './informer.js';
import type { Sink } from './reflector.js';

/**
 * Hands what a reflector brings to a store and to handlers, within the turn in which it comes. A state that is there already
 * is passed over. An object that was made anew under its old name is told of as one that goes and one that comes.
 */
export class SharedInformer<T extends AnyObject> implements Informer<T>, Sink<T> {
  readonly type: ResourceType<T>;
  readonly store: IndexedStore<T>;
  readonly #log: Log;
  readonly #transform: (object: Live<T>) => Live<T>;
  readonly #handlers = new Set<Handler<Live<T>>>();
  readonly #filled: Promise<void>;
  #resolveFilled: () => void = () => undefined;
  #isSynced = false;
  /** Keys that were seen since the state began to come once more; undefined between such times. */
  #seen: Set<string> | undefined;

  /** @param transform Makes of each object what is kept of it. */
  constructor(type: ResourceType<T>, log: Log, transform: (object: Live<T>) => Live<T> = (object) => object) {
    this.type = type;
    this.#log = log;
    this.#transform = transform;
    this.store = new IndexedStore((err) => this.#failed('Index function of an informer failed', err));
    this.#filled = new Promise((resolve) => (this.#resolveFilled = resolve));
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  async synced(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#isSynced) await unlessAborted(this.#filled, signal);
  }

  handle(handler: Handler<Live<T>>): () => void {
    for (const object of this.store.list()) this.#tell(handler, ({ added }) => added?.(object, true));
    this.#handlers.add(handler);
    return () => void this.#handlers.delete(handler);
  }

  index(name: string, of: IndexFunction<Live<T>>): void {
    this.store.index(name, of);
  }

  begin(): void {
    this.#seen = new Set();
  }

  put(sent: Live<T>): void {
    const key = keyOf(sent.metadata);
    this.#seen?.add(key);
    const old = this.store.get(key);
    if (old?.metadata.uid === sent.metadata.uid && old.metadata.resourceVersion === sent.metadata.resourceVersion)
      return;
    const object = this.#transform(sent);
    if (old?.metadata.uid !== sent.metadata.uid) this.#replace(old, object);
    else {
      this.store.put(object);
      this.#tellAll(({ updated }) => updated?.(object, old));
    }
  }

  /** @param last The object's last state. */
  remove(last: Live<T>): void {
    const key = keyOf(last.metadata);
    this.#seen?.delete(key);
    if (this.store.remove(key) === undefined) return;
    const kept = this.#transform(last);
    this.#tellAll(({ deleted }) => deleted?.(kept));
  }

  end(): void {
    const seen = this.#seen;
    this.#seen = undefined;
    if (seen !== undefined && seen.size < this.store.size) {
      for (const object of this.store.list()) if (!seen.has(keyOf(object.metadata))) this.remove(object);
    }
    this.#isSynced = true;
    this.#resolveFilled();
  }

  /** Tells handlers of all that is there as if it had changed. */
  resync(): void {
    for (const object of this.store.list()) this.#tellAll(({ updated }) => updated?.(object, object));
  }

  #replace(old: Live<T> | undefined, object: Live<T>): void {
    if (old !== undefined) {
      this.store.remove(keyOf(old.metadata));
      this.#tellAll(({ deleted }) => deleted?.(old));
    }
    this.store.put(object);
    const isInitial = !this.#isSynced;
    this.#tellAll(({ added }) => added?.(object, isInitial));
  }

  #tellAll(tell: (handler: Handler<Live<T>>) => void): void {
    for (const handler of [...this.#handlers]) if (this.#handlers.has(handler)) this.#tell(handler, tell);
  }

  #tell(handler: Handler<Live<T>>, tell: (handler: Handler<Live<T>>) => void): void {
    try {
      tell(handler);
    } catch (err) {
      this.#failed('Handler of an informer failed', err);
    }
  }

  #failed(message: string, err: unknown): void {
    this.#log.error(message, { resource: this.type.resource, err });
  }
}
