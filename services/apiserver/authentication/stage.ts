import { StatusError, badRequest } from '../../machinery/meta/status.js';
import type { ResourceAttributes } from '../authorization/authorizer.js';
import type { Authorize } from '../authorization/stage.js';
import { notSettled, type Settled } from '../authorization/constant-authorizers.js';
import { headersOf, removeHeaders } from '../http/headers.js';
import { addWarnings } from '../http/warnings.js';
import type { AccessMetrics } from '../metrics/access-metrics.js';
import { annotate, type Context, type Stage, type UserInfo } from '../request/request.js';
import { ANONYMOUS, AUTHENTICATED_GROUP } from '../request/users.js';
import { SpeakerRefused, type Authenticator, type Identity } from './authenticator.js';
import { addExtra } from './extra.js';

export interface AuthenticationDeps {
  readonly authenticators: readonly Authenticator[];
  /** Requests without credentials are those of the anonymous user, instead of refused. */
  readonly anonymous: boolean;
  readonly settled: Settled;
  /** Told of every request that is refused here, before it is answered. */
  readonly onRefused: (ctx: Context) => Promise<void> | void;
  readonly metrics: Pick<AccessMetrics, 'authenticated'>;
  readonly log: { debug(message: string, keys?: object): void };
}

/**
 * Finds out who asks. The first authenticator that knows the credentials decides. Credentials that none knows are wrong,
 * not absent: they are refused, even where requests without any are not (spec 2, 5.7). So are those of schemes that no
 * authenticator looks at: their sender is not anonymous.
 */
export const authentication =
  (d: AuthenticationDeps): Stage =>
  async (ctx, next) => {
    const startedMs = performance.now();
    const answer = identify(d.authenticators, ctx);
    const { identity, failures } = answer instanceof Promise ? await answer : answer; // most answer at once
    const carried = (ctx.req.headers.authorization ?? '') !== '' || failures.length > 0;
    const result = identity !== undefined ? 'success' : carried ? 'error' : 'failure';
    d.metrics.authenticated(result, (performance.now() - startedMs) / 1000);
    if (identity === undefined && (carried || !d.anonymous)) {
      for (const { name, err } of failures) d.log.debug('Credentials refused', { authenticator: name, err });
      ctx.state.user = ANONYMOUS;
      await d.onRefused(ctx);
      throw d.settled() ? unauthorized() : notSettled(unauthorized());
    }
    take(ctx, identity);
    await next();
  };

interface Failure {
  readonly name: string;
  readonly err: unknown;
}

interface Outcome {
  readonly identity: Identity | undefined;
  readonly failures: readonly Failure[];
}

const NO_FAILURES: readonly Failure[] = [];

function identify(
  authenticators: readonly Authenticator[],
  ctx: Context,
  first = 0,
  failed = NO_FAILURES,
): Promise<Outcome> | Outcome {
  let failures = failed;
  for (let i = first; i < authenticators.length; i++) {
    const authenticator = authenticators[i];
    if (authenticator === undefined) continue;
    try {
      const answer = authenticator.authenticate(ctx);
      if (answer instanceof Promise) {
        const goOn = (more: readonly Failure[]): Promise<Outcome> | Outcome =>
          identify(authenticators, ctx, endsWith(more) ? Infinity : i + 1, more);
        return answer.then(
          (identity) => (identity === undefined ? goOn(failures) : { identity, failures }),
          (err: unknown) => goOn([...failures, { name: authenticator.name, err }]),
        );
      }
      if (answer !== undefined) return { identity: answer, failures };
    } catch (err) {
      failures = [...failures, { name: authenticator.name, err }];
      if (endsWith(failures)) break;
    }
  }
  return { identity: undefined, failures };
}

/** Whether no authenticator is asked after the last failure. */
const endsWith = (failures: readonly Failure[]): boolean => failures.at(-1)?.err instanceof SpeakerRefused;

function take(ctx: Context, identity: Identity | undefined): void {
  const { state } = ctx;
  if (identity === undefined) {
    state.user = ANONYMOUS;
    return;
  }
  state.user = authenticated(identity.user);
  if (identity.warnings !== undefined) addWarnings(ctx, identity.warnings);
  if (identity.auditAnnotations !== undefined) annotate(state, identity.auditAnnotations);
}

export const unauthorized = (cause?: unknown): StatusError =>
  new StatusError('Unauthorized', 'Unauthorized', { cause });

/** Users are few and their requests many: the same user is not copied for each. */
const completed = new WeakMap<UserInfo, UserInfo>();

/** Every user but the anonymous one belongs to `system:authenticated` (spec 2, 2.1). */
export function authenticated(user: UserInfo): UserInfo {
  if (user.name === ANONYMOUS.name || user.groups.includes(AUTHENTICATED_GROUP)) return user;
  let whole = completed.get(user);
  if (whole === undefined) completed.set(user, (whole = { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] }));
  return whole;
}

const PREFIX = 'impersonate-';
const EXTRA_PREFIX = 'impersonate-extra-';
/** Each of them is a question to the authorizers. */
const MAX_ATTRIBUTES = 100;

/**
 * Lets users act as others when they may (spec 2, 5.7): each attribute of the other one is a right of its own. From here
 * on the request is the other one's; who really asks is kept for the audit. The headers are taken off every request.
 */
export const impersonation =
  (authorize: Authorize, authenticationGroup: string): Stage =>
  async (ctx, next) => {
    const wanted = wantedOf(ctx);
    if (wanted !== undefined) {
      for (const attributes of rightsFor(wanted, authenticationGroup))
        await authorize(ctx.state.user, attributes, ctx.state);
      ctx.state.impersonator = ctx.state.user;
      ctx.state.user = userOf(wanted);
    }
    await next();
  };

interface Wanted {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

const isImpersonation = (name: string): boolean => name.startsWith(PREFIX);

/** @throws {StatusError} BadRequest for attributes without a user, for a user named twice, and for headers that mean nothing */
function wantedOf({ req }: Context): Wanted | undefined {
  let found = false;
  for (const name in req.headers) found ||= isImpersonation(name);
  if (!found) return undefined;
  const headers = headersOf(req, isImpersonation);
  removeHeaders(req, isImpersonation);
  if (headers.length > MAX_ATTRIBUTES) throw badRequest(`At most ${MAX_ATTRIBUTES} attributes can be impersonated`);
  const groups: string[] = [];
  const extra: Record<string, string[]> = {};
  const single: Record<'impersonate-user' | 'impersonate-uid', string[]> = {
    'impersonate-user': [],
    'impersonate-uid': [],
  };
  for (const { name, value } of headers) {
    if (name === 'impersonate-user' || name === 'impersonate-uid') single[name].push(value);
    else if (name === 'impersonate-group') groups.push(value);
    else if (name.startsWith(EXTRA_PREFIX) && name !== EXTRA_PREFIX)
      addExtra(extra, name.slice(EXTRA_PREFIX.length), value);
    else throw badRequest(`The header ${JSON.stringify(name)} means nothing`);
  }
  const [name, ...names] = single['impersonate-user'];
  const [uid = '', ...uids] = single['impersonate-uid'];
  if (name === undefined || name === '')
    throw badRequest('Attributes cannot be impersonated without impersonating a user');
  if (names.length > 0 || uids.length > 0) throw badRequest('Only one user can be impersonated');
  if (groups.includes('')) throw badRequest('A group to impersonate has no name');
  return { name, uid, groups, extra };
}

/** The rights that are needed for it, each with the verb `impersonate`. */
function* rightsFor({ name, uid, groups, extra }: Wanted, authenticationGroup: string): Generator<ResourceAttributes> {
  const right = (resource: string, value: string, o: Partial<ResourceAttributes> = {}): ResourceAttributes => ({
    kind: 'resource',
    verb: 'impersonate',
    group: '',
    version: 'v1',
    resource,
    subresource: '',
    namespace: '',
    name: value,
    ...o,
  });
  const account = serviceAccountOf(name);
  yield account === undefined
    ? right('users', name)
    : right('serviceaccounts', account.name, { namespace: account.namespace });
  if (uid !== '') yield right('uids', uid, { group: authenticationGroup });
  for (const group of groups) yield right('groups', group);
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) {
      yield right('userextras', value, { group: authenticationGroup, subresource: key });
    }
  }
}

function userOf({ name, uid, groups, extra }: Wanted): UserInfo {
  const account = serviceAccountOf(name);
  const own = groups.length === 0 && account !== undefined ? accountGroups(account.namespace) : groups;
  const known = own.includes(AUTHENTICATED_GROUP) || own.some((group) => ANONYMOUS.groups.includes(group));
  const implied = known ? [] : name === ANONYMOUS.name ? ANONYMOUS.groups : [AUTHENTICATED_GROUP];
  return { name, uid, groups: [...own, ...implied], extra };
}

/** The groups of every service account of a namespace. */
const accountGroups = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];

const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** The account that a user's name stands for. */
function serviceAccountOf(user: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, name] = ACCOUNT.exec(user) ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}
