import { labelValue, qualifiedName } from '../meta/metadata.js';
import type { StatusError } from '../meta/status.js';
import { badRequest } from '../meta/status.js';

export type Labels = Readonly<Record<string, string>> | undefined;

/** Operators by meaning: `=` and `==` are `in` with one value, `!=` is `notin` with one. */
export type Operator = 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  /** Sorted, each once. One for `gt` and `lt`, none for `exists` and `!`. */
  readonly values: readonly string[];
  readonly matches: (labels: Labels) => boolean;
  /** As a selector would write it; equal for requirements that mean the same. */
  readonly text: string;
}

/** Makes of a key and its values the test that an operator stands for. */
type Compiler = (key: string, values: readonly string[]) => Requirement['matches'];

/*
 * Labels are read without asking whether the member is an own one: what objects inherit (`constructor`, `__proto__`) is
 * never a string.
 */
const COMPILERS: Readonly<Record<Operator, Compiler>> = {
  in: (key, values) => {
    const [only] = values;
    if (values.length === 1) return (labels) => labels !== undefined && labels[key] === only;
    const set: ReadonlySet<unknown> = new Set(values);
    return (labels) => labels !== undefined && set.has(labels[key]);
  },
  notin: (key, values) => {
    const set: ReadonlySet<unknown> = new Set(values);
    return (labels) => labels === undefined || !set.has(labels[key]);
  },
  exists: (key) => (labels) => labels !== undefined && typeof labels[key] === 'string',
  '!': (key) => (labels) => labels === undefined || typeof labels[key] !== 'string',
  gt: compare((label, value) => label > value),
  lt: compare((label, value) => label < value),
};

function compare(holds: (label: bigint, value: bigint) => boolean): Compiler {
  return (key, [text = '']) => {
    const value = int64(text) ?? 0n; // checked before
    return (labels) => {
      const found: unknown = labels?.[key];
      const label = typeof found === 'string' ? int64(found) : undefined;
      return label !== undefined && holds(label, value);
    };
  };
}

const INT64_LIMIT = 2n ** 63n;

function int64(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,63}$/.test(text)) return undefined;
  const n = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return n >= -INT64_LIMIT && n < INT64_LIMIT ? n : undefined;
}

const SHOWN = 256;
const shown = (text: string): string => JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text);
const invalidValue = (path: string, value: string, why: string): StatusError =>
  badRequest(`unable to parse requirement: ${path}: Invalid value: ${value}: ${why}`);

/** @throws {StatusError} BadRequest. The path is what clients are used to see there. */
export function checkKey(key: string): void {
  const problems = qualifiedName(key);
  if (problems.length > 0) throw invalidValue('<nil>', shown(key), problems.join('; '));
}

/** @throws {StatusError} BadRequest for values that the operator cannot take, or that no label can have. */
export function requirement(key: string, operator: Operator, given: readonly string[]): Requirement {
  checkKey(key);
  const values = [...new Set(given)].sort();
  if ((operator === 'in' || operator === 'notin') && values.length === 0) {
    throw invalidValue('values', '[]', "for 'in', 'notin' operators, values set can't be empty");
  }
  if ((operator === 'exists' || operator === '!') && values.length > 0) {
    throw invalidValue(
      'values',
      JSON.stringify(values).slice(0, SHOWN),
      'values set must be empty for exists and does not exist',
    );
  }
  const isComparison = operator === 'gt' || operator === 'lt';
  values.forEach((value, i) => {
    if (isComparison && int64(value) === undefined) {
      throw invalidValue(`values[${i}]`, shown(value), "for 'Gt', 'Lt' operators, the value must be an integer");
    }
    const problems = labelValue(value);
    if (problems.length > 0) throw invalidValue(`values[${i}][${key}]`, shown(value), problems.join('; '));
  });
  return { key, operator, values, matches: COMPILERS[operator](key, values), text: written(key, operator, values) };
}

function written(key: string, operator: Operator, values: readonly string[]): string {
  const list = values.join(',');
  const isOne = values.length === 1;
  const forms: Readonly<Record<Operator, string>> = {
    in: isOne ? `${key}=${list}` : `${key} in (${list})`,
    notin: isOne ? `${key}!=${list}` : `${key} notin (${list})`,
    exists: key,
    '!': `!${key}`,
    gt: `${key}>${list}`,
    lt: `${key}<${list}`,
  };
  return forms[operator];
}
