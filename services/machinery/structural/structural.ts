import type { Pattern } from './pattern.js';

export type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

/** A rule in the expression language that has to hold of a value, `self`. */
export interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** What is asked of a value beside what it is. Numbers are as the schema has them; lengths count characters. */
export interface Checks {
  readonly enum: readonly unknown[];
  readonly format: string;
  readonly pattern: Pattern | undefined;
  readonly maximum: number | undefined;
  readonly exclusiveMaximum: boolean;
  readonly minimum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly multipleOf: number | undefined;
  readonly maxLength: number | undefined;
  readonly minLength: number | undefined;
  readonly maxItems: number | undefined;
  readonly minItems: number | undefined;
  readonly maxProperties: number | undefined;
  readonly minProperties: number | undefined;
  readonly required: readonly string[];
  readonly allOf: readonly Structural[];
  readonly anyOf: readonly Structural[];
  readonly oneOf: readonly Structural[];
  readonly not: Structural | undefined;
}

/**
 * A schema of custom objects, read: it says of each value what it is (type, members, items), so that what it does not
 * know can be told from what it does. Those inside `allOf` and the like say only what is asked of values.
 */
export interface Structural {
  /** Undefined: any, or an integer or a string where `intOrString`. */
  readonly type: SchemaType | undefined;
  readonly intOrString: boolean;
  /** Members that it does not know are kept. */
  readonly preserves: boolean;
  /** An object with apiVersion, kind and metadata, whatever else is said of it. */
  readonly embedded: boolean;
  /** null is a value of its own. */
  readonly nullable: boolean;
  readonly properties: ReadonlyMap<string, Structural>;
  /** Of members that have no schema of their own. `true`: anything. */
  readonly additional: Structural | boolean | undefined;
  readonly items: Structural | undefined;
  readonly listType: 'atomic' | 'set' | 'map' | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: 'granular' | 'atomic' | undefined;
  /** JSON, never to be handed out: who takes it copies it. Undefined: there is none. */
  readonly default: unknown;
  /** Undefined where nothing is asked. */
  readonly checks: Checks | undefined;
  readonly rules: readonly Rule[];
  /** Whether there is a default here or below: others need no walk. */
  readonly hasDefaults: boolean;
}

/** The members of every object, which no schema prunes at the root and in embedded objects. */
export const IDENTITY_MEMBERS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);
