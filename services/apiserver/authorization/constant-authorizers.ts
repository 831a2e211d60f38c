import { StatusError } from '../../machinery/meta/status.js';
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

/** Whether what decides about access has been read: before, a no is worth nothing. */
export type Settled = () => boolean;

/** Paths that the bootstrap policy opens to all users, and that have to be open before it is there: probes. */
const PATHS: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version']);

/** Opens the paths of probes while the server starts. As soon as there is a policy, that decides. */
export const whileStarting = (settled: Settled): Authorizer => ({
  name: 'WhileStarting',
  authorize: (_user, asked) =>
    asked.kind === 'path' && asked.verb === 'get' && PATHS.has(asked.path) && !settled()
      ? { decision: 'allow', reason: '' }
      : NO_OPINION,
  rulesFor: () => ({ resourceRules: [], pathRules: [], incomplete: false }),
});

/** In place of a refusal that may be none in a moment. */
export const notSettled = (cause: unknown): StatusError =>
  new StatusError('ServiceUnavailable', 'The server is still loading what decides about access', {
    cause,
    details: { retryAfterSeconds: 1 },
  });
