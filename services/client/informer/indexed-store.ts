import { keyOf, type AnyObject, type Live } from '../rest/resource-type.js';
import type { IndexFunction, Store } from './informer.js';

interface Index<T> {
  readonly given: IndexFunction<T>;
  /** The same, that does not throw. */
  readonly of: IndexFunction<T>;
  readonly keys: Map<string, Set<string>>;
}

/** By namespace: a list of one costs what is in it. */
const NAMESPACE = '';

/** Objects by key, and by what index functions give for them. */
export class IndexedStore<T extends AnyObject> implements Store<Live<T>> {
  readonly #objects = new Map<string, Live<T>>();
  readonly #failed: (err: unknown) => void;
  readonly #indexes = new Map<string, Index<Live<T>>>();

  /** @param failed Told when an index function throws; the object is then not in that index. */
  constructor(failed: (err: unknown) => void) {
    this.#failed = failed;
    this.#add(NAMESPACE, ({ metadata: { namespace = '' } }) => (namespace === '' ? [] : [namespace]));
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): Live<T> | undefined {
    return this.#objects.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  list(namespace = ''): readonly Live<T>[] {
    return namespace === '' ? [...this.#objects.values()] : this.by(NAMESPACE, namespace);
  }

  /** @throws {Error} when there is no such index: a mistake of the caller's. */
  by(index: string, value: string): readonly Live<T>[] {
    const known = this.#indexes.get(index);
    if (known === undefined) throw new Error(`There is no index ${index}`);
    const found: Live<T>[] = [];
    for (const key of known.keys.get(value) ?? []) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  /** Objects that are there already are indexed. @throws {Error} when another function has the name */
  index(name: string, of: IndexFunction<Live<T>>): void {
    const known = this.#indexes.get(name);
    if (known?.given === of) return;
    if (known !== undefined || name === NAMESPACE)
      throw new Error(`Another index has the name ${JSON.stringify(name)}`);
    this.#add(name, of);
  }

  /** @returns What was there before. */
  put(object: Live<T>): Live<T> | undefined {
    const key = keyOf(object.metadata);
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) {
      if (old !== undefined) forget(index, key, old);
      note(index, key, object);
    }
    return old;
  }

  /** @returns What was there. */
  remove(key: string): Live<T> | undefined {
    const old = this.#objects.get(key);
    if (old === undefined) return undefined;
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) forget(index, key, old);
    return old;
  }

  #add(name: string, given: IndexFunction<Live<T>>): void {
    const of: IndexFunction<Live<T>> = (object) => {
      try {
        return given(object);
      } catch (err) {
        this.#failed(err);
        return [];
      }
    };
    const index = { given, of, keys: new Map<string, Set<string>>() };
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) note(index, key, object);
  }
}

function note<T>({ of, keys }: Index<T>, key: string, object: T): void {
  for (const value of of(object)) {
    const known = keys.get(value);
    if (known === undefined) keys.set(value, new Set([key]));
    else known.add(key);
  }
}

function forget<T>({ of, keys }: Index<T>, key: string, object: T): void {
  for (const value of of(object)) {
    const known = keys.get(value);
    if (known?.delete(key) === true && known.size === 0) keys.delete(value);
  }
}
