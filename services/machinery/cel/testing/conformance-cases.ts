import { createRequire } from 'node:module';
import { parseDuration, parseTimestamp } from '../libraries/times.js';
import * as types from '../types.js';
import type { CelType } from '../types.js';
import { CelMap, Duration, Timestamp, TypeValue, Uint, type Value } from '../values.js';

/** A value of the conformance data: `cel.expr.Value` in the JSON of Protobuf. */
export interface ValueJson {
  readonly [kind: string]: unknown;
}

/** A type of the conformance data: `cel.expr.Type` in the JSON of Protobuf. */
export interface TypeJson {
  readonly [kind: string]: unknown;
}

/** As much of `cel.expr.conformance.test.SimpleTest` as is looked at. */
export interface ConformanceCase {
  readonly name: string;
  readonly expr: string;
  readonly value?: ValueJson;
  readonly evalError?: unknown;
  readonly disableCheck?: boolean;
  readonly checkOnly?: boolean;
  readonly container?: string;
  readonly typeEnv?: readonly {
    readonly name: string;
    readonly ident?: { readonly type: TypeJson };
    readonly function?: unknown;
  }[];
  readonly bindings?: Readonly<Record<string, { readonly value: ValueJson }>>;
  readonly typedResult?: { readonly result?: ValueJson; readonly deducedType?: TypeJson };
}

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: ConformanceCase; readonly error?: string }[];
}

/** A case, by the file and the section in which it stands. */
export interface Placed {
  readonly file: string;
  readonly section: string;
  readonly it: ConformanceCase;
}

const require = createRequire(import.meta.url);

const load = (name: string): Suite =>
  (require(`@bufbuild/cel-spec/testdata/${name}.js`) as { readonly tests: Suite }).tests;

/** All that the specification of the language brings. */
export const conformanceCases = (): Placed[] =>
  (load('conformance').suites ?? []).flatMap((file) =>
    (file.suites ?? []).flatMap((section) =>
      (section.tests ?? []).map(({ original }) => ({ file: file.name, section: section.name, it: original })),
    ),
  );

interface ReferenceCase {
  readonly expr: string;
  readonly error: string | undefined;
}

/** Expressions of the reference implementation's own tests, and what it says of those that are wrong. */
export const referenceCases = (about: 'parsing' | 'comprehension'): ReferenceCase[] =>
  (load(about).tests ?? []).map(({ original: { expr }, error }) => ({ expr, error }));

type Made = (json: never) => Value;

const OBJECTS: ReadonlyMap<string, (text: string) => Value> = new Map<string, (text: string) => Value>([
  ['type.googleapis.com/google.protobuf.Duration', (text) => new Duration(parseDuration(text))],
  ['type.googleapis.com/google.protobuf.Timestamp', (text) => new Timestamp(parseTimestamp(text))],
]);

interface ObjectJson {
  readonly '@type': string;
  readonly value: string;
}

const VALUES: Readonly<Record<string, Made>> = {
  nullValue: () => null,
  boolValue: (json: boolean) => json,
  int64Value: (json: string) => BigInt(json),
  uint64Value: (json: string) => new Uint(BigInt(json)),
  doubleValue: (json: string | number) => Number(json),
  stringValue: (json: string) => json,
  bytesValue: (json: string) => Buffer.from(json, 'base64'),
  typeValue: (json: string) => new TypeValue(json),
  listValue: ({ values = [] }: { values?: ValueJson[] }) => values.map(valueOf),
  mapValue: ({ entries = [] }: { entries?: { key: ValueJson; value: ValueJson }[] }) =>
    CelMap.of(entries.map(({ key, value }) => [valueOf(key), valueOf(value)] as const)),
  objectValue: (json: ObjectJson) => OBJECTS.get(json['@type'])?.(json.value) ?? null,
};

/** @throws For a value that the language of this engine does not have. */
export function valueOf(json: ValueJson): Value {
  const [kind = '', inner] = Object.entries(json)[0] ?? [];
  const made = VALUES[kind];
  if (made === undefined) throw new Error(`No value: ${JSON.stringify(json)}`);
  return made(inner as never);
}

const PRIMITIVES: Readonly<Record<string, CelType>> = {
  BOOL: types.BOOL,
  INT64: types.INT,
  UINT64: types.UINT,
  DOUBLE: types.DOUBLE,
  STRING: types.STRING,
  BYTES: types.BYTES,
};
const WELL_KNOWN: Readonly<Record<string, CelType>> = { TIMESTAMP: types.TIMESTAMP, DURATION: types.DURATION };

const TYPES: Readonly<Record<string, (json: never) => CelType | undefined>> = {
  primitive: (json: string) => PRIMITIVES[json],
  wellKnown: (json: string) => WELL_KNOWN[json],
  dyn: () => types.DYN,
  null: () => types.NULL,
  listType: ({ elemType }: { elemType: TypeJson }) => types.listOf(typeOf(elemType)),
  mapType: ({ keyType, valueType }: { keyType: TypeJson; valueType: TypeJson }) =>
    types.mapOf(typeOf(keyType), typeOf(valueType)),
  abstractType: ({ parameterTypes: [of] }: { parameterTypes: TypeJson[] }) => types.optionalOf(typeOf(of ?? {})),
};

/** @throws For a type that the language of this engine does not have. */
export function typeOf(json: TypeJson): CelType {
  const [kind = '', inner] = Object.entries(json)[0] ?? [];
  const made = TYPES[kind]?.(inner as never);
  if (made === undefined) throw new Error(`No type: ${JSON.stringify(json)}`);
  return made;
}
