import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Configuration } from 'oidc-provider';
import { Provider } from 'oidc-provider';
import type { KeyPair } from './certificates.js';

export const CLIENT = { id: 'command line', secret: 's3cret +%:&/=' } as const;

export interface OpenIdProvider {
  /** `https://localhost:PORT` */
  readonly issuer: string;
  /** `METHOD PATH`, in the order of arrival. */
  readonly asked: string[];
  /** Called with each of them before it is answered. */
  onAsked: ((line: string) => void) | undefined;
  /** A refresh token after a login. @param scope Without `openid` no ID token comes of it. */
  refreshToken(o?: { readonly account?: string; readonly scope?: string }): Promise<string>;
  /** Answers the next requests in the provider's place, until it is undefined again. */
  instead: ((req: IncomingMessage, res: ServerResponse) => void) | undefined;
  close(): Promise<void>;
}

/** A real OpenID provider over TLS, whose refresh tokens are good for one use. */
export async function startOpenIdProvider(pair: KeyPair, more: Configuration = {}): Promise<OpenIdProvider> {
  const server = createServer(pair).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `https://localhost:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, configuration(more));
  const answer = provider.callback();
  const it: OpenIdProvider = {
    issuer,
    asked: [],
    onAsked: undefined,
    instead: undefined,
    refreshToken: ({ account = 'jane', scope = 'openid offline_access' } = {}) => grantTo(provider, account, scope),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    const line = `${req.method ?? ''} ${req.url ?? ''}`;
    it.asked.push(line);
    it.onAsked?.(line);
    if (it.instead === undefined) void answer(req, res);
    else it.instead(req, res);
  });
  return it;
}

function configuration(more: Configuration): Configuration {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
  return {
    jwks: { keys: [{ ...key, kid: randomUUID(), use: 'sig', alg: 'RS256' }] },
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: ['http://localhost:8000'],
      },
    ],
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    rotateRefreshToken: true,
    ttl: { AccessToken: 60, Grant: 3600, IdToken: 3600, RefreshToken: 3600 },
    cookies: { keys: ['not used'] },
    features: { devInteractions: { enabled: false } },
    ...more,
  };
}

async function grantTo(provider: Provider, accountId: string, scope: string): Promise<string> {
  const client = await provider.Client.find(CLIENT.id);
  if (client === undefined) throw new Error('the client is not known');
  const grant = new provider.Grant({ accountId, clientId: CLIENT.id });
  grant.addOIDCScope(scope);
  const grantId = await grant.save();
  const token = new provider.RefreshToken({
    accountId,
    client,
    grantId,
    scope,
    gty: 'authorization_code',
    authTime: Math.floor(Date.now() / 1000),
    claims: {},
  });
  return token.save();
}
