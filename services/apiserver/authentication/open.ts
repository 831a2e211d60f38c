import type { ApiServerOptions } from '../options.js';
import { bearer } from './bearer.js';
import { clientCertificates } from './client-certificate.js';
import { tokenFile } from './token-file.js';
import { TokenReviewer } from './token-reviewer.js';
import type { Authenticator, TokenAuthenticator } from './types.js';

export interface Authentication {
  /** In the order in which they are asked. */
  readonly authenticators: readonly Authenticator[];
  /** Those for bearer tokens, for reviews as well. */
  readonly tokens: TokenReviewer;
}

/** Everybody who knows a client, as the flags say. @throws {Error} In one line, for files that cannot be used. */
export function openAuthentication(o: ApiServerOptions): Authentication {
  const tokens = new TokenReviewer(tokenAuthenticators(o), audiencesOf(o));
  const certificates = o.clientCaFile === '' ? [] : [clientCertificates];
  return { authenticators: [...certificates, bearer(tokens)], tokens };
}

/** Cheap ones first: a request with a token asks them all until one knows it. */
function tokenAuthenticators(o: ApiServerOptions): TokenAuthenticator[] {
  return [...(o.tokenAuthFile === '' ? [] : [tokenFile(o.tokenAuthFile)])];
}

/** Whom tokens for this server are meant for. */
export const audiencesOf = (o: Pick<ApiServerOptions, 'apiAudiences' | 'serviceAccountIssuer'>): readonly string[] =>
  o.apiAudiences.length === 0 ? o.serviceAccountIssuer.slice(0, 1) : o.apiAudiences;
