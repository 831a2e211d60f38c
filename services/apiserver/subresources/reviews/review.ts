import type { ApiObject } from '../../../machinery/meta/object.js';
import { field, invalid, type FieldError } from '../../../machinery/meta/status.js';
import { turns } from '../../http/turns.js';
import type { Context, ResourceRequest, UserInfo } from '../../request/request.js';
import type { Operation, OperationVerbs } from '../../verbs/dispatch.js';
import { dryRunParameter } from '../../verbs/parameters.js';
import { admissionRequest, admit } from '../../admission/request.js';
import { answerKind, wholeForm } from '../answers.js';
import { readKind, type Kind } from '../bodies.js';
import type { OperationDeps } from '../operation.js';

/** A kind of question that is asked by creating it; the answer is its status. */
export interface Review {
  /** Errors of the review's spec. */
  readonly check: (object: ApiObject, request: ResourceRequest) => readonly FieldError[];
  /** @throws {StatusError} for what is wrong without being the fault of a field */
  readonly answer: (object: ApiObject, ctx: Context) => Promise<object> | object;
}

export const review = (d: OperationDeps, { check, answer }: Review): OperationVerbs => {
  const create: Operation = async (ctx, request) => {
    wholeForm(ctx); // refuse before anything is read
    const { declaration, group, version } = request;
    const kind: Kind = { group, version, kind: declaration?.kind ?? '' };
    const object = await readKind(d, ctx, [kind]);
    if (ctx.state.heavy === true) await turns.alone();
    const errors = check(object, request);
    if (errors.length > 0) throw invalid(kind, '', errors);
    const dryRun = dryRunParameter(ctx.state.query);
    await admit(d.admission, admissionRequest(ctx, request, { operation: 'CREATE', object, dryRun }));
    const status = await answer(object, ctx);
    if (ctx.state.heavy === true) await turns.alone();
    await answerKind(d, ctx, kind, { ...object, status }, 201);
  };
  return { create };
};

/** A question about access is nothing that is kept; it may have a name, and one about a namespace may repeat that. */
export function checkMetadata({ metadata }: ApiObject, { namespace, declaration }: ResourceRequest): FieldError[] {
  const others = Object.entries(metadata).filter(
    ([key, value]) =>
      !(key === 'managedFields' || key === 'name' || value === null || value === '') &&
      !(key === 'namespace' && declaration?.namespaced === true && value === namespace),
  );
  if (others.length === 0) return [];
  const why = `must be empty except for name${declaration?.namespaced === true ? ' and namespace' : ''}`;
  return [field.invalid('metadata', metadata, why)];
}

/** A user in the words of reviews. */
export const shownUser = ({ name, uid, groups, extra }: UserInfo): object => ({
  username: name,
  ...(uid === '' ? {} : { uid }),
  groups,
  ...(Object.keys(extra).length === 0 ? {} : { extra }),
});
