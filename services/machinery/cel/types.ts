/** Types without parts. `error` is that of an expression that is wrong and was told of. */
export const SIMPLE_TYPES = [
  'dyn',
  'null_type',
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'timestamp',
  'duration',
  'type',
] as const;
export type SimpleType = (typeof SIMPLE_TYPES)[number];

export type CelType =
  | { readonly kind: 'simple'; readonly name: SimpleType }
  | { readonly kind: 'list'; readonly item: CelType }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType }
  | { readonly kind: 'optional'; readonly of: CelType }
  | ObjectType
  /** A value with functions of its own, e.g. `kubernetes.Quantity`. */
  | { readonly kind: 'opaque'; readonly name: string }
  /** Stands for any type, the same in all of a signature. */
  | { readonly kind: 'parameter'; readonly name: string };

/** An object of which the members are known. */
export interface ObjectType {
  readonly kind: 'object';
  readonly name: string;
  /** By the names that expressions use. */
  readonly fields: () => ReadonlyMap<string, CelType>;
}

const simple = new Map<string, CelType>(SIMPLE_TYPES.map((name) => [name, { kind: 'simple', name }]));
const known = (name: SimpleType): CelType => simple.get(name) ?? { kind: 'simple', name };

export const DYN = known('dyn');
/** What is in an empty list: anything, until something else tells more. Only `joinedType` tells it from `DYN`. */
export const UNKNOWN: CelType = { kind: 'simple', name: 'dyn' };
export const NULL = known('null_type');
export const BOOL = known('bool');
export const INT = known('int');
export const UINT = known('uint');
export const DOUBLE = known('double');
export const STRING = known('string');
export const BYTES = known('bytes');
export const TIMESTAMP = known('timestamp');
export const DURATION = known('duration');
export const TYPE = known('type');
export const listOf = (item: CelType): CelType => ({ kind: 'list', item });
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: 'map', key, value });
export const optionalOf = (of: CelType): CelType => ({ kind: 'optional', of });

export const isDyn = (type: CelType): boolean => type.kind === 'simple' && type.name === 'dyn';

/** As messages have it: `list(int)`, `map(string, dyn)`. */
export function typeText(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${typeText(type.item)})`;
    case 'map':
      return `map(${typeText(type.key)}, ${typeText(type.value)})`;
    case 'optional':
      return `optional_type(${typeText(type.of)})`;
    default:
      return type.name;
  }
}

/** Reads `list<T>`, `map<string, dyn>`, `optional<T>`, `kubernetes.Quantity`; capitals alone are parameters. */
export function readType(text: string): CelType {
  const name = text.trim();
  const parts = /^(\w+)<(.*)>$/.exec(name);
  if (parts === null) {
    const found = simple.get(name);
    if (found !== undefined) return found;
    return /^[A-Z]$/.test(name) ? { kind: 'parameter', name } : { kind: 'opaque', name };
  }
  const [, outer = '', inner = ''] = parts;
  if (outer === 'list') return listOf(readType(inner));
  if (outer === 'optional') return optionalOf(readType(inner));
  const [key = '', value = ''] = splitTypes(inner);
  return mapOf(readType(key), readType(value));
}

/** At commas that are not inside of a type. */
export function splitTypes(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (const [i, character] of Array.from(text).entries()) {
    if (character === '<') depth++;
    else if (character === '>') depth--;
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  return text.trim() === '' ? [] : [...parts, text.slice(from)];
}

/** Types that parameters stand for in one call. */
export type Bindings = Map<string, CelType>;

/** Whether a value of type `given` can be where `wanted` is; parameters of `wanted` are bound on the way. */
export function fits(wanted: CelType, given: CelType, bindings: Bindings): boolean {
  if (wanted.kind === 'parameter') return bind(wanted.name, given, bindings);
  if (isDyn(wanted) || isDyn(given) || given.kind === 'parameter') return true;
  if (given.kind === 'simple' && given.name === 'null_type' && mayBeNull(wanted)) return true;
  switch (wanted.kind) {
    case 'simple':
      return given.kind === 'simple' && given.name === wanted.name;
    case 'list':
      return given.kind === 'list' && fits(wanted.item, given.item, bindings);
    case 'map':
      if (given.kind === 'object') return fits(wanted.key, STRING, bindings) && fits(wanted.value, DYN, bindings);
      return given.kind === 'map' && fits(wanted.key, given.key, bindings) && fits(wanted.value, given.value, bindings);
    case 'optional':
      return given.kind === 'optional' && fits(wanted.of, given.of, bindings);
    default:
      return (given.kind === 'opaque' || given.kind === 'object') && given.name === wanted.name;
  }
}

/** Objects, times and values of libraries; other types are never null. */
const mayBeNull = (type: CelType): boolean =>
  type.kind === 'simple' ? ['null_type', 'timestamp', 'duration'].includes(type.name) : MAY_BE_NULL.has(type.kind);
const MAY_BE_NULL: ReadonlySet<CelType['kind']> = new Set(['object', 'opaque', 'optional']);

function bind(name: string, given: CelType, bindings: Bindings): boolean {
  const bound = bindings.get(name);
  if (bound === undefined || isDyn(bound)) {
    bindings.set(name, given);
    return true;
  }
  if (isDyn(given) || fits(bound, given, bindings)) return true;
  if (!fits(given, bound, bindings)) return false;
  bindings.set(name, given); // the wider of the two
  return true;
}

/** The type with what its parameters stand for; those that nothing was bound to are anything. */
export function resolved(type: CelType, bindings: Bindings): CelType {
  switch (type.kind) {
    case 'parameter':
      return bindings.get(type.name) ?? UNKNOWN;
    case 'list':
      return listOf(resolved(type.item, bindings));
    case 'map':
      return mapOf(resolved(type.key, bindings), resolved(type.value, bindings));
    case 'optional':
      return optionalOf(resolved(type.of, bindings));
    default:
      return type;
  }
}

/** The type that values of both have; undefined where there is none. */
export function joinedType(a: CelType, b: CelType): CelType | undefined {
  if (a === UNKNOWN || b === UNKNOWN) return a === UNKNOWN ? b : a;
  if (isDyn(a) || isDyn(b)) return DYN;
  if (a.kind === 'list' && b.kind === 'list') return joinedParts([a.item], [b.item], ([item = DYN]) => listOf(item));
  if (a.kind === 'optional' && b.kind === 'optional')
    return joinedParts([a.of], [b.of], ([of = DYN]) => optionalOf(of));
  if (a.kind === 'map' && b.kind === 'map') {
    return joinedParts([a.key, a.value], [b.key, b.value], ([key = DYN, value = DYN]) => mapOf(key, value));
  }
  if (fits(a, b, new Map())) return a;
  return fits(b, a, new Map()) ? b : undefined;
}

function joinedParts(
  a: readonly CelType[],
  b: readonly CelType[],
  whole: (parts: readonly CelType[]) => CelType,
): CelType | undefined {
  const parts = a.flatMap((part, i) => joinedType(part, b[i] ?? DYN) ?? []);
  return parts.length === a.length ? whole(parts) : undefined;
}
