import { StatusError } from '../../machinery/meta/status.js';
import type { RequestInfo, Stage, UserInfo } from '../pipeline/request.js';
import type { Authorizer } from './types.js';

/** Asks for a right that shows only further in, e.g. to create what a PUT names. @throws {StatusError} Forbidden */
export type Authorize = (user: UserInfo, info: RequestInfo) => Promise<void>;

/** The first authorizer with an opinion decides. None has one: refused. */
export const authorizeBy =
  (authorizers: readonly Authorizer[]): Authorize =>
  async (user, info) => {
    for (const authorizer of authorizers) {
      const answer = authorizer.authorize(user, info);
      const { decision, reason } = answer instanceof Promise ? await answer : answer;
      if (decision === 'allow') return;
      if (decision === 'deny') throw refusal(user, info, reason);
    }
    throw refusal(user, info, '');
  };

export const authorization =
  (authorize: Authorize): Stage =>
  async (ctx, next) => {
    const { user, info } = ctx.state;
    await authorize(user, info);
    await next();
  };

/** 403 with the sentence that clients know. */
function refusal(user: UserInfo, info: RequestInfo, reason: string): StatusError {
  const why = reason === '' ? '' : `: ${reason}`;
  if (info.kind === 'path') {
    return new StatusError('Forbidden', `forbidden: User "${user.name}" cannot ${info.verb} path "${info.path}"${why}`);
  }
  const { group, resource, subresource, name, namespace, verb } = info;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const qualified = group === '' ? resource : `${resource}.${group}`;
  const message =
    `${qualified}${name === '' ? '' : ` "${name}"`} is forbidden: User "${user.name}" cannot ${verb} resource ` +
    `"${what}" in API group "${group}" ${where}${why}`;
  return new StatusError('Forbidden', message, {
    details: { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource },
  });
}
