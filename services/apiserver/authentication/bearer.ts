import type { Context } from '../request/request.js';
import type { TokenReviewer } from './token-reviewer.js';
import type { Authenticator } from './authenticator.js';

/** A scheme's name is the same in any case (RFC 9110, 11.1). */
const SCHEME = 'bearer';

/** Tokens in the header Authorization (RFC 6750, 2.1). Other schemes are not looked at. */
export const bearer = (tokens: TokenReviewer): Authenticator => ({
  name: 'bearer',
  authenticate: (ctx: Context) => {
    const { authorization } = ctx.req.headers;
    if (authorization === undefined || !isBearer(authorization)) return undefined;
    return tokens.authenticate(authorization.slice(SCHEME.length).trim(), undefined, ctx.state);
  },
});

function isBearer(header: string): boolean {
  const after = header.charAt(SCHEME.length);
  if (after !== ' ' && after !== '\t' && after !== '') return false;
  return header.slice(0, SCHEME.length).toLowerCase() === SCHEME;
}
