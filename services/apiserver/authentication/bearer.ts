import type { Context } from '../pipeline/request.js';
import type { TokenReviewer } from './token-reviewer.js';
import type { Authenticator } from './types.js';

/** RFC 6750, 2.1; a scheme's name is the same in any case (RFC 9110, 11.1). */
const BEARER = /^bearer(?:[ \t]+(.*))?$/is;

/** Tokens in the header Authorization. Other schemes are not looked at. */
export const bearer = (tokens: TokenReviewer): Authenticator => ({
  name: 'bearer',
  authenticate: (ctx: Context) => {
    const scheme = BEARER.exec(ctx.req.headers.authorization ?? '');
    if (scheme === null) return undefined;
    return tokens.authenticate((scheme[1] ?? '').trim());
  },
});
