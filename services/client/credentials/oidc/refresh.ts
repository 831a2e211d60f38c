import type { Agent } from 'node:https';
import { parseJson } from '../../../machinery/codec/json.js';
import { getOwn, isJsonObject } from '../../../machinery/meta/own.js';
import type { Exchange, Exchanged } from '../../remote/exchange.js';
import { exchange, shown } from '../../remote/exchange.js';
import { RemoteError } from '../../remote/remote-service.js';
import { basicHeader } from '../fixed.js';
import { CredentialError } from '../credential.js';

const MAX_ANSWER_BYTES = 1024 * 1024;

/** Where tokens come from, and who we are there. */
export interface OidcClient {
  /** An https URL. */
  readonly issuer: string;
  readonly clientId: string;
  /** Empty for a client that has none. */
  readonly clientSecret: string;
}

export interface RefreshedTokens {
  readonly idToken: string;
  /** Empty when the provider goes on with the one that it was shown. */
  readonly refreshToken: string;
}

/**
 * Gets a new ID token with a refresh token (OpenID Connect Core, 12; RFC 6749, 6). Its claims are not looked at.
 *
 * @throws {CredentialError} It names the provider, and holds no token. @throws `signal.reason` if it fires first.
 */
export async function refreshTokens(
  client: OidcClient,
  refreshToken: string,
  agent: Agent,
  signal: AbortSignal,
): Promise<RefreshedTokens> {
  const metadata = await discover(client, agent, signal);
  const request = tokenRequest(client, metadata, refreshToken);
  const { answer, what } = await ask({ ...request, agent, maxBytes: MAX_ANSWER_BYTES }, signal);
  const body = jsonOf(answer);
  if (answer.status !== 200) refuse(what, refusal(answer.status, body));
  const [idToken, newRefreshToken] = ['id_token', 'refresh_token'].map((name) => stringOf(body, name));
  if (!idToken) {
    refuse(
      what,
      'answered without id_token: the login lacked the scope openid, or the provider gives none at a refresh',
    );
  }
  return { idToken, refreshToken: newRefreshToken ?? '' };
}

interface Metadata {
  readonly tokenEndpoint: URL;
  readonly takesBasic: boolean;
}

/** OpenID Connect Discovery, 4. */
async function discover({ issuer }: OidcClient, agent: Agent, signal: AbortSignal): Promise<Metadata> {
  const url = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const headers = { accept: 'application/json' };
  const { answer, what } = await ask({ method: 'GET', url, headers, agent, maxBytes: MAX_ANSWER_BYTES }, signal);
  if (answer.status !== 200) refuse(what, `answered with the status ${answer.status}`);
  const body = jsonOf(answer);
  if (body === undefined) return refuse(what, 'the answer is no JSON object');
  if (stringOf(body, 'issuer') !== issuer) refuse(what, 'is of another issuer than the configuration says');
  const endpoint = stringOf(body, 'token_endpoint');
  if (!URL.canParse(endpoint) || new URL(endpoint).protocol !== 'https:')
    refuse(what, 'names no token endpoint in https');
  const methods = getOwn(body, 'token_endpoint_auth_methods_supported');
  const takesBasic = !Array.isArray(methods) || methods.includes('client_secret_basic'); // the default
  return { tokenEndpoint: new URL(endpoint), takesBasic };
}

/** The client says who it is in a header where the provider takes that, else beside the token (RFC 6749, 2.3.1). */
function tokenRequest(
  { clientId, clientSecret }: OidcClient,
  { tokenEndpoint, takesBasic }: Metadata,
  refreshToken: string,
): Pick<Exchange, 'method' | 'url' | 'headers' | 'body'> {
  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken });
  const inHeader = clientSecret !== '' && takesBasic;
  if (!inHeader) form.set('client_id', clientId);
  if (!inHeader && clientSecret !== '') form.set('client_secret', clientSecret);
  return {
    method: 'POST',
    url: tokenEndpoint,
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...(inHeader ? basicHeader(formEncoded(clientId), formEncoded(clientSecret)) : {}),
    },
    body: Buffer.from(form.toString()),
  };
}

const formEncoded = (text: string): string => new URLSearchParams({ x: text }).toString().slice(2);

async function ask(e: Exchange, signal: AbortSignal): Promise<{ readonly answer: Exchanged; readonly what: string }> {
  try {
    return { answer: await exchange(e, signal), what: shown(e) };
  } catch (err) {
    throw err instanceof RemoteError ? new CredentialError(err.message, { cause: err }) : err;
  }
}

/** undefined for anything but an object. */
function jsonOf({ body }: Exchanged): object | undefined {
  try {
    const value = parseJson(body, { maxBytes: body.length, maxDepth: 100, maxYamlBytes: 0 });
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // the parser's words quote the answer
  }
}

function stringOf(body: object | undefined, name: string): string {
  const value = body === undefined ? undefined : getOwn(body, name);
  return typeof value === 'string' ? value : '';
}

/** The provider's word for it (RFC 6749, 5.2); its sentences may quote what it was sent. */
function refusal(status: number, body: object | undefined): string {
  const code = stringOf(body, 'error');
  return `answered with the status ${status}${/^[a-z_]{1,40}$/.test(code) ? ` (${code})` : ''}`;
}

function refuse(what: string, why: string): never {
  throw new CredentialError(`${what}: ${why}`);
}
