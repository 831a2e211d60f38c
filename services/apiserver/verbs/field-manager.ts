import { field, invalid } from '../../machinery/meta/status.js';
import type { Context, ResourceRequest } from '../request/request.js';
import type { FieldManager } from '../registry/field-ownership.js';
import type { VerbDeps } from './types.js';

const MAX_LENGTH = 128;
/** Letters, marks, numbers, punctuation, symbols and the plain space. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;

/**
 * Who writes: the parameter `fieldManager`, else the first part of the user agent (spec 1, 3.2).
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
