import type { FieldDeclaration, TypeDeclaration } from '../../machinery/types/declarations.js';
import { isReached } from '../../machinery/types/release.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Dialect, Schema } from './dialect.js';
import { keyParts, modelNames } from './model-names.js';

export interface SchemaDeps {
  readonly types: ReadonlyMap<string, TypeDeclaration>;
  readonly vocabulary: Vocabulary;
  readonly dialect: Dialect;
}

interface Primitive {
  readonly schema: Schema;
  /** What a member that is always written holds when nothing was set. */
  readonly zero: unknown;
}

const PRIMITIVES: Readonly<Record<string, Primitive>> = {
  string: { schema: { type: 'string' }, zero: '' },
  bool: { schema: { type: 'boolean' }, zero: false },
  int32: { schema: { type: 'integer', format: 'int32' }, zero: 0 },
  int64: { schema: { type: 'integer', format: 'int64' }, zero: 0 },
  double: { schema: { type: 'number', format: 'double' }, zero: 0 },
  bytes: { schema: { type: 'string', format: 'byte' }, zero: undefined },
};

/** Scalars that documents give a model of their own. */
const SCALAR_MODELS: Readonly<Record<string, string>> = {
  time: 'meta/v1.Time',
  microTime: 'meta/v1.MicroTime',
  duration: 'meta/v1.Duration',
  quantity: 'resource.Quantity',
  intOrString: 'intstr.IntOrString',
};

/** Kinds that every group uses; they belong to none. */
const META = 'meta/';

/** Turns declarations into the models of one document: whatever is referred to is in it. */
export class Schemas {
  readonly #d: SchemaDeps;
  readonly #nameOf: (key: string) => string;
  readonly #extend: Extend;
  /** Models by name, in the order in which they were first referred to. */
  readonly #models = new Map<string, Schema>();
  readonly #pending: string[] = [];

  constructor(d: SchemaDeps) {
    this.#d = d;
    this.#nameOf = modelNames(d.vocabulary);
    this.#extend = extensions(d.vocabulary);
  }

  /** A reference to a type; the document will have its model. */
  ref(key: string): Schema {
    const name = this.#nameOf(key);
    if (!this.#models.has(name)) {
      this.#models.set(name, {});
      this.#pending.push(key);
    }
    return { $ref: `${this.#d.dialect.modelsAt}${name}` };
  }

  /** Every model that was referred to, directly or not, by name. */
  models(): Readonly<Record<string, Schema>> {
    for (let key = this.#pending.pop(); key !== undefined; key = this.#pending.pop()) {
      this.#models.set(this.#nameOf(key), this.#model(key));
    }
    return Object.fromEntries([...this.#models].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #model(key: string): Schema {
    const declaration = this.#d.types.get(key);
    if (declaration === undefined) return { type: 'object' };
    if (declaration.scalar !== undefined) return this.#scalar(key, declaration.scalar);
    if (declaration.jsonForm !== undefined) return {}; // one of several forms
    const fields = this.#fields(declaration);
    const required = fields.filter((f) => f.required === true).map((f) => f.name);
    const properties = fields.map((f): [string, Schema] => [f.name, this.#property(f, key)]);
    return {
      type: 'object',
      ...(required.length === 0 ? {} : { required: required.sort() }),
      ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(declaration.structType === 'atomic' ? this.#extend('map-type', 'atomic') : {}),
      ...(declaration.kind === true ? this.#extend('group-version-kind', [kindOf(key)]) : {}),
    };
  }

  #scalar(key: string, scalar: string): Schema {
    const { dialect } = this.#d;
    switch (scalar) {
      case 'time':
      case 'microTime':
        return { type: 'string', format: 'date-time' };
      case 'intOrString':
        return dialect.intOrString;
      case 'rawJSON':
        return keyParts(key).kind === 'JSON' ? {} : { type: 'object' };
      default:
        return { type: 'string' };
    }
  }

  /** The members of the JSON object: those of inlined types are its own. */
  #fields({ fields = [] }: TypeDeclaration): readonly FieldDeclaration[] {
    return fields.flatMap((f) => {
      if (f.jsonHidden === true || isReached(f.removedIn)) return [];
      const inlined = f.inline === true ? this.#d.types.get(f.type) : undefined;
      return inlined === undefined ? [f] : this.#fields(inlined);
    });
  }

  #property(field: FieldDeclaration, owner: string): Schema {
    const { dialect } = this.#d;
    const markers = this.#markers(field);
    const value = (isElement: boolean): Schema => this.#value(field, owner, isElement);
    if (field.list === true) return { type: 'array', items: value(true), ...markers };
    if (field.map === true) return { type: 'object', additionalProperties: value(true), ...markers };
    return dialect.withSiblings(value(false), markers);
  }

  #value(field: FieldDeclaration, owner: string, isElement: boolean): Schema {
    const { dialect, types } = this.#d;
    const primitive = PRIMITIVES[field.type];
    const fallback = isElement ? undefined : field.default;
    if (primitive !== undefined) {
      const written = isElement || (field.alwaysEmit === true && field.nullable !== true);
      const allowed = field.enum === undefined ? {} : { enum: field.enum };
      return dialect.withDefault(
        { ...primitive.schema, ...allowed },
        fallback ?? (written ? primitive.zero : undefined),
      );
    }
    const key = field.type === 'rawJSON' ? rawModel(field, owner) : (SCALAR_MODELS[field.type] ?? field.type);
    const named = types.get(key);
    if (named?.listOf !== undefined)
      return { type: 'array', items: PRIMITIVES[named.listOf]?.schema ?? this.ref(named.listOf) };
    const isStruct = named?.scalar === undefined && named?.jsonForm === undefined;
    return dialect.withDefault(this.ref(key), fallback ?? (isStruct && field.nullable !== true ? {} : undefined));
  }

  /** How clients merge the member. */
  #markers(field: FieldDeclaration): Schema {
    const strategy = [field.patchStrategy, field.patchRetainKeys === true ? 'retainKeys' : undefined];
    const isList = field.list === true;
    const markers: readonly (readonly [string, unknown])[] = [
      ['list-type', isList ? field.listType : undefined],
      ['list-map-keys', isList ? field.listMapKeys : undefined],
      ['map-type', field.structType ?? (field.mapType === 'atomic' ? 'atomic' : undefined)],
      ['patch-strategy', strategy.filter((s) => s !== undefined).join(',') || undefined],
      ['patch-merge-key', field.patchMergeKey],
    ];
    return Object.fromEntries(
      markers.filter(([, v]) => v !== undefined).flatMap(([name, v]) => Object.entries(this.#extend(name, v))),
    );
  }
}

/** The model of a member that may hold any JSON. */
function rawModel({ name }: FieldDeclaration, owner: string): string {
  if (name === 'fieldsV1') return 'meta/v1.FieldsV1';
  const { group, version } = keyParts(owner);
  return group.startsWith('apiextensions.') ? `${group}/${version}.JSON` : 'runtime.RawExtension';
}

/** Kinds of the core group and those that all groups share are of group ''. */
function kindOf(key: string): Schema {
  const { group, version, kind } = keyParts(key);
  return { group: group === 'core' || key.startsWith(META) ? '' : group, kind, version };
}

/** An extension as members of a schema: under our own name, and under the one that unmodified clients look for. */
export type Extend = (name: string, value: unknown) => Schema;

/** The names are asked for thousands of times. */
export function extensions({ openApiExtensions }: Vocabulary): Extend {
  const known = new Map<string, readonly string[]>();
  return (name, value) => {
    let names = known.get(name);
    if (names === undefined) known.set(name, (names = openApiExtensions(name)));
    return Object.fromEntries(names.map((extension) => [extension, value]));
  };
}
