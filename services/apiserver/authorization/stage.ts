import { StatusError } from '../../machinery/meta/status.js';
import type { AccessMetrics, AuthorizationResult } from '../metrics/access-metrics.js';
import { annotate, type Stage, type UserInfo } from '../pipeline/request.js';
import { attributesOf } from './attributes.js';
import { notSettled, type Settled } from './starting.js';
import type { Attributes, Authorizer, Decision } from './types.js';

/** Asks for a right that shows only further in, e.g. to create what a PUT names. @throws {StatusError} Forbidden */
export type Authorize = (user: UserInfo, attributes: Attributes) => Promise<void>;

/** The first authorizer with an opinion decides. When none has one, the reasons and errors of all are told. */
export async function decide(
  authorizers: readonly Authorizer[],
  user: UserInfo,
  attributes: Attributes,
): Promise<Decision> {
  const reasons: string[] = [];
  const errors: string[] = [];
  for (const authorizer of authorizers) {
    const answer = authorizer.authorize(user, attributes);
    const decision = answer instanceof Promise ? await answer : answer; // most answer at once
    if (decision.decision !== 'noOpinion') return decision;
    if (decision.reason !== '') reasons.push(decision.reason);
    if (decision.error !== undefined) errors.push(decision.error);
  }
  const reason = reasons.join('\n');
  return { decision: 'noOpinion', reason, ...(errors.length === 0 ? {} : { error: errors.join(', ') }) };
}

export const authorizeBy =
  (authorizers: readonly Authorizer[], settled: Settled): Authorize =>
  async (user, attributes) => {
    const { decision, reason } = await decide(authorizers, user, attributes);
    if (decision !== 'allow') throw refused(settled, user, attributes, reason);
  };

/** Before the policy has been read, everybody who is not allowed has to come again. */
function refused(settled: Settled, user: UserInfo, attributes: Attributes, reason: string): StatusError {
  const err = refusal(user, attributes, reason);
  return settled() ? err : notSettled(err);
}

/** Names of what the audit is told. */
export interface DecisionAnnotations {
  readonly decision: string;
  readonly reason: string;
}

export interface AuthorizationDeps {
  readonly authorizers: readonly Authorizer[];
  readonly settled: Settled;
  readonly annotations: DecisionAnnotations;
  readonly metrics: Pick<AccessMetrics, 'authorized'>;
}

/** Refuses whoever may not do what the request says, and tells the audit why somebody may. */
export const authorization =
  ({ authorizers, settled, annotations: names, metrics }: AuthorizationDeps): Stage =>
  async (ctx, next) => {
    const startedMs = performance.now();
    const { user, info, query, audit } = ctx.state;
    const asked = attributesOf(info, query);
    const answer = await decide(authorizers, user, asked);
    const { decision, reason } = answer;
    const allowed = decision === 'allow';
    metrics.authorized(resultOf(answer), (performance.now() - startedMs) / 1000);
    if (audit !== undefined) {
      annotate(ctx.state, { [names.decision]: allowed ? 'allow' : 'forbid', [names.reason]: reason });
    }
    if (!allowed) throw refused(settled, user, asked, reason);
    await next();
  };

const RESULTS = { allow: 'allowed', deny: 'denied', noOpinion: 'no-opinion' } as const;

const resultOf = ({ decision, error }: Decision): AuthorizationResult =>
  error === undefined || decision !== 'noOpinion' ? RESULTS[decision] : 'error';

/** 403 with the sentence that clients know. */
export function refusal(user: UserInfo, attributes: Attributes, reason: string): StatusError {
  const why = reason === '' ? '' : `: ${reason}`;
  if (attributes.kind === 'path') {
    const { verb, path } = attributes;
    return new StatusError(
      'Forbidden',
      `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path)}${why}`,
    );
  }
  const { group, resource, subresource, name, namespace, verb } = attributes;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const qualified = group === '' ? resource : `${resource}.${group}`;
  const message =
    `${qualified}${name === '' ? '' : ` "${name}"`} is forbidden: User ${JSON.stringify(user.name)} cannot ${verb} resource ` +
    `"${what}" in API group "${group}" ${where}${why}`;
  return new StatusError('Forbidden', message, {
    details: { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource },
  });
}
