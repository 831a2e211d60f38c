import type { Structural } from '../structural/structural.js';
import type { TypeGraph } from './graph.js';

/** Wire scalars; everything else in `FieldDeclaration.type` is the key of another type. */
export const SCALAR_TYPES = [
  'string',
  'bool',
  'int32',
  'int64',
  'double',
  'bytes',
  'time',
  'microTime',
  'duration',
  'quantity',
  'intOrString',
  'rawJSON',
] as const;
export type ScalarType = (typeof SCALAR_TYPES)[number];

/** What is said of a custom kind, beside what every object has. */
export interface CustomDeclaration {
  /** What its objects are; read when it is first asked for. */
  readonly schema: () => Structural;
  /** The schema as it was written, read anew at each call: for documents. */
  readonly json: () => Readonly<Record<string, unknown>>;
}

/** Rules for one value. Messages are the ones that clients know; `detail` and `why` are part of them. */
export interface ValueCheck {
  /** Must be there and not be empty; a text is the detail of the problem. */
  readonly required?: true | string;
  /** Values that are allowed, in the order in which messages list them. */
  readonly enum?: readonly string[];
  /** Name of a rule for texts, e.g. `dns1123-label`. */
  readonly rule?: string;
  /** Bounds of a number, both inclusive. */
  readonly min?: number;
  readonly max?: number;
  /** The problem of a value that is out of bounds; needed where it is not one of the usual ones. */
  readonly why?: string;
  /** Of a text. */
  readonly maxBytes?: number;
  /** `count`: a number that is not negative, or a share such as `25%`; `share`: the same, of at most 100%. */
  readonly form?:
    | 'port'
    | 'portOrName'
    | 'count'
    | 'share'
    | 'labels'
    | 'annotations'
    | 'driver'
    | 'notNegativeQuantity'
    | 'plainQuantity'
    | 'positiveQuantity';
}

/** Rules for a field. An absent value counts as the zero of its type, or, where it is nullable, breaks no rule. */
export interface FieldCheck extends ValueCheck {
  /**
   * Whether rules are asked of an empty text, and of a value that is absent. They are of fields that are always written
   * or nullable, if this does not say otherwise: of a field that has a default, say.
   */
  readonly empty?: 'asked' | 'skipped';
  readonly maxItems?: number;
  /** `*` stands for all items and is the only one then; the text is what messages call the items. */
  readonly alone?: string;
  /** `list`: problems of items are reported at the list. */
  readonly items?: ValueCheck & { readonly at?: 'list' };
  /**
   * The member of an item that no two items share; '' for the items themselves. Empty ones are passed over, unless
   * `empty` says otherwise.
   */
  readonly unique?: string;
  /** Stays what it was at first. */
  readonly immutable?: true;
}

/** Members of which exactly one must be there. */
export interface OneOfDeclaration {
  /** Absent: all members of the type but these. */
  readonly members?: readonly string[];
  readonly except?: readonly string[];
  /** The problem when none is there. */
  readonly none: string;
  /** The problem of the second and each further one. */
  readonly more: string;
}

/** One field of a declared type. Built-in and custom types share this form. */
export interface FieldDeclaration {
  readonly name: string;
  /** A scalar or the key of a type, e.g. `core/v1.PodSpec`. */
  readonly type: string;
  readonly list?: true;
  /** Map with string keys. */
  readonly map?: true;
  /** Members are merged into the parent object. */
  readonly inline?: true;
  readonly required?: boolean;
  readonly nullable?: true;
  readonly alwaysEmit?: true;
  readonly proto?: number;
  readonly protoName?: string;
  readonly protoType?: string;
  readonly enum?: readonly string[];
  readonly known?: readonly string[];
  readonly default?: unknown;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'granular' | 'atomic';
  readonly structType?: 'granular' | 'atomic';
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly patchRetainKeys?: true;
  readonly gate?: string;
  readonly removedIn?: string;
  readonly jsonHidden?: true;
  /**
   * Several are asked one after the other, whatever came of those before. `none`: nothing in the field is checked, its
   * type's fields neither.
   */
  readonly check?: FieldCheck | readonly FieldCheck[] | 'none';
  /** Rules for members of the value in this place; of an inlined field, in place of those of its type. */
  readonly within?: Readonly<Record<string, FieldCheck>>;
}

/** Members of which at most one is set. */
export interface UnionDeclaration {
  /** The member that tells which one is. */
  readonly discriminator?: string;
  /** By member: the value of the discriminator. */
  readonly fields: Readonly<Record<string, string>>;
}

/** A declared type, keyed `<group or core>/<version>.<Kind>`. */
export interface TypeDeclaration {
  readonly fields?: readonly FieldDeclaration[];
  /** Carries apiVersion and kind. */
  readonly kind?: true;
  /** A special JSON form: this type is written like that scalar. */
  readonly scalar?: ScalarType;
  /** A named list; the element's type. */
  readonly listOf?: string;
  readonly structType?: 'granular' | 'atomic';
  readonly union?: readonly UnionDeclaration[];
  readonly oneOf?: OneOfDeclaration;
  /** Fields that are checked before the others. */
  readonly checkedFirst?: readonly string[];
  /** The JSON form in a few words, where it differs from the wire form. */
  readonly json?: string;
  readonly jsonForm?: string;
  /** Its objects have members beside `fields`, as a schema says. */
  readonly custom?: CustomDeclaration;
}

export type ResourceVerb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export interface SubresourceDeclaration {
  /** e.g. `status` */
  readonly name: string;
  readonly kind: string;
  /** Where the sub-resource's kind is of another group version than its parent. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly ResourceVerb[];
  readonly introduced?: string;
  readonly removed?: string;
  readonly gate?: string;
}

/** One resource in one group version. */
export interface ResourceDeclaration {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural of the path, e.g. `configmaps`. */
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  /** e.g. `ConfigMapList` */
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly ResourceVerb[];
  readonly subresources: readonly SubresourceDeclaration[];
  /** Stands for an operation; nothing is stored. */
  readonly virtual: boolean;
  /** Key of the type declaration. */
  readonly type: string;
  /** The group version that objects are stored in (another group's for events). */
  readonly storage: { readonly group: string; readonly version: string };
  /** Releases, `major.minor`. */
  readonly introduced?: string;
  readonly deprecated?: string;
  readonly removed?: string;
  /** `<group>/<version>` to use instead of a deprecated one. */
  readonly replacement?: string;
  readonly servedByDefault: boolean;
  /** Field-selector keys: key -> path of the value in this version's object, as a function would read it. */
  readonly selectableFields: readonly SelectableField[];
  /** Absent: objects are shown by name and age alone. */
  readonly table?: TableDeclaration;
  readonly nameRule: string;
  /** Longest name where the kind has a bound of its own. */
  readonly nameMax?: number;
  /** Finalizers that may stand without a domain; absent: the two that the server itself acts on. */
  readonly bareFinalizers?: 'any';
  /** PUT without resourceVersion is allowed. */
  readonly unconditionalUpdate: boolean;
  /** PUT of an object that does not exist creates it. */
  readonly createOnUpdate: boolean;
  /** Where replicas stand in an object, if elsewhere than in `spec.replicas` and `status.replicas`. */
  readonly scale?: ScalePaths;
  /** Told to whoever asks for this version. */
  readonly warning?: string;
}

/** Paths of members, from an object to its number of replicas. */
export interface ScalePaths {
  readonly wanted: readonly string[];
  readonly present: readonly string[];
  /** A label selector in its text form; undefined: none is known. */
  readonly selector: readonly string[] | undefined;
}

/** One column of the table that clients print objects in. */
export interface ColumnDeclaration {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** The format of a string, e.g. `name` for the object's own. */
  readonly format?: string;
  /** 0, or absent, is always shown; higher ones only where there is room. */
  readonly priority?: number;
  readonly description: string;
  /** Where the values stand in an object of the STORAGE version, e.g. `spec.containers[*].name`. */
  readonly path?: string | readonly string[];
  /** The same, as definitions of custom resources have it: a path that others wrote. */
  readonly jsonPath?: string;
  /** Name of the function that makes the cell of them; absent: the first value that is there is the cell. */
  readonly show?: string;
  /** Further arguments of that function. */
  readonly args?: readonly string[];
  /** The cell where there is nothing to show; absent: the zero of the type. */
  readonly or?: string | number | boolean | null;
}

/** How objects of a resource are shown as a table. */
export interface TableDeclaration {
  readonly columns: readonly ColumnDeclaration[];
  /** Name of the function that tells conditions of a row. */
  readonly conditions?: string;
}

export interface SelectableField {
  /** As written in a selector of this version, e.g. `involvedObject.name`. */
  readonly key: string;
  /**
   * Reads the value from an object in the STORAGE version; the first path that yields something counts. Empty: the key
   * is accepted and never has a value.
   */
  readonly paths: readonly (readonly string[])[];
  /** The value that stands for an absent one, e.g. `false` for booleans. */
  readonly absent: string;
}

/** Every built-in type and resource, in one vocabulary, as of the product's release. */
export interface Catalog {
  readonly types: TypeGraph;
  readonly resources: readonly ResourceDeclaration[];
}
