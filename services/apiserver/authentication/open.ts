import type { Log } from '../log.js';
import type { ApiServerOptions } from '../options.js';
import { bearer } from './bearer.js';
import { Authorities } from './certificates/authorities.js';
import { clientCertificates } from './certificates/client-certificate.js';
import { PeerCertificates } from './certificates/peer.js';
import { requestHeaders } from './certificates/request-header.js';
import { tokenFile } from './token-file.js';
import { TokenReviewer } from './token-reviewer.js';
import type { Authenticator, TokenAuthenticator } from './types.js';

export interface Authentication {
  /** In the order in which they are asked. */
  readonly authenticators: readonly Authenticator[];
  /** Those for bearer tokens, for reviews as well. */
  readonly tokens: TokenReviewer;
}

export interface AuthenticationParts {
  readonly log: Log;
  /** Ends with the server. */
  readonly signal: AbortSignal;
}

/** Everybody who knows a client, as the flags say. @throws {Error} In one line, for files that cannot be used. */
export function openAuthentication(o: ApiServerOptions, d: AuthenticationParts): Authentication {
  const tokens = new TokenReviewer(tokenAuthenticators(o), audiencesOf(o));
  return { authenticators: [...certificateAuthenticators(o, d), bearer(tokens)], tokens };
}

/** A proxy comes before the clients whose requests it passes on: its own certificate may be good for a user, too. */
function certificateAuthenticators(o: ApiServerOptions, { log, signal }: AuthenticationParts): Authenticator[] {
  const peers = (file: string): PeerCertificates => new PeerCertificates(new Authorities(file, log, signal));
  const proxies =
    o.requestHeaderClientCaFile === ''
      ? []
      : [
          requestHeaders({
            peers: peers(o.requestHeaderClientCaFile),
            allowedNames: o.requestHeaderAllowedNames,
            usernameHeaders: o.requestHeaderUsernameHeaders,
            groupHeaders: o.requestHeaderGroupHeaders,
            extraHeaderPrefixes: o.requestHeaderExtraHeadersPrefix,
          }),
        ];
  return [...proxies, ...(o.clientCaFile === '' ? [] : [clientCertificates(peers(o.clientCaFile))])];
}

/** Cheap ones first: a request with a token asks them all until one knows it. */
function tokenAuthenticators(o: ApiServerOptions): TokenAuthenticator[] {
  return [...(o.tokenAuthFile === '' ? [] : [tokenFile(o.tokenAuthFile)])];
}

/** Whom tokens for this server are meant for. */
export const audiencesOf = (o: Pick<ApiServerOptions, 'apiAudiences' | 'serviceAccountIssuer'>): readonly string[] =>
  o.apiAudiences.length === 0 ? o.serviceAccountIssuer.slice(0, 1) : o.apiAudiences;
