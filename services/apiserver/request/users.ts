import type { UserInfo } from './request.js';

/** Requests without credentials. */
export const ANONYMOUS: UserInfo = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} };
export const AUTHENTICATED_GROUP = 'system:authenticated';
export const PRIVILEGED_GROUP = 'system:masters';
/** The author of the objects that the server makes by itself. */
export const THE_SERVER: UserInfo = { name: 'system:apiserver', uid: '', groups: [PRIVILEGED_GROUP], extra: {} };
