import type { UserInfo } from '../../request/request.js';
import { NO_OPINION, type Attributes, type Authorizer, type Decision, type RuleList } from '../authorizer.js';
import type { AccessIndex, BoundRole } from './access-index.js';
import { questionOf } from './compiled-role.js';
import { DecisionMemo } from './decision-memo.js';

/** Missing roles that a reason names; the rest are as missing. */
const MAX_NAMED = 16;

/**
 * Allows what the roles of a user allow that are bound to him, to his groups or to his service account (spec 2, 5.9). It
 * has no opinion on the rest.
 *
 * @param group The API group of roles.
 */
export function rbacAuthorizer(index: AccessIndex, group: string): Authorizer {
  const memo = new DecisionMemo();
  const decided = (user: UserInfo, asked: Attributes): Decision => {
    const namespace = asked.kind === 'path' ? '' : asked.namespace;
    return index.allowing(user, questionOf(asked), namespace)?.decision ?? refused(index, group, user, namespace);
  };
  return {
    name: 'RBAC',
    authorize: (user, asked) => memo.of(user, asked, index.generation, decided),
    rulesFor: (user, namespace) => rulesFor(index, group, user, namespace),
  };
}

function refused(index: AccessIndex, group: string, user: UserInfo, namespace: string): Decision {
  const missing = missingRoles(index, group, user, namespace);
  return missing === '' ? NO_OPINION : { ...NO_OPINION, reason: `RBAC: ${missing}` };
}

/** Roles that are bound and not there, as a sentence; '' when there are none. */
function missingRoles(index: AccessIndex, group: string, user: UserInfo, namespace: string): string {
  const missing = new Set<string>();
  for (const role of index.rolesOf(user, namespace)) {
    if (missing.size === MAX_NAMED) break;
    if (role.object === undefined) missing.add(notFound(role, group));
  }
  const sentences = [...missing];
  return sentences.length > 1 ? `[${sentences.join(', ')}]` : (sentences[0] ?? '');
}

const notFound = ({ kind, name }: BoundRole, group: string): string =>
  `${kind.toLowerCase()}.${group} ${JSON.stringify(name)} not found`;

function rulesFor(index: AccessIndex, group: string, user: UserInfo, namespace: string): RuleList {
  const rules = [...new Set(index.rolesOf(user, namespace))].flatMap((role) => role.rules ?? []);
  const error = missingRoles(index, group, user, namespace);
  return {
    resourceRules: rules
      .filter(({ resources }) => resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({ verbs, apiGroups, resources, resourceNames })),
    pathRules: [...new Set(index.rolesOf(user, ''))]
      .flatMap((role) => role.rules ?? [])
      .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
    ...(error === '' ? {} : { error }),
  };
}
