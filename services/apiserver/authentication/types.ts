import type { Context, UserInfo } from '../pipeline/request.js';

/**
 * Looks at one kind of credential. undefined: the request carries none of that kind, the next one is asked. Throws
 * Unauthorized for a credential that is there and wrong.
 */
export interface Authenticator {
  readonly name: string;
  authenticate(ctx: Context): Promise<UserInfo | undefined> | UserInfo | undefined;
}

export const ANONYMOUS: UserInfo = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} };
export const AUTHENTICATED_GROUP = 'system:authenticated';
export const PRIVILEGED_GROUP = 'system:masters';
