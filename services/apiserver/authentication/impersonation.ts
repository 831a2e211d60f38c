import { badRequest } from '../../machinery/meta/status.js';
import type { Authorize } from '../authorization/stage.js';
import type { ResourceAttributes } from '../authorization/authorizer.js';
import { headersOf, removeHeaders } from '../http/headers.js';
import type { Context, Stage, UserInfo } from '../request/request.js';
import { addExtra } from './extra.js';
import { ANONYMOUS, AUTHENTICATED_GROUP } from '../request/users.js';

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
