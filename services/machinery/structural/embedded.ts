import { dns1035Label, validateMetadata } from '../meta/metadata.js';
import { getOwn, isJsonObject, jsonEqual } from '../meta/own.js';
import { field, type FieldError } from '../meta/status.js';
import type { ObjectMeta } from '../meta/object.js';
import type { Structural } from './structural.js';

/**
 * Asks of the objects inside an object whether each says what it is, and has metadata as any object has.
 *
 * @param before As for `validate`: what did not change breaks no rule.
 */
export function embeddedProblems(object: unknown, schema: Structural, before?: unknown): FieldError[] {
  const problems: FieldError[] = [];
  walk(object, schema, '', before, problems);
  return problems;
}

function walk(value: unknown, schema: Structural, path: string, before: unknown, out: FieldError[]): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined)
      for (const [i, item] of value.entries()) walk(item, items, `${path}[${i}]`, undefined, out);
    return;
  }
  if (!isJsonObject(value) || (before !== undefined && jsonEqual(before, value))) return;
  if (schema.embedded) checkEmbedded(value, path, out);
  for (const [name, member] of Object.entries(value)) {
    const property = schema.properties.get(name);
    const was = isJsonObject(before) ? getOwn(before, name) : undefined;
    if (property !== undefined) walk(member, property, path === '' ? name : `${path}.${name}`, was, out);
    else if (typeof schema.additional === 'object') walk(member, schema.additional, `${path}[${name}]`, was, out);
  }
}

function checkEmbedded(value: Record<string, unknown>, path: string, out: FieldError[]): void {
  const apiVersion = getOwn(value, 'apiVersion');
  const kind = getOwn(value, 'kind');
  if (isNamed(apiVersion, `${path}.apiVersion`, out) && apiVersion.split('/').length > 2) {
    out.push(field.invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  }
  if (isNamed(kind, `${path}.kind`, out)) {
    const problems = dns1035Label(kind.toLowerCase());
    const why = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    if (problems.length > 0) out.push(field.invalid(`${path}.kind`, kind, why));
  }
  const metadata = getOwn(value, 'metadata');
  if (!isJsonObject(metadata)) return;
  // The name may come later: whoever makes the object of it gives it one.
  const named = { name: 'unnamed', ...metadata } as ObjectMeta; // decoded as metadata
  const namespaced = (named.namespace ?? '') !== '';
  for (const problem of validateMetadata(named, { namespaced, nameRule: 'path-segment' })) {
    out.push({ ...problem, field: `${path}.${problem.field}` });
  }
}

function isNamed(text: unknown, path: string, out: FieldError[]): text is string {
  if (text === undefined) out.push(field.required(path));
  else if (typeof text !== 'string') out.push(field.invalid(path, text, 'must be a string'));
  else if (text === '') out.push(field.invalid(path, '', 'must not be empty'));
  else return true;
  return false;
}
