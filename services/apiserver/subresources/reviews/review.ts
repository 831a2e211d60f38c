import type { ApiObject } from '../../../machinery/meta/object.js';
import { field, invalid, type FieldError } from '../../../machinery/meta/status.js';
import type { Context, ResourceRequest, UserInfo } from '../../pipeline/request.js';
import type { Operation } from '../../pipeline/verb.js';
import { admitCreate } from '../admit.js';
import { answerKind } from '../answers.js';
import { readKind, type Kind } from '../bodies.js';
import type { OperationDeps, OperationVerbs } from '../types.js';

/** A kind of question that is asked by creating it; the answer is its status. */
export interface Review {
  /** What is wrong with the question. */
  readonly check: (object: ApiObject, request: ResourceRequest) => readonly FieldError[];
  /** @throws {StatusError} for what is wrong without being the fault of a field */
  readonly answer: (object: ApiObject, ctx: Context) => Promise<object> | object;
}

export const review = (d: OperationDeps, { check, answer }: Review): OperationVerbs => {
  const create: Operation = async (ctx, request) => {
    const { declaration, group, version } = request;
    const kind: Kind = { group, version, kind: declaration?.kind ?? '' };
    const object = await readKind(d, ctx, [kind]);
    const errors = [...checkMetadata(object, request), ...check(object, request)];
    if (errors.length > 0) throw invalid(kind, '', errors);
    await admitCreate(d, ctx, request, object);
    await answerKind(d, ctx, kind, { ...object, status: await answer(object, ctx) }, 201);
  };
  return { create };
};

/** A question is nothing that has a name; one about a namespace may repeat that. */
function checkMetadata({ metadata }: ApiObject, { namespace, declaration }: ResourceRequest): FieldError[] {
  const others = Object.entries(metadata).filter(
    ([key, value]) =>
      !(key === 'managedFields' || value === null || value === '') &&
      !(key === 'namespace' && declaration?.namespaced === true && value === namespace),
  );
  if (others.length === 0) return [];
  const why = declaration?.namespaced === true ? 'must be empty except for namespace' : 'must be empty';
  return [field.invalid('metadata', metadata, why)];
}

/** A user in the words of reviews. */
export const shownUser = ({ name, uid, groups, extra }: UserInfo): object => ({
  username: name,
  ...(uid === '' ? {} : { uid }),
  groups,
  ...(Object.keys(extra).length === 0 ? {} : { extra }),
});
