import { isJsonObject, setOwn } from '../meta/own.js';
import { StatusError, badRequest } from '../meta/status.js';
import type { CustomDeclaration } from '../types/declarations.js';
import { CustomReader } from '../structural/custom-reader.js';
import { type Type, facet, type Field as DeclaredField } from '../types/graph.js';
import type { Literals } from './literals.js';
import { SCALARS } from './scalars.js';
import { sortedKeys } from './sorted-keys.js';
import { Trail, never, nothing, type Codec } from './trail.js';

export interface DecodeOptions {
  /** Most unknown members to report; the rest is dropped in silence. */
  readonly maxUnknown?: number;
  /** How the text wrote its numbers: `1.0` is no integer. */
  readonly literals?: Literals | undefined;
}

export interface Decoded {
  /** Owned by the caller, except for raw JSON in it, which is the input's. */
  readonly value: unknown;
  /** Paths of the members that were dropped, e.g. `spec.containers[0].imagee`. */
  readonly unknown: readonly string[];
}

const MAX_UNKNOWN = 100;

/**
 * Brings a parsed body into the form of its declared type: checks the JSON kind of every member, drops unknown ones,
 * normalises times and quantities, leaves out what means the same as nothing, and orders members as declared and map
 * keys by their text. So two bodies that mean the same are written with the same bytes. Whether values make sense
 * together is not asked here.
 *
 * Nothing of `value` is changed. A body that was itself decoded comes out equal.
 *
 * @throws {StatusError} BadRequest when a member is of another kind than declared.
 */
export function decodeObject(
  type: Type,
  value: unknown,
  { maxUnknown = MAX_UNKNOWN, literals }: DecodeOptions = {},
): Decoded {
  const trail = new Trail(maxUnknown, literals);
  try {
    return { value: rootCodec(type).decode(value, trail), unknown: trail.unknown };
  } catch (err) {
    if (err instanceof StatusError) throw badRequest(`${described(type.key)}: ${err.message}`, err);
    throw err;
  }
}

function described(typeKey: string): string {
  const dot = typeKey.lastIndexOf('.');
  const version = typeKey.slice(typeKey.indexOf('/') + 1, dot);
  const kind = typeKey.slice(dot + 1);
  return `${kind} in version "${version}" cannot be handled as a ${kind}`;
}

/** The metadata of an object; that of an object inside another always shows its creationTimestamp. */
const METADATA_TYPE = 'meta/v1.ObjectMeta';

/** Treatment of a field whose value is the zero of its type or was not given. */
type WhenZero =
  | 'keep' // absent and zero differ
  | 'omit'
  | 'emit'; // written in any case

interface Field {
  readonly name: string;
  readonly codec: Codec;
  readonly whenZero: WhenZero;
  /** Made for a field that is always written when it was not given; undefined leaves the field out. */
  readonly absent: (() => unknown) | undefined;
}

interface Struct {
  /** In the order they are written in. */
  readonly fields: readonly Field[];
  readonly indexOf: ReadonlyMap<string, number>;
}

/** The codec of a whole object. */
const rootCodec = facet((type): Codec => codecOf(type, true));
const nestedCodec = facet((type): Codec => codecOf(type, false));

function codecOf(type: Type, isRoot: boolean): Codec {
  if (type.declaration.custom !== undefined) return customCodec(type, type.declaration.custom);
  if (type.scalar !== undefined) return SCALARS[type.scalar];
  if (type.form === 'list') return listOf(() => nestedCodec(type.items));
  return type.form === 'choice' ? choiceCodec(type) : structCodec(type, isRoot);
}

function compiled(type: Type, isRoot: boolean): Struct {
  const fields = type.fields.map((field) => compiledField(field, isRoot));
  return { fields, indexOf: new Map(fields.map((field, i) => [field.name, i])) };
}

function compiledField(field: DeclaredField, isRoot: boolean): Field {
  const { name, owner, declaration } = field;
  const codec = fieldCodec(field, isRoot);
  const showsCreation = owner.key === METADATA_TYPE && name === 'creationTimestamp' && !isRoot;
  const isEmitted = declaration.alwaysEmit === true || showsCreation;
  const isPointer = declaration.nullable === true;
  return {
    name,
    codec,
    whenZero: isPointer ? 'keep' : isEmitted ? 'emit' : 'omit',
    absent: isEmitted ? (isPointer ? nothing : codec.zero) : undefined,
  };
}

function fieldCodec(field: DeclaredField, isRoot: boolean): Codec {
  if (field.holds === 'list') return listOf(() => nestedCodec(field.type));
  if (field.holds === 'map') return mapOf(() => nestedCodec(field.type));
  return field.type.key === METADATA_TYPE && isRoot ? rootCodec(field.type) : nestedCodec(field.type);
}

/** A type whose JSON is the value of one of its fields: told apart by the JSON kind. */
function choiceCodec({ key, fields }: Type): Codec {
  const codecs = fields.map((field) => ({ field, codec: fieldCodec(field, false) }));
  const flag = codecs.find(({ field }) => field.type.scalar === 'bool');
  const list = codecs.find(({ field }) => field.holds === 'list');
  const other = codecs.find((it) => it !== flag && it !== list);
  const decode = (value: unknown, trail: Trail): unknown => {
    const chosen = typeof value === 'boolean' ? flag : Array.isArray(value) ? list : other;
    if (chosen === undefined) throw trail.mismatch(value, typeName(key));
    return chosen.codec.decode(value, trail);
  };
  return { decode, isZero: never, zero: nothing, type: typeName(key) };
}

/** `core/v1.PodSpec` is `PodSpec` where messages name the owner of a field, */
const structName = (key: string): string => key.slice(key.lastIndexOf('.') + 1);
/** and `v1.PodSpec` where they name the type of a value. */
const typeName = (key: string): string => key.slice(key.indexOf('/') + 1);

/** A custom object: its identity is that of every object, the rest what its schema knows. */
function customCodec(declared: Type, { schema }: CustomDeclaration): Codec {
  const type = typeName(declared.key);
  const name = structName(declared.key);
  const decode = (value: unknown, trail: Trail): unknown => {
    if (!isJsonObject(value)) throw trail.mismatch(value, type);
    trail.struct = name;
    const metadata = declared.field('metadata')?.type;
    return new CustomReader(trail, metadata === undefined ? SCALARS.rawJSON : rootCodec(metadata)).root(
      value,
      schema(),
    );
  };
  return { decode, isZero: never, zero: () => ({}), type };
}

/** Compiled at the first value: types may contain themselves. */
function structCodec(declared: Type, isRoot: boolean): Codec {
  const name = structName(declared.key);
  const type = typeName(declared.key);
  let struct: Struct | undefined;
  const decode = (value: unknown, trail: Trail): unknown => {
    if (!isJsonObject(value)) throw trail.mismatch(value, type);
    struct ??= compiled(declared, isRoot);
    const outer = trail.struct;
    trail.struct = name;
    trail.depth++;
    const out = written(struct.fields, read(struct, value, trail));
    trail.depth--;
    trail.struct = outer;
    return out;
  };
  return {
    decode,
    isZero: isEmptyObject,
    zero: () => written((struct ??= compiled(declared, isRoot)).fields, NOTHING_READ),
    type,
  };
}

const NOTHING_READ: readonly unknown[] = [];

const isEmptyObject = (value: unknown): boolean => {
  for (const _ in value as object) return false;
  return true;
};

/** Decoded values by index of their field. Null means the same as absent. */
function read({ fields, indexOf }: Struct, value: Record<string, unknown>, trail: Trail): readonly unknown[] {
  const values = new Array<unknown>(fields.length);
  const { steps, depth } = trail;
  // A parsed object has own members only, and a prototype without enumerable ones.
  for (const name in value) {
    const i = indexOf.get(name);
    const field = i === undefined ? undefined : fields[i];
    if (i === undefined || field === undefined) {
      trail.recordUnknown(name);
      continue;
    }
    const member = value[name];
    if (member === null || member === undefined) continue;
    steps[depth] = name;
    values[i] = field.codec.decode(member, trail);
  }
  return values;
}

/** The object, its members in declared order whatever order they came in. */
function written(fields: readonly Field[], values: readonly unknown[]): object {
  const out: Record<string, unknown> = {};
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i];
    if (field === undefined) continue;
    let value = values[i];
    if (value === undefined || (field.whenZero !== 'keep' && field.codec.isZero(value))) {
      if (field.absent === undefined) continue;
      value = field.absent();
    }
    out[field.name] = value; // a declared name, not one of the client's
  }
  return out;
}

/** A list; a null element is the one that its type gives for null. */
function listOf(element: () => Codec): Codec {
  return {
    decode(value, trail) {
      const { decode, zero, nullElement = zero, type } = element();
      if (!Array.isArray(value)) throw trail.mismatch(value, `[]${type}`);
      const { steps } = trail;
      const depth = ++trail.depth;
      const out = new Array<unknown>(value.length);
      for (let i = 0; i < value.length; i++) {
        const item: unknown = value[i];
        steps[depth] = i;
        out[i] = item === null ? nullElement() : decode(item, trail);
      }
      trail.depth--;
      return out;
    },
    isZero: (value) => Array.isArray(value) && value.length === 0,
    zero: nothing,
    get type() {
      return `[]${element().type}`;
    },
  };
}

/**
 * A map with keys of the client's choice, which come out sorted, so that equal maps are written alike. (Keys that look
 * like array indices come first, in numeric order: a property of the language, and as good an order.) A null value is
 * the one that its type gives for null.
 */
function mapOf(element: () => Codec): Codec {
  return {
    decode(value, trail) {
      const { decode, zero, nullElement = zero, type } = element();
      if (!isJsonObject(value)) throw trail.mismatch(value, `map[string]${type}`);
      const { steps } = trail;
      const depth = ++trail.depth;
      const out = {};
      for (const key of sortedKeys(value, trail)) {
        const item = value[key];
        steps[depth] = { mapKey: key };
        setOwn(out, key, item === null ? nullElement() : decode(item, trail));
      }
      trail.depth--;
      return out;
    },
    isZero(value) {
      for (const _ in value as object) return false;
      return true;
    },
    zero: nothing,
    get type() {
      return `map[string]${element().type}`;
    },
  };
}
