import { StatusError } from '../../machinery/meta/status.js';
import type { Stage, UserInfo } from '../pipeline/request.js';
import { ANONYMOUS, AUTHENTICATED_GROUP, type Authenticator } from './types.js';

/** The first authenticator that knows the credentials decides who asks; without credentials it is nobody. */
export const authentication =
  (authenticators: readonly Authenticator[]): Stage =>
  async (ctx, next) => {
    for (const authenticator of authenticators) {
      const answer = authenticator.authenticate(ctx);
      const user = answer instanceof Promise ? await answer : answer; // most answer at once
      if (user === undefined) continue;
      ctx.state.user = authenticated(user);
      await next();
      return;
    }
    if (ctx.get('Authorization') !== '') throw unauthorized(); // credentials that nobody knows are wrong, not absent
    ctx.state.user = ANONYMOUS;
    await next();
  };

export const unauthorized = (cause?: unknown): StatusError =>
  new StatusError('Unauthorized', 'Unauthorized', { cause });

/** Users are few and their requests many: the same user is not copied for each. */
const completed = new WeakMap<UserInfo, UserInfo>();

function authenticated(user: UserInfo): UserInfo {
  if (user.groups.includes(AUTHENTICATED_GROUP)) return user;
  let whole = completed.get(user);
  if (whole === undefined) completed.set(user, (whole = { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] }));
  return whole;
}
