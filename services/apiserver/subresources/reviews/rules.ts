import { badRequest } from '../../../machinery/meta/status.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Authorizer, RuleList } from '../../authorization/authorizer.js';
import type { UserInfo } from '../../request/request.js';
import type { OperationDeps } from '../operation.js';
import type { OperationVerbs } from '../../verbs/dispatch.js';
import { review } from './review.js';

/**
 * Rules reviews: the rights of the asker in a namespace. To be shown, not to decide by: it says when there may be more.
 */
export const selfSubjectRulesReviews = (d: OperationDeps): OperationVerbs =>
  review(d, {
    check: () => [],
    answer: (object, ctx) => {
      const namespace = namespaceOf(object);
      if (namespace === '') throw badRequest('no namespace on request');
      return shown(d.authorizers.map((authorizer) => listed(authorizer, ctx.state.user, namespace)));
    },
  });

const namespaceOf = (object: ApiObject): string =>
  ((object['spec'] ?? {}) as { readonly namespace?: string }).namespace ?? ''; // decoded by its declaration

const listed = (authorizer: Authorizer, user: UserInfo, namespace: string): RuleList =>
  authorizer.rulesFor?.(user, namespace) ?? {
    resourceRules: [],
    pathRules: [],
    incomplete: true,
    error: `${authorizer.name} authorizer does not support user rule resolution`,
  };

function shown(lists: readonly RuleList[]): object {
  const errors = lists.flatMap(({ error }) => (error === undefined ? [] : [error]));
  return {
    resourceRules: lists.flatMap(({ resourceRules }) =>
      resourceRules.map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames.length === 0 ? {} : { resourceNames }),
      })),
    ),
    nonResourceRules: lists.flatMap(({ pathRules }) =>
      pathRules.map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    ),
    incomplete: lists.some(({ incomplete }) => incomplete),
    ...(errors.length === 0 ? {} : { evaluationError: errors.join(', ') }),
  };
}
