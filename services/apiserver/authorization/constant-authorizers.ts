import { PRIVILEGED_GROUP } from '../request/users.js';
import { NO_OPINION, type Authorizer, type Decision, type RuleList } from './authorizer.js';

const ALLOWED: Decision = { decision: 'allow', reason: '' };

const NO_RULES: RuleList = { resourceRules: [], pathRules: [], incomplete: false };
const ALL_RULES: RuleList = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [] }],
  pathRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

/** For installations that decide elsewhere who may reach the server. */
export const alwaysAllow: Authorizer = {
  name: 'AlwaysAllow',
  authorize: () => ALLOWED,
  rulesFor: () => ALL_RULES,
};

/** For tests. It has no opinion, so a request is refused that no other authorizer allows. */
export const alwaysDeny: Authorizer = {
  name: 'AlwaysDeny',
  authorize: () => ({ ...NO_OPINION, reason: 'Everything is forbidden.' }),
  rulesFor: () => NO_RULES,
};

/**
 * Members of the first administrators' group may do everything, whatever the other authorizers say: a mistake in a
 * policy, or a webhook that does not answer, does not shut out those who can mend it.
 */
export const privilegedGroup: Authorizer = {
  name: 'PrivilegedGroup',
  authorize: (user) => (user.groups.includes(PRIVILEGED_GROUP) ? ALLOWED : NO_OPINION),
  rulesFor: (user) => (user.groups.includes(PRIVILEGED_GROUP) ? ALL_RULES : NO_RULES),
};
