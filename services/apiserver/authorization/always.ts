import { NO_OPINION, type Authorizer } from './authorizer.js';

/** For those who decide elsewhere who may reach the server. */
export const alwaysAllow: Authorizer = {
  name: 'AlwaysAllow',
  authorize: () => ({ decision: 'allow', reason: '' }),
  rulesFor: () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [] }],
    pathRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  }),
};

/** For tests. It has no opinion, so it refuses what nobody else allows. */
export const alwaysDeny: Authorizer = {
  name: 'AlwaysDeny',
  authorize: () => ({ ...NO_OPINION, reason: 'Everything is forbidden.' }),
  rulesFor: () => ({ resourceRules: [], pathRules: [], incomplete: false }),
};
