import type { Log } from '../../machinery/log/log.js';
import type { WebhookMetrics } from '../metrics/webhook-metrics.js';
import type { ApiServerOptions } from '../options/flags.js';
import { bearer } from './bearer.js';
import { bootstrapTokens } from './bootstrap-tokens.js';
import { Authorities } from './certificates/authorities.js';
import { clientCertificates } from './certificates/client-certificate.js';
import { PeerCertificates } from './certificates/peer.js';
import { requestHeaders } from './certificates/request-header.js';
import { audiencesOf } from './service-accounts/audiences.js';
import type { IssuerDocuments } from './service-accounts/issuer-documents.js';
import { openServiceAccounts, type StoredObjects } from './service-accounts/open.js';
import { tokenFile } from './token-file.js';
import { TokenReviewer } from './token-reviewer.js';
import type { Authenticator, TokenAuthenticator } from './authenticator.js';
import { webSocketProtocol } from './web-socket-protocol.js';

export interface Authentication {
  /** In the order in which they are asked. */
  readonly authenticators: readonly Authenticator[];
  /** Those for bearer tokens, for reviews as well. */
  readonly tokens: TokenReviewer;
  /** What others need to check tokens of service accounts by themselves; undefined: this server has none of it. */
  readonly issuerDocuments: IssuerDocuments | undefined;
}

export interface AuthenticationParts {
  readonly log: Log;
  /** Ends with the server. */
  readonly signal: AbortSignal;
  readonly core: StoredObjects;
  readonly metrics: WebhookMetrics;
}

/** Everybody who knows a client, as the flags say. @throws {Error} In one line, for files that cannot be used. */
export async function openAuthentication(o: ApiServerOptions, d: AuthenticationParts): Promise<Authentication> {
  const serviceAccounts = openServiceAccounts(o, d.core);
  const outside = [...(await idTokens(o, d)), ...(await askedServices(o, d))];
  // Cheap ones first, for a request with a token asks them all until one knows it: what has no dots is no account's.
  const known = [...serviceAccounts.tokens, ...tokenAuthenticators(o, d), ...outside];
  const tokens = new TokenReviewer(known, audiencesOf(o));
  const fromBrowsers = webSocketProtocol(tokens, d.core.vocabulary.protocols.bearerPrefix);
  const authenticators = [...certificateAuthenticators(o, d), bearer(tokens), fromBrowsers];
  return { authenticators, tokens, issuerDocuments: serviceAccounts.documents };
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

/** Tokens that are compared with what is written somewhere. */
function tokenAuthenticators(o: ApiServerOptions, { core }: AuthenticationParts): TokenAuthenticator[] {
  const secrets = core.resources.stored('', 'secrets');
  return [
    ...(o.tokenAuthFile === '' ? [] : [tokenFile(o.tokenAuthFile)]),
    ...(o.enableBootstrapTokenAuth && secrets !== undefined ? [bootstrapTokens({ ...core, secrets })] : []),
  ];
}

/** Those who ask others come last. Loaded only here: most servers have no such service. */
async function askedServices(o: ApiServerOptions, { core, ...d }: AuthenticationParts): Promise<TokenAuthenticator[]> {
  if (o.tokenWebhookConfigFile === '') return [];
  const { openTokenWebhook } = await import('./webhook/open.js');
  return [openTokenWebhook(o, { ...d, vocabulary: core.vocabulary })];
}

/** Loaded only here: most servers trust no such provider. */
async function idTokens(
  o: ApiServerOptions,
  { core, log, signal }: AuthenticationParts,
): Promise<readonly TokenAuthenticator[]> {
  if (o.oidcIssuerUrl === '') return [];
  const { openOidc } = await import('./oidc/open-oidc.js');
  return [openOidc(o, { log, signal, userAgent: core.vocabulary.serverName })];
}
