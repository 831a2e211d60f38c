import { readFileSync } from 'node:fs';
import { isJsonObject } from '../../../machinery/meta/own.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';

/** One policy. Every member has to match; `*` matches anything, and what is not there matches nothing but itself. */
export interface Policy {
  readonly user: string;
  readonly group: string;
  readonly apiGroup: string;
  readonly namespace: string;
  readonly resource: string;
  readonly nonResourcePath: string;
  readonly readonly: boolean;
}

const NOTHING: Policy = {
  user: '',
  group: '',
  apiGroup: '',
  namespace: '',
  resource: '',
  nonResourcePath: '',
  readonly: false,
};

/** @throws {Error} In one line that names the file, for one that cannot be read or holds no policies. */
export const readPolicies = (file: string, { groups }: Vocabulary): readonly Policy[] =>
  parsePolicies(readFileSync(file, 'utf8'), file, `${groups.abac}/v1beta1`);

/**
 * Reads policies, one JSON object a line (spec 2, 2.8). Empty lines, and those that begin with `#`, are none. Members that
 * a policy does not have are refused: a misspelt `readonly` would give more than was meant.
 *
 * @param apiVersion What every line has to say.
 * @throws {Error} That names the line, as `<file>:<number>`.
 */
export function parsePolicies(text: string, file: string, apiVersion: string): Policy[] {
  const policies: Policy[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    try {
      policies.push(parsePolicy(trimmed, apiVersion));
    } catch (err) {
      throw new Error(`${file}:${i + 1}: ${(err as Error).message}`, { cause: err });
    }
  }
  return policies;
}

function parsePolicy(line: string, wanted: string): Policy {
  const { apiVersion, kind, spec, ...others } = objectOf(line);
  if (apiVersion !== wanted) throw new Error(`apiVersion must be ${wanted}`);
  if (kind !== 'Policy') throw new Error('kind must be Policy');
  if (!isJsonObject(spec)) throw new Error('spec must be an object');
  refuseUnknown(others, '');
  const { user, group, apiGroup, namespace, resource, nonResourcePath, readonly, ...unknown } = spec;
  refuseUnknown(unknown, 'spec.');
  const given = { user, group, apiGroup, namespace, resource, nonResourcePath, readonly };
  for (const [name, value] of Object.entries(given)) {
    const type = name === 'readonly' ? 'boolean' : 'string';
    if (value !== undefined && typeof value !== type) throw new Error(`spec.${name} must be a ${type}`);
  }
  return { ...NOTHING, ...(JSON.parse(JSON.stringify(given)) as Partial<Policy>) }; // without what is not given
}

function objectOf(line: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new Error('is no JSON'); // the engine's message would quote the line
  }
  if (!isJsonObject(value)) throw new Error('is no JSON object');
  return value;
}

function refuseUnknown(members: object, path: string): void {
  const [name] = Object.keys(members);
  if (name !== undefined) throw new Error(`${path}${name} is no member of a policy`);
}
