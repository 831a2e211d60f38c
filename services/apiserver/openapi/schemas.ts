import type { FieldDeclaration, TypeDeclaration, UnionDeclaration } from '../../machinery/types/declarations.js';
import type { Descriptions } from '../../machinery/types/descriptions.js';
import { isReached } from '../../machinery/types/release.js';
import type { GroupVersion } from '../../machinery/meta/gvk.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Work } from '../../machinery/work/work.js';
import type { Dialect, Schema } from './dialect.js';
import { keyParts, modelNames } from './model-names.js';
import type { StaticDefaults } from './static-defaults.js';

export interface SchemaDeps {
  readonly types: ReadonlyMap<string, TypeDeclaration>;
  readonly descriptions: Descriptions;
  readonly defaults: StaticDefaults;
  readonly vocabulary: Vocabulary;
  readonly dialect: Dialect;
  /** Where kinds that belong to every group are kinds, too. */
  readonly groupVersions: readonly GroupVersion[];
}

/** A field, and the key of the type that declares it. */
interface Member {
  readonly field: FieldDeclaration;
  readonly owner: string;
}

interface Primitive {
  readonly schema: Schema;
  /** What a member that is always written holds when nothing was set. */
  readonly zero: unknown;
}

const PRIMITIVES: ReadonlyMap<string, Primitive> = new Map(
  Object.entries<Primitive>({
    string: { schema: { type: 'string' }, zero: '' },
    bool: { schema: { type: 'boolean' }, zero: false },
    int32: { schema: { type: 'integer', format: 'int32' }, zero: 0 },
    int64: { schema: { type: 'integer', format: 'int64' }, zero: 0 },
    double: { schema: { type: 'number', format: 'double' }, zero: 0 },
    bytes: { schema: { type: 'string', format: 'byte' }, zero: undefined },
  }),
);

/** Scalars that documents give a model of their own. */
const SCALAR_MODELS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    time: 'meta/v1.Time',
    microTime: 'meta/v1.MicroTime',
    duration: 'meta/v1.Duration',
    quantity: 'resource.Quantity',
    intOrString: 'intstr.IntOrString',
  }),
);

/** Kinds that every group uses; they belong to none, */
const META = 'meta/';
/** but for these, which are kinds of each of them. */
const OF_EVERY_GROUP: ReadonlySet<string> = new Set(['meta/v1.DeleteOptions', 'meta/v1.WatchEvent']);

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

  /** Makes the models that were referred to up to now, directly or not. Each is a part of the work. */
  *settle(): Work<void> {
    for (let key = this.#pending.pop(); key !== undefined; key = this.#pending.pop()) {
      this.#models.set(this.#nameOf(key), this.#model(key));
      yield;
    }
  }

  /** Every model that was referred to, directly or not, by name: to be asked for when that is settled. */
  models(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#models].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #model(key: string): Schema {
    return { ...described(this.#d.descriptions.ofType(key)), ...this.#form(key) };
  }

  #form(key: string): Schema {
    const declaration = typeOf(this.#d.types, key);
    if (declaration === undefined) return { type: 'object' };
    if (declaration.scalar !== undefined) return this.#scalar(key, declaration.scalar);
    if (declaration.jsonForm !== undefined) return {}; // one of several forms
    const members = this.#members(key, declaration);
    const required = members.filter((m) => m.field.required === true).map((m) => m.field.name);
    const properties = members.map((m): [string, Schema] => [m.field.name, this.#property(m, key)]);
    return {
      type: 'object',
      ...(required.length === 0 ? {} : { required: required.sort() }),
      ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(declaration.structType === 'atomic' ? this.#extend('map-type', 'atomic') : {}),
      ...(declaration.union === undefined ? {} : this.#extend('unions', declaration.union.map(unionOf))),
      ...this.#kinds(key, declaration),
    };
  }

  #kinds(key: string, { kind }: TypeDeclaration): Schema {
    if (OF_EVERY_GROUP.has(key)) return this.#extend('group-version-kind', this.#kindOfEveryGroup(keyParts(key).kind));
    return kind === true ? this.#extend('group-version-kind', [kindOf(key)]) : {};
  }

  #kindOfEveryGroup(kind: string): readonly Schema[] {
    return this.#d.groupVersions.map(({ group, version }) => ({ group, kind, version }));
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
      case 'quantity':
        return dialect.quantity;
      default:
        return { type: 'string' };
    }
  }

  /** The members of the JSON object: those of inlined types are its own. */
  #members(owner: string, { fields = [] }: TypeDeclaration): readonly Member[] {
    return fields.flatMap((field) => {
      if (field.jsonHidden === true || isReached(field.removedIn)) return [];
      const inlined = field.inline === true ? this.#d.types.get(field.type) : undefined;
      return inlined === undefined ? [{ field, owner }] : this.#members(field.type, inlined);
    });
  }

  /** @param within The type that the member is shown in; it may say more of it than the type it is inlined from. */
  #property(member: Member, within: string): Schema {
    const { dialect, descriptions } = this.#d;
    const { field, owner } = member;
    const more = {
      ...described(descriptions.ofField(within, field.name) ?? descriptions.ofField(owner, field.name)),
      ...this.#markers(field),
    };
    const fallback = field.default ?? this.#d.defaults(owner, field.name);
    if (field.list === true)
      return dialect.withDefault({ type: 'array', items: this.#element(member), ...more }, fallback);
    if (field.map === true)
      return dialect.withDefault({ type: 'object', additionalProperties: this.#element(member), ...more }, fallback);
    return dialect.withSiblings(this.#value(member, fallback, field.alwaysEmit === true), more);
  }

  /** One of a list's or map's. */
  #element({ field, owner }: Member): Schema {
    return this.#value({ field, owner }, undefined, true);
  }

  /**
   * @param fallback What the value is when it was not given.
   * @param isWritten It is there in answers even when it is the zero of its type.
   */
  #value({ field, owner }: Member, fallback: unknown, isWritten: boolean): Schema {
    const { dialect, types } = this.#d;
    const primitive = PRIMITIVES.get(field.type);
    const mayLack = field.nullable === true && field.list !== true && field.map !== true;
    if (primitive !== undefined) {
      const allowed = field.enum === undefined ? {} : { enum: field.enum };
      const zero = isWritten && !mayLack ? primitive.zero : undefined;
      return dialect.withDefault({ ...primitive.schema, ...allowed }, fallback ?? zero);
    }
    const key = field.type === 'rawJSON' ? rawModel(field, owner) : (SCALAR_MODELS.get(field.type) ?? field.type);
    const named = typeOf(types, key);
    if (named?.listOf !== undefined)
      return { type: 'array', items: PRIMITIVES.get(named.listOf)?.schema ?? this.ref(named.listOf) };
    const isStruct = named?.scalar === undefined && named?.jsonForm === undefined;
    return dialect.withDefault(this.ref(key), fallback ?? (isStruct && !mayLack ? {} : undefined));
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

/** Types that no group declares. */
const OTHER_TYPES: ReadonlyMap<string, TypeDeclaration> = new Map([
  [
    'version.Info',
    {
      fields: [
        ...['major', 'minor', 'gitVersion', 'gitCommit', 'gitTreeState', 'buildDate'],
        ...['goVersion', 'compiler', 'platform'],
      ].map((name) => ({ name, type: 'string', required: true, alwaysEmit: true })),
    },
  ],
]);

const typeOf = (types: SchemaDeps['types'], key: string): TypeDeclaration | undefined =>
  types.get(key) ?? OTHER_TYPES.get(key);

const described = (description: string | undefined): Schema => (description === undefined ? {} : { description });

/** Which member goes with which value of the discriminator. */
const unionOf = ({ discriminator, fields }: UnionDeclaration): Schema => ({
  ...(discriminator === undefined ? {} : { discriminator }),
  'fields-to-discriminateBy': fields,
});

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
