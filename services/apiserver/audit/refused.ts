import { peerOf } from '../authentication/certificates/peer.js';
import type { Context } from '../request/request.js';

/** Which kinds of credentials a request carried that nobody knows; never one of them. */
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
