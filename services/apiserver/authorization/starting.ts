import { StatusError } from '../../machinery/meta/status.js';
import { NO_OPINION, type Authorizer } from './authorizer.js';

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
