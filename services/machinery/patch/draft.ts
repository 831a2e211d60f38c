import { getOwn, isJsonObject, setOwn } from '../meta/own.js';
import type { Json } from '../meta/object.js';

/** An operation that is well-formed and does not fit the document. */
export class DoesNotApply extends Error {
  override readonly name = 'DoesNotApply';
}

type List = Json[];
type Members = Record<string, Json>;
export type Path = readonly string[];

/** Elements copied or moved up in lists, in all: ten thousand insertions at the front of a huge list take minutes. */
const MAX_MOVED = 50_000_000;
const INDEX = /^(?:0|[1-9]\d{0,15})$/;

/**
 * A document that is being changed. Containers are copied when something in them is first changed and belong to the
 * draft from then on; the rest stays shared with the original.
 */
export class Draft {
  #root: Json;
  /** Containers made by this draft, which may be changed in place. */
  readonly #owned = new WeakSet<object>();
  #moved = 0;

  constructor(document: Json) {
    this.#root = document;
  }

  get document(): Json {
    return this.#root;
  }

  /** The value at a path, or undefined. */
  get(path: Path): Json | undefined {
    let node: Json | undefined = this.#root;
    for (const key of path) node = child(node, key);
    return node;
  }

  add(path: Path, value: Json): void {
    const key = path.at(-1);
    if (key === undefined) {
      this.#root = value;
      return;
    }
    const parent = this.#writable(path);
    if (!Array.isArray(parent)) {
      setOwn(parent, key, value);
      return;
    }
    const index = key === '-' ? parent.length : indexIn(key, parent.length + 1);
    if (index === undefined) throw missing(path);
    this.#spend(parent.length - index);
    parent.splice(index, 0, value);
  }

  replace(path: Path, value: Json): void {
    if (this.get(path) === undefined) throw missing(path);
    const key = path.at(-1);
    if (key === undefined) this.#root = value;
    else put(this.#writable(path), key, value);
  }

  remove(path: Path): void {
    const key = path.at(-1);
    if (key === undefined || this.get(path) === undefined) throw missing(path);
    const parent = this.#writable(path);
    if (Array.isArray(parent)) {
      this.#spend(parent.length);
      parent.splice(Number(key), 1);
    } else {
      Reflect.deleteProperty(parent, key);
    }
  }

  /** The container that the last step of a path is in, ready to be changed. */
  #writable(path: Path): List | Members {
    let node = this.#own(this.#root, path);
    this.#root = node;
    for (const key of path.slice(0, -1)) {
      const next = this.#own(child(node, key), path);
      put(node, key, next);
      node = next;
    }
    return node;
  }

  #own(node: Json | undefined, path: Path): List | Members {
    if (typeof node !== 'object' || node === null) throw missing(path);
    if (this.#owned.has(node)) return node as List | Members; // a copy made below, so not readonly
    if (Array.isArray(node)) this.#spend(node.length);
    const copy = Array.isArray(node) ? [...(node as readonly Json[])] : { ...(node as Members) };
    this.#owned.add(copy);
    return copy;
  }

  #spend(elements: number): void {
    this.#moved += elements;
    if (this.#moved > MAX_MOVED) throw new DoesNotApply('the patch moves too many elements of lists');
  }
}

/** Own members only: what objects inherit is no part of a document. */
function child(node: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(node)) {
    const index = indexIn(key, node.length);
    return index === undefined ? undefined : (node as readonly Json[])[index];
  }
  return isJsonObject(node) ? (getOwn(node, key) as Json | undefined) : undefined;
}

/** Writes a member that exists. */
function put(container: List | Members, key: string, value: Json): void {
  if (Array.isArray(container)) container[Number(key)] = value;
  else setOwn(container, key, value);
}

function indexIn(key: string, length: number): number | undefined {
  const index = INDEX.test(key) ? Number(key) : length;
  return index < length ? index : undefined;
}

const SHOWN = 256;
export const shownPath = (path: Path): string => {
  const text = path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text);
};
export const missing = (path: Path): DoesNotApply => new DoesNotApply(`doc is missing path: ${shownPath(path)}`);
