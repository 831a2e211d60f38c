import { PRIVILEGED_GROUP } from '../request/users.js';
import { NO_OPINION, type Authorizer, type Decision } from './authorizer.js';

const ALLOWED: Decision = { decision: 'allow', reason: '' };

/**
 * Members of the first administrators' group may do everything, whatever the others say: a mistake in a policy, or a
 * service that decides and does not answer, shuts nobody out who could mend it.
 */
export const privilegedGroup: Authorizer = {
  name: 'PrivilegedGroup',
  authorize: (user) => (user.groups.includes(PRIVILEGED_GROUP) ? ALLOWED : NO_OPINION),
  rulesFor: (user) => {
    const all = user.groups.includes(PRIVILEGED_GROUP);
    return {
      resourceRules: all ? [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [] }] : [],
      pathRules: all ? [{ verbs: ['*'], nonResourceURLs: ['*'] }] : [],
      incomplete: false,
    };
  },
};
