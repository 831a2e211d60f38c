import { getOwn, isJsonObject, jsonEqual } from '../meta/own.js';
import { field, type FieldError } from '../meta/status.js';
import { checkNumber, checkText } from './check-scalars.js';
import { typeProblem } from './check-type.js';
import { atNoPlace, Findings, MOST_PROBLEMS } from './findings.js';
import { correlatedItem } from './list-keys.js';
import type { Checks, Structural } from './structural.js';

/** The present value at the same place; undefined where there is none that can be told to be the same. */
export interface Before {
  readonly value: unknown;
}

/**
 * Asks of an object what its schema asks of values. What did not change since before breaks no rule, however old the
 * object is and whatever the schema says today.
 *
 * @param before The stored object, on an update.
 * @returns The problems in the order of the schema, 1,000 at most.
 */
export function validate(object: unknown, schema: Structural, before?: unknown): FieldError[] {
  const findings = new Findings();
  check({ value: object, schema, path: '', before: before === undefined ? undefined : { value: before } }, findings);
  return findings.problems.slice(0, MOST_PROBLEMS);
}

interface Place {
  readonly value: unknown;
  readonly schema: Structural;
  /** e.g. `spec.list[0].name`; '' for the object itself. */
  readonly path: string;
  readonly before: Before | undefined;
}

const quoted = (path: string): string => JSON.stringify(path);

function check(place: Place, out: Findings): void {
  const found = new Findings();
  checkValue(place, found);
  const { before, value } = place;
  if (found.problems.length > 0 && before !== undefined && jsonEqual(before.value, value)) found.problems.length = 0;
  out.take(found);
}

function checkValue(place: Place, out: Findings): void {
  const { value, schema, path } = place;
  const problem = typeProblem(value, schema, path);
  if (problem === undefined) out.asked++;
  else out.problems.push(problem);
  const { checks } = schema;
  if (value !== null) {
    if (checks !== undefined) checkCombined(place, checks, out);
    if (typeof value === 'string') checkText(value, schema, path, out);
    else if (typeof value === 'number') checkNumber(value, schema, path, out);
    else if (Array.isArray(value)) checkItems(place, value, out);
    else if (isJsonObject(value)) checkMembers(place, value, out);
  }
  if (checks !== undefined && checks.enum.length > 0 && !checks.enum.some((it) => jsonEqual(it, value))) {
    out.problems.push(field.notSupported(path, value, checks.enum.map(enumText)));
  }
}

const enumText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function findingsOf(place: Place, schema: Structural): Findings {
  const findings = new Findings();
  check({ ...place, schema }, findings);
  return findings;
}

const isRight = ({ problems }: Findings): boolean => problems.length === 0;

/** Of several that are wrong, the one of which most was asked. */
const closest = (all: readonly Findings[]): Findings | undefined =>
  all.reduce<Findings | undefined>((best, it) => (best === undefined || it.asked > best.asked ? it : best), undefined);

function checkCombined(place: Place, { anyOf, oneOf, allOf, not }: Checks, out: Findings): void {
  out.asked++;
  const { path } = place;
  if (anyOf.length > 0) {
    const all = anyOf.map((schema) => findingsOf(place, schema));
    const right = all.find(isRight);
    if (right === undefined) out.problems.push(atNoPlace(`${quoted(path)} must validate at least one schema (anyOf)`));
    take(out, right ?? closest(all));
  }
  if (oneOf.length > 0) checkOneOf(place, oneOf, out);
  if (allOf.length > 0) {
    const all = allOf.map((schema) => findingsOf(place, schema));
    for (const it of all) out.take(it);
    const right = all.filter(isRight).length;
    if (right < all.length) {
      const none = right === 0 ? '. None validated' : '';
      out.problems.push(atNoPlace(`${quoted(path)} must validate all the schemas (allOf)${none}`));
    }
  }
  if (not !== undefined && isRight(findingsOf(place, not))) {
    out.problems.push(atNoPlace(`${quoted(path)} must not validate the schema (not)`));
  }
}

function checkOneOf(place: Place, oneOf: readonly Structural[], out: Findings): void {
  const all = oneOf.map((schema) => findingsOf(place, schema));
  const right = all.filter(isRight);
  if (right.length === 1) {
    take(out, right[0]);
    return;
  }
  const why = right.length === 0 ? 'Found none valid' : `Found ${right.length} valid alternatives`;
  out.problems.push(atNoPlace(`${quoted(place.path)} must validate one and only one schema (oneOf). ${why}`));
  if (right.length === 0) take(out, closest(all));
}

function take(out: Findings, findings: Findings | undefined): void {
  if (findings !== undefined) out.take(findings);
}

function checkItems({ schema, path, before }: Place, value: readonly unknown[], out: Findings): void {
  const { items, checks } = schema;
  if (items !== undefined) {
    for (const [i, item] of value.entries()) {
      check({ value: item, schema: items, path: `${path}[${i}]`, before: correlatedItem(schema, item, before) }, out);
    }
  }
  const { minItems, maxItems } = checks ?? {};
  if (minItems !== undefined && value.length < minItems) {
    out.problems.push(field.invalid(path, value.length, `${path} in body should have at least ${minItems} items`));
  }
  if (maxItems !== undefined && value.length > maxItems) {
    out.problems.push(field.tooMany(path, value.length, maxItems));
  }
  out.asked++;
}

function checkMembers(place: Place, value: Record<string, unknown>, out: Findings): void {
  const { schema, path } = place;
  const names = Object.keys(value);
  checkCount(names.length, schema.checks, path, out);
  for (const name of names) {
    const property = schema.properties.get(name);
    const { additional } = schema;
    if (property !== undefined || typeof additional === 'object') {
      const known = property ?? (additional as Structural);
      check({ value: value[name], schema: known, path: joined(path, name), before: memberBefore(place, name) }, out);
    } else if (additional === false) {
      out.problems.push(field.invalid(path, name, `${path}.${name} in body is a forbidden property`));
    }
  }
  for (const name of schema.checks?.required ?? []) {
    if (!Object.hasOwn(value, name)) out.problems.push(field.required(joined(path, name)));
  }
}

function checkCount(count: number, checks: Checks | undefined, path: string, out: Findings): void {
  const { minProperties, maxProperties } = checks ?? {};
  if (minProperties !== undefined && count < minProperties) {
    out.problems.push(field.invalid(path, count, `${path} in body should have at least ${minProperties} properties`));
  }
  if (maxProperties !== undefined && count > maxProperties) {
    out.problems.push(field.tooMany(path, count, maxProperties));
  }
}

const joined = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** What the identity of an object was does not count: versions are converted before they are compared. */
function memberBefore({ before, path }: Place, name: string): Before | undefined {
  if (!isJsonObject(before?.value) || !Object.hasOwn(before.value, name)) return undefined;
  if (path === '' && (name === 'kind' || name === 'apiVersion')) return undefined;
  return { value: getOwn(before.value, name) };
}
