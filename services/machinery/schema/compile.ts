import { isJsonObject } from '../meta/own.js';
import type { FieldDeclaration, TypeDeclaration } from '../types/declarations.js';
import type { Codec } from './codec.js';
import { never, nothing } from './codec.js';
import { listOf, mapOf } from './collections.js';
import { SCALARS } from './scalars.js';
import type { Trail } from './trail.js';

type Types = ReadonlyMap<string, TypeDeclaration>;

/** The metadata of an object; that of an object inside another always shows its creationTimestamp. */
const METADATA_TYPE = 'meta/v1.ObjectMeta';

/** What to do with a field when its value is the zero of its type or was not given. */
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

/** The codecs of one set of types. Each is compiled when a value of its type is first met. */
export class Compiler {
  readonly #types: Types;
  readonly #roots = new Map<string, Codec>();
  readonly #nested = new Map<string, Codec>();

  constructor(types: Types) {
    this.#types = types;
  }

  /** The codec of a whole object. */
  root(key: string): Codec {
    return cached(this.#roots, key, () => this.#make(key, true));
  }

  #nestedCodec(type: string): Codec {
    return SCALARS.get(type) ?? cached(this.#nested, type, () => this.#make(type, false));
  }

  #declaration(key: string): TypeDeclaration {
    const declaration = this.#types.get(key);
    if (declaration === undefined) throw new Error(`No declaration of type ${key}`);
    return declaration;
  }

  #make(key: string, isRoot: boolean): Codec {
    const declaration = this.#declaration(key);
    if (declaration.scalar !== undefined) return this.#nestedCodec(declaration.scalar);
    const { listOf: element, jsonForm } = declaration;
    if (element !== undefined) return listOf(() => this.#nestedCodec(element));
    if (jsonForm !== undefined) return this.#eitherOf(key, declaration);
    return structCodec(key, () => this.#struct(key, declaration, isRoot));
  }

  #struct(key: string, declaration: TypeDeclaration, isRoot: boolean): Struct {
    const fields = this.#flattened(declaration).map((field) => this.#field(key, field, isRoot));
    return { fields, indexOf: new Map(fields.map((field, i) => [field.name, i])) };
  }

  /** Inline types give their fields to the type they stand in; its own come first where names meet. */
  #flattened(declaration: TypeDeclaration): readonly FieldDeclaration[] {
    const declared = (declaration.fields ?? []).filter((f) => f.jsonHidden !== true);
    const own = new Set(declared.flatMap((f) => (f.inline === true ? [] : [f.name])));
    return declared.flatMap((f) =>
      f.inline === true ? this.#flattened(this.#declaration(f.type)).filter((inner) => !own.has(inner.name)) : [f],
    );
  }

  #field(owner: string, field: FieldDeclaration, isRoot: boolean): Field {
    const codec = this.#fieldCodec(field, isRoot);
    const showsCreation = owner === METADATA_TYPE && field.name === 'creationTimestamp' && !isRoot;
    const isEmitted = field.alwaysEmit === true || showsCreation;
    const { nullable } = field;
    return {
      name: field.name,
      codec,
      whenZero: nullable === true ? 'keep' : isEmitted ? 'emit' : 'omit',
      absent: isEmitted ? (nullable === true ? nothing : codec.zero) : undefined,
    };
  }

  #fieldCodec({ type, list, map }: FieldDeclaration, isRoot: boolean): Codec {
    const element = (): Codec => this.#nestedCodec(type);
    if (list === true) return listOf(element);
    if (map === true) return mapOf(element);
    return type === METADATA_TYPE && isRoot ? this.root(METADATA_TYPE) : element();
  }

  /** A type whose JSON is the value of one of its fields: told apart by the JSON kind. */
  #eitherOf(key: string, { fields = [] }: TypeDeclaration): Codec {
    const codecs = fields.map((field) => ({ field, codec: this.#fieldCodec(field, false) }));
    const flag = codecs.find(({ field }) => field.type === 'bool');
    const list = codecs.find(({ field }) => field.list === true);
    const other = codecs.find((it) => it !== flag && it !== list);
    const decode = (value: unknown, trail: Trail): unknown => {
      const chosen = typeof value === 'boolean' ? flag : Array.isArray(value) ? list : other;
      if (chosen === undefined) throw trail.mismatch(value, typeName(key));
      return chosen.codec.decode(value, trail);
    };
    return { decode, isZero: never, zero: nothing, type: typeName(key) };
  }
}

function cached(cache: Map<string, Codec>, key: string, make: () => Codec): Codec {
  let codec = cache.get(key);
  if (codec === undefined) {
    codec = make();
    cache.set(key, codec);
  }
  return codec;
}

/** `core/v1.PodSpec` is `PodSpec` where messages name the owner of a field, */
const structName = (key: string): string => key.slice(key.lastIndexOf('.') + 1);
/** and `v1.PodSpec` where they name the type of a value. */
const typeName = (key: string): string => key.slice(key.indexOf('/') + 1);

/** @param compile Called once, at the first value: types may contain themselves. */
function structCodec(key: string, compile: () => Struct): Codec {
  const name = structName(key);
  const type = typeName(key);
  let struct: Struct | undefined;
  const decode = (value: unknown, trail: Trail): unknown => {
    if (!isJsonObject(value)) throw trail.mismatch(value, type);
    struct ??= compile();
    const outer = trail.struct;
    trail.struct = name;
    trail.depth++;
    const out = written(struct.fields, read(struct, value, trail));
    trail.depth--;
    trail.struct = outer;
    return out;
  };
  return { decode, isZero: isEmptyObject, zero: () => written((struct ??= compile()).fields, NOTHING_READ), type };
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
