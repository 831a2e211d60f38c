import { peerOf } from '../authentication/certificates/client-certificate.js';
import type { Context } from '../request/request.js';

/** The kinds of unknown credentials that a request carried; never one of the credentials. */
export function attempted(ctx: Context): string {
  const authorization = (ctx.req.headers.authorization ?? '').trim().toLowerCase();
  const kinds = [
    ...(authorization.startsWith('basic ') ? ['basic'] : []),
    ...(authorization.startsWith('bearer ') ? ['bearer'] : []),
    ...((ctx.state.query.get('access_token') ?? '') === '' ? [] : ['access_token']),
    ...(peerOf(ctx).getPeerX509Certificate() === undefined ? [] : ['x509']),
  ];
  if (kinds.length === 0) return 'Authentication failed, no credentials provided';
  return `Authentication failed, attempted: ${kinds.join(', ')}`;
}
