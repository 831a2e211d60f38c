import { AUTHENTICATED_GROUP } from '../authentication/types.js';
import type { Authorizer } from './types.js';

/** What everybody may read, with or without a name: whether the server lives, and its version. */
const PUBLIC = /^\/(?:healthz|livez|readyz|version)(?:\/|$)/;

/** Whoever has a name may do everything. */
export const allowAuthenticated: Authorizer = {
  name: 'AllowAuthenticated',
  authorize: (user) =>
    user.groups.includes(AUTHENTICATED_GROUP)
      ? { decision: 'allow', reason: '' }
      : { decision: 'noOpinion', reason: '' },
};

export const allowPublicPaths: Authorizer = {
  name: 'AllowPublicPaths',
  authorize: (_user, info) =>
    info.kind === 'path' && (info.verb === 'get' || info.verb === 'head') && PUBLIC.test(info.path)
      ? { decision: 'allow', reason: '' }
      : { decision: 'noOpinion', reason: '' },
};
