import { parseResourceVersion } from '../../machinery/meta/resource-version.js';
import { badRequest, field, invalid } from '../../machinery/meta/status.js';
import { parseFieldSelector, compileFieldSelector } from '../../machinery/selectors/field-selector.js';
import { parseLabelSelector } from '../../machinery/selectors/label-selector.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { CachedObject } from '../cache/cached-object.js';
import { EVERYTHING, type ChangeFilter } from '../cache/watchers.js';
import { integerParameter } from '../http/query.js';
import type { FieldManager } from '../registry/field-ownership.js';
import type { Match, VersionParameters } from '../registry/read-table.js';
import type { Context, ResourceRequest } from '../request/request.js';
import type { VerbDeps } from './types.js';

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
  const limit = Math.max(0, integerParameter(query, 'limit') ?? 0); // below 0 it limits nothing, as 0 does
  return {
    resourceVersion: resourceVersionParameter(query),
    match: match satisfies Match,
    limit,
    continueToken: query.get('continue') ?? '',
  };
}

/** The selection of a request, beside its path. */
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
    filter: id === '' ? EVERYTHING : { id, matches, byName: fields.exactName() !== undefined },
    name: fields.exactName() ?? '',
    namespace: fields.exactNamespace() ?? '',
  };
}

const NO_SELECTION: Selection = { filter: EVERYTHING, name: '', namespace: '' };

const MAX_LENGTH = 128;
/** Letters, marks, numbers, punctuation, symbols and the plain space. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;

/**
 * The field manager of a write: the parameter `fieldManager`, else the first part of the user agent (spec 1, 3.2).
 *
 * @param options The kind of options that a refusal names, e.g. `PatchOptions`.
 * @throws {StatusError} Invalid
 */
export function fieldManager(
  { vocabulary }: Pick<VerbDeps, 'vocabulary'>,
  ctx: Context,
  { subresource }: ResourceRequest,
  options: string,
): FieldManager {
  const asked = ctx.state.query.get('fieldManager') ?? '';
  if (asked !== '') {
    checkName(asked, options, vocabulary.metaGroup);
    return { name: asked, subresource };
  }
  const [product = ''] = ctx.get('User-Agent').split('/', 1);
  const name = Array.from(product)
    .filter((character) => PRINTABLE.test(character))
    .join('')
    .slice(0, MAX_LENGTH);
  return { name: name === '' ? 'unknown' : name, subresource };
}

function checkName(name: string, options: string, metaGroup: string): void {
  const errors = [
    ...(name.length > MAX_LENGTH ? [field.tooLong('fieldManager', MAX_LENGTH)] : []),
    ...(PRINTABLE.test(name)
      ? []
      : [field.invalid('fieldManager', name.slice(0, MAX_LENGTH), 'should only contain printable characters')]),
  ];
  if (errors.length > 0) throw invalid({ group: metaGroup, kind: options }, '', errors);
}

/** An apply has to say who applies. @throws {StatusError} Invalid */
export function applyManager(deps: VerbDeps, ctx: Context, request: ResourceRequest): FieldManager {
  if ((ctx.state.query.get('fieldManager') ?? '') === '') {
    throw invalid({ group: deps.vocabulary.metaGroup, kind: 'PatchOptions' }, '', [
      field.required('fieldManager', 'is required for apply patch'),
    ]);
  }
  return fieldManager(deps, ctx, request, 'PatchOptions');
}
