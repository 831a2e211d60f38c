import { field, type FieldError } from '../meta/status.js';
import { isKnownFormat } from './formats.js';
import type { SchemaType, Structural } from './structural.js';

/** The format of a schema where it says something of values of its type, else ''. */
export function formatOf({ type, intOrString, checks }: Structural): string {
  const format = checks?.format ?? '';
  return format !== '' && isKnownFormat(format, intOrString ? '' : (type ?? '')) ? format : '';
}

type JsonType = SchemaType | 'null';

function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  const type = typeof value;
  return type === 'string' || type === 'boolean' ? type : 'object';
}

/** What numbers are called where a format is asked of them. */
const NUMBER_FORMATS: Partial<Record<JsonType, string>> = { integer: 'int64', number: 'float64' };

/** What is wrong with the JSON type of a value, if anything. */
export function typeProblem(value: unknown, schema: Structural, path: string): FieldError | undefined {
  const wanted: readonly SchemaType[] = schema.intOrString
    ? ['integer', 'string']
    : schema.type === undefined
      ? []
      : [schema.type];
  const got = jsonTypeOf(value);
  if (got === 'null')
    return wanted.length === 0 || schema.nullable ? undefined : wrongType(path, wanted.join(','), got);
  const format = formatOf(schema);
  if (wanted.length === 0 && format === '') return undefined;
  const fits = isOneOf(got, wanted);
  const isText = got === 'string' || got === 'array';
  if (format !== '' && !isText && !fits) return wrongType(path, format, NUMBER_FORMATS[got] ?? '');
  // The check of a format looks at texts only, and a list passes for one: so do other servers.
  if (format !== '' && isText && !wanted.some((type) => type === 'integer' || type === 'number')) return undefined;
  return fits ? undefined : wrongType(path, wanted.join(','), got);
}

/** Integers are numbers, too. */
const isOneOf = (got: JsonType, wanted: readonly SchemaType[]): boolean =>
  wanted.some((type) => type === got || (type === 'number' && got === 'integer'));

export const wrongType = (path: string, wanted: string, got: string): FieldError =>
  field.typeInvalid(path, got, `${path} in body must be of type ${wanted}: ${JSON.stringify(got)}`);
