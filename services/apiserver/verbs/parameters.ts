import { badRequest } from '../../machinery/meta/status.js';
import { parseResourceVersion } from '../../machinery/meta/resource-version.js';
import { parseFieldSelector, compileFieldSelector } from '../../machinery/selectors/field-selector.js';
import { parseLabelSelector } from '../../machinery/selectors/label-selector.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { CachedObject } from '../cache/cached-object.js';
import { EVERYTHING, type ChangeFilter } from '../cache/watchers.js';
import type { Match, VersionParameters } from '../registry/read-table.js';

const isTrue = (value: string): boolean => !['0', 'false', 'f', 'no'].includes(value.toLowerCase());

/** A flag of the query: absent is false, present without a value true. */
export function booleanParameter(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && isTrue(value);
}

/** @throws {StatusError} BadRequest */
export function integerParameter(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  const n = Number(value);
  if (!/^-?\d{1,18}$/.test(value) || !Number.isSafeInteger(n)) {
    throw badRequest(`Invalid value for query parameter ${name}: ${JSON.stringify(value)} is not an integer`);
  }
  return n;
}

/** `dryRun=All`; empty is a normal request (spec 1, 4.5). @throws {StatusError} BadRequest */
export function dryRunParameter(query: URLSearchParams): boolean {
  const values = query.getAll('dryRun').filter((v) => v !== '');
  const other = values.find((v) => v !== 'All');
  if (other !== undefined) throw badRequest(`Invalid value for query parameter dryRun: ${JSON.stringify(other)}`);
  return values.length > 0;
}

/** undefined when unset. @throws {StatusError} BadRequest */
export const resourceVersionParameter = (query: URLSearchParams): number | undefined =>
  parseResourceVersion(query.get('resourceVersion') ?? '');

/** @throws {StatusError} BadRequest */
export function versionParameters(query: URLSearchParams): VersionParameters {
  const match = query.get('resourceVersionMatch') ?? '';
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    throw badRequest(
      `Invalid value for query parameter resourceVersionMatch: ${JSON.stringify(match)}, supported: Exact, NotOlderThan`,
    );
  }
  const limit = integerParameter(query, 'limit') ?? 0;
  if (limit < 0) throw badRequest(`Invalid value for query parameter limit: ${limit} is below 0`);
  return {
    resourceVersion: resourceVersionParameter(query),
    match: match satisfies Match,
    limit,
    continueToken: query.get('continue') ?? '',
  };
}

/** What a selection restricts a request to, beside its path. */
export interface Selection {
  readonly filter: ChangeFilter;
  /** '' unless the field selector names exactly one. */
  readonly name: string;
  readonly namespace: string;
}

/** labelSelector and fieldSelector. @throws {StatusError} BadRequest */
export function selection(query: URLSearchParams, declaration: ResourceDeclaration): Selection {
  const labelText = query.get('labelSelector') ?? '';
  const fieldText = query.get('fieldSelector') ?? '';
  if (labelText === '' && fieldText === '') return NO_SELECTION;
  const labels = parseLabelSelector(labelText);
  const fields = compileFieldSelector(
    parseFieldSelector(fieldText),
    declaration.selectableFields,
    `${declaration.group === '' ? 'core' : declaration.group}/${declaration.version}, Kind=${declaration.kind}`,
  );
  const matches = (o: CachedObject): boolean =>
    (fields.empty || fields.matches((key) => o.field(key))) && (labels.empty || labels.matches(o.selectables.labels));
  const id = labels.empty && fields.empty ? '' : `${labels.toString()}\n${fields.toString()}`;
  return {
    filter: id === '' ? EVERYTHING : { id, matches },
    name: fields.exactName() ?? '',
    namespace: fields.exactNamespace() ?? '',
  };
}

const NO_SELECTION: Selection = { filter: EVERYTHING, name: '', namespace: '' };
