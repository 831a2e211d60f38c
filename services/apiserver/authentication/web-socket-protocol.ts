import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { headersOf, removeHeaders, replaceHeader } from '../http/headers.js';
import { upgradeOf } from '../http/upgrade.js';
import type { Context } from '../request/request.js';
import { TokenRefused, type TokenReviewer } from './token-reviewer.js';
import type { Authenticator } from './authenticator.js';

const HEADER = 'sec-websocket-protocol';
/** Without padding (RFC 4648, 5 and 3.2). */
const BASE64URL = /^[\w-]+$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Tokens among the protocols that a browser offers for a socket, as it can set no other header there. Only requests that
 * ask for a web socket are looked at. The token is taken off the request, so there has to be another protocol to agree on.
 *
 * @param prefix What stands before a token, which is in base64url.
 */
export const webSocketProtocol = (tokens: TokenReviewer, prefix: string): Authenticator => ({
  name: 'web-socket-protocol',
  authenticate: ({ req, state }: Context) => {
    if (upgradeOf(req)?.protocol.toLowerCase() !== 'websocket') return undefined;
    const offered = offeredBy(req);
    const carriers = offered.filter((protocol) => protocol.startsWith(prefix));
    const [carrier, ...more] = carriers;
    if (carrier === undefined) return undefined;
    const others = offered.filter((protocol) => !protocol.startsWith(prefix));
    offer(req, others);
    if (more.length > 0) throw new TokenRefused('There is more than one token among the protocols');
    if (others.length === 0) throw new TokenRefused('There is no protocol beside the token');
    return tokens.authenticate(tokenIn(carrier.slice(prefix.length)), undefined, state);
  },
});

type Request = IncomingMessage | Http2ServerRequest;

const isOurs = (name: string): boolean => name === HEADER;

const offeredBy = (req: Request): readonly string[] =>
  headersOf(req, isOurs)
    .flatMap(({ value }) => value.split(','))
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '');

/** Leaves these protocols and takes the token off, so that it is not sent on. */
function offer(req: Request, protocols: readonly string[]): void {
  if (protocols.length === 0) removeHeaders(req, isOurs);
  else replaceHeader(req, HEADER, protocols.join(', '));
}

/** @throws {TokenRefused} */
function tokenIn(encoded: string): string {
  if (!BASE64URL.test(encoded) || encoded.length % 4 === 1) throw new TokenRefused('The token is no base64url');
  try {
    return utf8.decode(Buffer.from(encoded, 'base64url'));
  } catch {
    throw new TokenRefused('The token is no UTF-8'); // what the decoder says might tell some of it
  }
}
