import { field, type FieldError } from '../meta/status.js';
import { formatOf, wrongType } from './check-type.js';
import { atNoPlace, type Findings } from './findings.js';
import { isOfFormat } from './formats.js';
import type { Checks, Structural } from './structural.js';

/** Longest text that is shown, in characters. */
const MOST_SHOWN = 4096;
const cut = (text: string): string => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}...` : text);

/** Code points, as lengths in schemas count. */
const lengthOf = (text: string): number => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

/** Length, then pattern: the first that is wrong is told, and the format. */
export function checkText(text: string, schema: Structural, path: string, out: Findings): void {
  const problem = schema.checks === undefined ? undefined : textProblem(text, schema.checks, path);
  if (problem !== undefined) out.problems.push(problem);
  const format = formatOf(schema);
  if (format !== '' && !isOfFormat(format, text)) out.problems.push(wrongType(path, format, cut(text)));
}

function textProblem(text: string, { maxLength, minLength, pattern }: Checks, path: string): FieldError | undefined {
  // No text has more code points than units.
  if (maxLength !== undefined && text.length > maxLength && lengthOf(text) > maxLength) {
    return field.tooLong(path, maxLength);
  }
  if (minLength !== undefined && (text.length < minLength || lengthOf(text) < minLength)) {
    return field.invalid(path, cut(text), `${path} in body should be at least ${minLength} chars long`);
  }
  if (pattern === undefined || pattern.test(text)) return undefined;
  return field.invalid(path, cut(text), `${path} in body should match '${pattern.source}'`);
}

/** Bounds of formats, both inclusive. Integers beyond 2^53 do not get here. */
const RANGES: ReadonlyMap<string, readonly [least: number, most: number]> = new Map([
  ['int32', [-(2 ** 31), 2 ** 31 - 1]],
  ['float', [-3.402_823_466_385_288_6e38, 3.402_823_466_385_288_6e38]],
]);

export function checkNumber(value: number, schema: Structural, path: string, out: Findings): void {
  const format = formatOf(schema);
  const [least, most] = RANGES.get(format) ?? [-Infinity, Infinity];
  if (value < least || value > most) {
    out.problems.push(atNoPlace(`Checked value must be of type ${schema.type ?? ''} with format ${format} in ${path}`));
  }
  if (schema.checks !== undefined) checkBounds(value, schema.checks, path, out);
  out.asked++;
}

function checkBounds(value: number, checks: Checks, path: string, out: Findings): void {
  const { multipleOf, minimum, exclusiveMinimum, maximum, exclusiveMaximum } = checks;
  const wrong = (why: string): void => {
    out.problems.push(field.invalid(path, value, `${path} in body should be ${why}`));
  };
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) wrong(`a multiple of ${multipleOf}`);
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    wrong(`greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`);
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    wrong(`less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`);
  }
}

/** Numbers this close to an integer count as one: 0.3 is a multiple of 0.1. */
const EPSILON = 1e-9;

function isMultiple(value: number, factor: number): boolean {
  if (factor <= 0) return false;
  if (Number.isInteger(value) && Number.isInteger(factor)) return value % factor === 0;
  const times = factor < 1 ? (1 / factor) * value : value / factor;
  const distance = Math.abs(times - Math.round(times));
  return distance < EPSILON || distance < EPSILON * Math.abs(times);
}
