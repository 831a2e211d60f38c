import type {
  CustomDeclaration,
  FieldDeclaration,
  TypeDeclaration,
  UnionDeclaration,
} from '../../machinery/types/declarations.js';
import type { Field, Type, TypeGraph } from '../../machinery/types/graph.js';
import type { Descriptions } from '../../machinery/types/descriptions.js';
import { isReached } from '../../machinery/types/release.js';
import type { GroupVersion } from '../../machinery/meta/gvk.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Work } from '../../machinery/work/work.js';
import type { Dialect, Schema } from './dialect.js';
import { keyParts, modelNames } from './model-names.js';
import type { StaticDefaults } from './static-defaults.js';

export interface SchemaDeps {
  readonly types: TypeGraph;
  readonly descriptions: Descriptions;
  readonly defaults: StaticDefaults;
  readonly vocabulary: Vocabulary;
  readonly dialect: Dialect;
  /** Where kinds that belong to every group are kinds, too. */
  readonly groupVersions: readonly GroupVersion[];
}

interface Primitive {
  readonly schema: Schema;
  /** The value of an unset member that is always written. */
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
  readonly #types: TypeGraph;
  readonly #nameOf: (key: string) => string;
  readonly #extend: Extend;
  /** Models by name, in the order in which they were first referred to. */
  readonly #models = new Map<string, Schema>();
  readonly #pending: string[] = [];

  constructor(d: SchemaDeps) {
    this.#d = d;
    this.#types = d.types.with(OTHER_TYPES, []);
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
    const type = this.#types.get(key);
    if (type === undefined) return { type: 'object' };
    if (type.scalar !== undefined) return this.#scalar(key, type.scalar);
    if (type.form === 'choice') return {}; // one of several forms
    const { declaration } = type;
    if (declaration.custom !== undefined) return this.#custom(type, declaration.custom);
    const fields = type.fields.filter((field) => !isReached(field.declaration.removedIn));
    const required = fields.filter((field) => field.declaration.required === true).map(({ name }) => name);
    const properties = fields.map((field): [string, Schema] => [field.name, this.#property(field, key)]);
    return {
      type: 'object',
      ...(required.length === 0 ? {} : { required: required.sort() }),
      ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(declaration.structType === 'atomic' ? this.#extend('map-type', 'atomic') : {}),
      ...(declaration.union === undefined ? {} : this.#extend('unions', declaration.union.map(unionOf))),
      ...this.#kinds(key, declaration),
    };
  }

  #custom(type: Type, { json }: CustomDeclaration): Schema {
    const { dialect, vocabulary } = this.#d;
    const { openApiExtension: word } = vocabulary;
    const words = {
      preserve: word('preserve-unknown-fields'),
      embedded: word('embedded-resource'),
      intOrString: word('int-or-string'),
    };
    const member = (name: string): Schema => {
      const field = type.field(name);
      return field === undefined ? {} : this.#property(field, type.key);
    };
    const identity = { apiVersion: member('apiVersion'), kind: member('kind'), metadata: member('metadata') };
    return { ...dialect.custom(json(), words, identity), ...this.#kinds(type.key, type.declaration) };
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

  /** @param within The type that the member is shown in; it may say more of it than the type it is inlined from. */
  #property(field: Field, within: string): Schema {
    const { dialect, descriptions } = this.#d;
    const { name, holds, owner, declaration } = field;
    const more = {
      ...described(descriptions.ofField(within, name) ?? descriptions.ofField(owner.key, name)),
      ...this.#markers(declaration),
    };
    const fallback = declaration.default ?? this.#d.defaults(owner, name);
    if (holds === 'one')
      return dialect.withSiblings(this.#value(field, fallback, declaration.alwaysEmit === true), more);
    const element = this.#value(field, undefined, true);
    return dialect.withDefault(
      holds === 'list'
        ? { type: 'array', items: element, ...more }
        : { type: 'object', additionalProperties: element, ...more },
      fallback,
    );
  }

  /**
   * The value, or each in the list or map.
   *
   * @param fallback What the value is when it was not given.
   * @param isWritten It is there in answers even when it is the zero of its type.
   */
  #value(field: Field, fallback: unknown, isWritten: boolean): Schema {
    const { dialect } = this.#d;
    const { type, holds, declaration } = field;
    const primitive = PRIMITIVES.get(type.key);
    const mayLack = declaration.nullable === true && holds === 'one';
    if (primitive !== undefined) {
      const allowed = declaration.enum === undefined ? {} : { enum: declaration.enum };
      const zero = isWritten && !mayLack ? primitive.zero : undefined;
      return dialect.withDefault({ ...primitive.schema, ...allowed }, fallback ?? zero);
    }
    if (type.form === 'list')
      return { type: 'array', items: PRIMITIVES.get(type.items.key)?.schema ?? this.ref(type.items.key) };
    const key = type.key === 'rawJSON' ? rawModel(field) : (SCALAR_MODELS.get(type.key) ?? type.key);
    return dialect.withDefault(this.ref(key), fallback ?? (type.form === 'struct' && !mayLack ? {} : undefined));
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

const described = (description: string | undefined): Schema => (description === undefined ? {} : { description });

/** Which member goes with which value of the discriminator. */
const unionOf = ({ discriminator, fields }: UnionDeclaration): Schema => ({
  ...(discriminator === undefined ? {} : { discriminator }),
  'fields-to-discriminateBy': fields,
});

/** The model of a member that may hold any JSON. */
function rawModel({ name, owner }: Field): string {
  if (name === 'fieldsV1') return 'meta/v1.FieldsV1';
  const { group, version } = keyParts(owner.key);
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
