import { isJsonObject, setOwn } from '../meta/own.js';
import { isInexact } from '../schema/scalars.js';
import { sortedKeys } from '../schema/sorted-keys.js';
import { NOT_EXACT, type Codec, type Trail } from '../schema/trail.js';
import { IDENTITY_MEMBERS, type Structural } from './structural.js';

/** A schema; undefined where nothing is known and all members go. */
type Known = Structural | undefined;

interface Mode {
  /** It is an object whose identity stays, whatever its schema says. */
  readonly identity: boolean;
  /** Members that are not known stay. */
  readonly keeps: boolean;
}

/**
 * Copies what the schema of a custom object knows of it, members sorted by name, and tells its trail of the rest. What
 * is of another JSON type than the schema wants stays: validation tells of it. How deep an object nests is bounded
 * where it is parsed.
 */
export class CustomReader {
  readonly #trail: Trail;
  readonly #metadata: Codec;

  /** @param metadata Of the metadata of the object and of those inside it. */
  constructor(trail: Trail, metadata: Codec) {
    this.#trail = trail;
    this.#metadata = metadata;
  }

  /** @throws {StatusError} BadRequest for metadata of another form, and integers that are not kept exactly. */
  root(value: Record<string, unknown>, schema: Structural): Record<string, unknown> {
    return this.#object(value, schema, { identity: true, keeps: schema.preserves });
  }

  #object(value: Record<string, unknown>, schema: Known, { identity, keeps }: Mode): Record<string, unknown> {
    const trail = this.#trail;
    const depth = ++trail.depth;
    const out: Record<string, unknown> = {};
    for (const name of sortedKeys(value, trail)) {
      const member = value[name];
      const property = schema?.properties.get(name);
      const additional = schema?.additional;
      trail.steps[depth] = name;
      if (identity && IDENTITY_MEMBERS.has(name)) this.#identity(out, name, member);
      else if (property !== undefined) setOwn(out, name, this.#value(member, property, false));
      else if (additional !== undefined) setOwn(out, name, this.#value(member, schemaOf(additional), false));
      else if (keeps) setOwn(out, name, this.#anything(member));
      else trail.recordUnknown(name);
    }
    trail.depth--;
    return out;
  }

  #identity(out: Record<string, unknown>, name: string, member: unknown): void {
    // null means that nothing is said, as with all built-in types.
    if (member === null) return;
    out[name] = name === 'metadata' ? this.#metadata.decode(member, this.#trail) : this.#anything(member);
  }

  /** @param keeps The list around it keeps what it does not know. */
  #value(value: unknown, schema: Known, keeps: boolean): unknown {
    const isKeeping = keeps || schema?.preserves === true;
    if (typeof value !== 'object' || value === null) return this.#scalar(value);
    if (isKeeping && schema === undefined) return this.#anything(value);
    if (Array.isArray(value)) return this.#list(value, (item) => this.#value(item, schema?.items, isKeeping));
    const mode = { identity: schema?.embedded === true, keeps: isKeeping };
    return this.#object(value as Record<string, unknown>, schema, mode);
  }

  #list(value: readonly unknown[], read: (item: unknown) => unknown): unknown[] {
    const trail = this.#trail;
    const depth = ++trail.depth;
    const out = value.map((item, i) => {
      trail.steps[depth] = i;
      return read(item);
    });
    trail.depth--;
    return out;
  }

  #anything(value: unknown): unknown {
    if (Array.isArray(value)) return this.#list(value, (item) => this.#anything(item));
    if (!isJsonObject(value)) return this.#scalar(value);
    return this.#object(value, undefined, { identity: false, keeps: true });
  }

  #scalar(value: unknown): unknown {
    if (isInexact(value)) throw this.#trail.malformed(NOT_EXACT);
    return value;
  }
}

/** Of members that may be anything nothing is known: those of their own go. */
const schemaOf = (additional: Structural | boolean): Known => (typeof additional === 'object' ? additional : undefined);
