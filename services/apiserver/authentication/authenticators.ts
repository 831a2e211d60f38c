import { openPlugins, type Plugin } from '../../machinery/plugins/plugins.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Log } from '../../machinery/log/log.js';
import type { WebhookMetrics } from '../metrics/webhook-metrics.js';
import type { ApiServerOptions } from '../options/flags.js';
import type { Reader } from '../registry/reader.js';
import type { ResourceTable } from '../registry/resources.js';
import { bearer, TokenReviewer } from './token-reviewer.js';
import { bootstrapTokens } from './bootstrap-tokens.js';
import { Authorities } from './certificates/authorities.js';
import { clientCertificates, PeerCertificates } from './certificates/client-certificate.js';
import { requestHeaders } from './certificates/request-header.js';
import { audiencesOf, issuerDocuments, type IssuerDocuments } from './service-accounts/issuer-documents.js';
import { followedKeys, type VerifyingKeys } from './service-accounts/key-files.js';
import { serviceAccountTokens } from './service-accounts/service-account-tokens.js';
import { tokenFile } from './token-file.js';
import type { Authenticator, TokenAuthenticator } from './authenticator.js';
import { webSocketProtocol } from './web-socket-protocol.js';

export interface AuthenticationDeps {
  readonly vocabulary: Vocabulary;
  readonly resources: ResourceTable;
  readonly reader: Reader;
  readonly log: Log;
  readonly metrics: WebhookMetrics;
  /** Ends with the server. */
  readonly signal: AbortSignal;
  /** A token of a service account was signed with another key than the one that signs. */
  readonly onOldKey: () => void;
}

/** Dependencies of what knows bearer tokens. */
export interface TokenDeps extends AuthenticationDeps {
  /** Public keys that tokens of service accounts are verified with. */
  readonly keys: VerifyingKeys;
}

/** Dependencies of what looks at requests. */
export interface RequestDeps extends AuthenticationDeps {
  readonly tokens: TokenReviewer;
}

/**
 * Authenticators of bearer tokens, in the order in which they are asked, for requests and for reviews alike: cheap ones
 * first, those that ask other services last. Those that most servers do not have are loaded when they are wanted.
 */
export const TOKEN_AUTHENTICATORS: readonly Plugin<ApiServerOptions, TokenDeps, TokenAuthenticator>[] = [
  { name: 'service-account', open: serviceAccountTokens },
  { name: 'token-file', flag: 'tokenAuthFile', open: (o, d) => tokenFile(o.tokenAuthFile, d) },
  { name: 'bootstrap-token', flag: 'enableBootstrapTokenAuth', open: (_, d) => bootstrapTokens(d) },
  { name: 'oidc', flag: 'oidcIssuerUrl', open: async (o, d) => (await import('./oidc/open-oidc.js')).openOidc(o, d) },
  {
    name: 'webhook',
    flag: 'tokenWebhookConfigFile',
    open: async (o, d) => (await import('./webhook/token-webhook.js')).openTokenWebhook(o, d),
  },
];

/** Authenticators of requests, in the order in which they are asked. */
export const AUTHENTICATORS: readonly Plugin<ApiServerOptions, RequestDeps, Authenticator>[] = [
  // A proxy comes before the clients whose requests it sends on: its own certificate may be good for a user, too.
  {
    name: 'request-header',
    flag: 'requestHeaderClientCaFile',
    open: (o, d) => requestHeaders(o, peersOf(o.requestHeaderClientCaFile, d)),
  },
  { name: 'client-certificate', flag: 'clientCaFile', open: (o, d) => clientCertificates(peersOf(o.clientCaFile, d)) },
  { name: 'bearer', open: (_, { tokens }) => bearer(tokens) },
  {
    name: 'web-socket-protocol',
    open: (_, { tokens, vocabulary }) => webSocketProtocol(tokens, vocabulary.protocols.bearerPrefix),
  },
];

const peersOf = (caFile: string, { log, signal }: AuthenticationDeps): PeerCertificates =>
  new PeerCertificates(new Authorities(caFile, log, signal));

export interface Authentication {
  /** In the order in which they are asked. */
  readonly authenticators: readonly Authenticator[];
  /** The authenticators of bearer tokens, for reviews as well. */
  readonly tokenReviewer: TokenReviewer;
  /** For those who check tokens of service accounts by themselves; undefined: this server verifies or issues none. */
  readonly issuerDocuments: IssuerDocuments | undefined;
}

/** @throws {Error} In one line, for files that cannot be used. */
export async function openAuthentication(
  o: ApiServerOptions,
  d: AuthenticationDeps,
  tables = { requests: AUTHENTICATORS, tokens: TOKEN_AUTHENTICATORS },
): Promise<Authentication> {
  const keys = followedKeys(o, d.log, d.signal);
  const known = await openPlugins(tables.tokens, o, { ...d, keys });
  const tokenReviewer = new TokenReviewer([...known.values()], audiencesOf(o));
  const authenticators = await openPlugins(tables.requests, o, { ...d, tokens: tokenReviewer });
  return {
    authenticators: [...authenticators.values()],
    tokenReviewer,
    issuerDocuments: issuerDocuments({ issuer: o.serviceAccountIssuer[0], jwksUri: o.serviceAccountJwksUri, keys }),
  };
}
