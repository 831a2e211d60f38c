import type { SelectableField } from '../../machinery/types/declarations.js';
import { respliced, splice } from '../../machinery/codec/encode.js';
import { StatusError } from '../../machinery/meta/status.js';

/** The part that all objects of a resource share, so that none of them has to carry it. */
export interface ObjectLayout {
  /** Length of `{"kind":"…","apiVersion":"…","metadata":{` in the storage version. */
  readonly prefixLength: number;
  /** Where `"metadata"` starts; a list item is `{` and the bytes from here. */
  readonly itemStart: number;
  /**
   * The store holds these objects in another form, e.g. in an older version: the next write has to bring them to ours.
   */
  readonly isForeign?: true;
  /** The version that its bytes are in, where objects of one resource are stored in several: `example.com/v1`. */
  readonly apiVersion?: string;
  /** Without metadata.name and metadata.namespace, which the key tells. */
  readonly selectableFields: readonly SelectableField[];
}

/** The members that selectors compare. */
export interface Selectables {
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * One object as the cache holds it: the bytes that go to clients (storage version, resourceVersion spliced in) and,
 * from the first selector on, what selectors need. Never changed once made; `bytes` is shared with responses.
 */
export class CachedObject {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly bytes: Buffer;
  readonly layout: ObjectLayout;
  #selectables: Selectables | undefined;

  constructor(key: string, namespace: string, name: string, revision: number, bytes: Buffer, layout: ObjectLayout) {
    this.key = key;
    this.namespace = namespace;
    this.name = name;
    this.revision = revision;
    this.bytes = bytes;
    this.layout = layout;
  }

  /** Makes one of the store's bytes, which carry no resourceVersion. */
  static fromStored(
    key: string,
    namespace: string,
    name: string,
    revision: number,
    stored: Buffer,
    layout: ObjectLayout,
  ): CachedObject {
    return new CachedObject(key, namespace, name, revision, splice(stored, layout.prefixLength, revision), layout);
  }

  /** The same state under another resourceVersion: what a DELETED event shows. */
  at(revision: number): CachedObject {
    const bytes = respliced(this.bytes, this.layout.prefixLength, this.revision, revision);
    const copy = new CachedObject(this.key, this.namespace, this.name, revision, bytes, this.layout);
    copy.#selectables = this.#selectables;
    return copy;
  }

  /** The decoded object, made afresh: the caller may change it. */
  parse(): unknown {
    return JSON.parse(this.bytes.toString('utf8'));
  }

  /** Parsed at the first call, so that objects are parsed for selectors only. */
  get selectables(): Selectables {
    return (this.#selectables ??= extract(this.parse(), this.layout.selectableFields));
  }

  /** Whether `selectables` are there already. */
  get isRead(): boolean {
    return this.#selectables !== undefined;
  }

  /** A selectable field's value; '' when the object has none. */
  field(key: string): string {
    if (key === 'metadata.name') return this.name;
    if (key === 'metadata.namespace') return this.namespace;
    return this.selectables.fields[key] ?? '';
  }
}

/**
 * An object whose stored value cannot be read. It is in its place among the others, and fails who looks into it: a list with
 * it in between fails rather than leave it out.
 */
export class UnreadableObject extends CachedObject {
  /** @param why Holds nothing of the value: clients are told. */
  constructor(key: string, namespace: string, name: string, revision: number, why: Error, layout: ObjectLayout) {
    super(key, namespace, name, revision, Buffer.alloc(0), layout);
    Object.defineProperty(this, 'bytes', {
      get: () => {
        const message = `Internal error occurred: unable to transform key ${JSON.stringify(key)}: ${why.message}`;
        throw new StatusError('InternalError', message, { cause: why });
      },
    });
  }
}

export const isReadable = (object: CachedObject): boolean => !(object instanceof UnreadableObject);

function extract(object: unknown, declared: readonly SelectableField[]): Selectables {
  const labels = at(object, ['metadata', 'labels']) as Record<string, string> | undefined; // shape checked on write
  const fields: Record<string, string> = {};
  for (const { key, paths, absent } of declared) {
    const found = paths.map((path) => at(object, path)).find((v) => v !== undefined && v !== null && v !== '');
    fields[key] = found === undefined ? absent : scalar(found);
  }
  return { labels, fields };
}

const scalar = (v: unknown): string => (typeof v === 'string' ? v : JSON.stringify(v));

function at(value: unknown, path: readonly string[]): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string, unknown>)[step];
  }
  return here;
}
