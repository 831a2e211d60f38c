import { pathSegment } from '../../machinery/meta/metadata.js';
import { StatusError } from '../../machinery/meta/status.js';
import { traced } from '../../machinery/tracing/trace.js';
import { parseFieldSelector, type FieldTerm } from '../../machinery/selectors/field-selector.js';
import type { Asker } from '../http/turns.js';
import type { AccessMetrics, AuthorizationResult } from '../metrics/access-metrics.js';
import { annotate, type Stage, type UserInfo, type RequestInfo } from '../request/request.js';
import { NO_OPINION, type Attributes, type Authorizer, type Decision } from './authorizer.js';
import { notSettled, type Settled } from './constant-authorizers.js';
import { textSelectors } from './selectors.js';

/** Asks for a right that shows only further in, e.g. to create what a PUT names. @throws {StatusError} Forbidden */
export type Authorize = (user: UserInfo, attributes: Attributes, asker: Asker) => Promise<void>;

/**
 * The first authorizer with an opinion decides. When none has one, the reasons and errors of all are told. Most answer at
 * once, and then so does this.
 */
export function decide(
  authorizers: readonly Authorizer[],
  user: UserInfo,
  attributes: Attributes,
  asker?: Asker,
): Promise<Decision> | Decision {
  return decideFrom({ authorizers, user, attributes, asker }, 0, NO_OPINION);
}

interface Question {
  readonly authorizers: readonly Authorizer[];
  readonly user: UserInfo;
  readonly attributes: Attributes;
  readonly asker: Asker | undefined;
}

function decideFrom(question: Question, first: number, before: Decision): Promise<Decision> | Decision {
  const { authorizers, user, attributes, asker } = question;
  let told = before;
  for (let i = first; i < authorizers.length; i++) {
    const answer = authorizers[i]?.authorize(user, attributes, asker) ?? NO_OPINION;
    if (answer instanceof Promise) {
      const present = told;
      return answer.then((decision) =>
        decision.decision === 'noOpinion' ? decideFrom(question, i + 1, both(present, decision)) : decision,
      );
    }
    if (answer.decision !== 'noOpinion') return answer;
    told = both(told, answer);
  }
  return told;
}

/** The reasons and errors of two decisions without an opinion. */
function both(a: Decision, b: Decision): Decision {
  if (b.reason === '' && b.error === undefined) return a;
  const reason = [a.reason, b.reason].filter((text) => text !== '').join('\n');
  const errors = [a.error, b.error].filter((text) => text !== undefined);
  return { decision: 'noOpinion', reason, ...(errors.length === 0 ? {} : { error: errors.join(', ') }) };
}

export const authorizeBy =
  (authorizers: readonly Authorizer[], settled: Settled): Authorize =>
  async (user, attributes, asker) => {
    const { decision, reason } = await decide(authorizers, user, attributes, asker);
    if (decision !== 'allow') throw refused(settled, user, attributes, reason);
  };

/** Before the policy has been read, a refused client has to come again. */
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

/** Refuses requests that no authorizer allows, and annotates the audit event with the decision and its reason. */
export const authorization =
  ({ authorizers, settled, annotations: names, metrics }: AuthorizationDeps): Stage =>
  async (ctx, next) => {
    const startedMs = performance.now();
    const { user, info, query, audit } = ctx.state;
    const asked = attributesOf(info, query);
    const deciding = traced('Authorization', {}, () => decide(authorizers, user, asked, ctx.state));
    const answer = deciding instanceof Promise ? await deciding : deciding;
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

const SELECTING: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

/**
 * The attributes of a request that rules are compared with. A list or a watch of the one object of a name is about that
 * name: who may read it may wait for it, too. Paths of the older form that begins with `watch` name an object by their
 * path, and authorizers are told nothing of their selectors.
 */
export function attributesOf(info: RequestInfo, query: URLSearchParams): Attributes {
  if (info.kind === 'path' || !SELECTING.has(info.verb)) return info;
  const field = query.get('fieldSelector') ?? '';
  const selectors = info.watchPath ? undefined : textSelectors(field, query.get('labelSelector') ?? '');
  const isNamed = info.name !== '' || info.verb === 'deletecollection' || field === '';
  const name = isNamed ? info.name : selectedName(field);
  return selectors === undefined && name === info.name ? info : { ...info, name, selectors };
}

/** '' when the selector names no object, or cannot be read: it is refused later, where lists are. */
function selectedName(selector: string): string {
  const term = termsOf(selector).find(({ key, operator, value }) => key === NAME && operator === '=' && value !== '');
  return term === undefined || pathSegment(term.value).length > 0 ? '' : term.value;
}
const NAME = 'metadata.name';

function termsOf(selector: string): readonly FieldTerm[] {
  try {
    return parseFieldSelector(selector);
  } catch {
    return [];
  }
}
