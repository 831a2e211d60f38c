import {
  bearerHeader,
  CredentialError,
  type Credential,
  type Credentials,
} from '../../client/credentials/credential.js';
import { SharedRun } from '../../client/credentials/shared-run.js';
import type { BuiltInTypes } from '../../client/rest/built-in-types.js';
import { isApiError, type ApiClient } from '../../client/rest/client.js';
import type { ObjectName } from '../../client/rest/resource-type.js';
import { backoffMs } from '../../machinery/loop/backoff.js';
import type { Log } from '../../machinery/log/log.js';
import type { TokenRequest } from '../../machinery/types/generated/authentication.v1.js';

export interface AccountOptions {
  /** Makes the account where it is missing, and asks for its tokens. */
  readonly client: ApiClient;
  readonly types: BuiltInTypes;
  readonly account: ObjectName;
  readonly log: Log;
  /** Milliseconds that only rise. */
  readonly now?: () => number;
}

interface Token {
  readonly credential: Credential;
  readonly renewAtMs: number;
  readonly endMs: number;
}

const LIFE_SECONDS = 3_600;
/** Part of a token's life after which the next one is asked for. */
const RENEW_AFTER = 0.8;
const RETRY = { leastMs: 1_000, mostMs: 60_000 };
const REQUEST_MS = 30_000;

/** Tokens of a service account, each used until it is old or refused. */
export function accountCredentials(o: AccountOptions): Credentials {
  return new AccountCredentials(o);
}

class AccountCredentials implements Credentials {
  readonly #o: AccountOptions;
  readonly #now: () => number;
  readonly #asking: SharedRun<Token>;
  #token: Token | undefined;
  #failures = 0;
  #retryAtMs = -Infinity;

  constructor(o: AccountOptions) {
    this.#o = o;
    this.#now = o.now ?? (() => performance.now());
    this.#asking = new SharedRun((signal) => this.#ask(signal), { abandoned: 'finished' });
  }

  async current(signal: AbortSignal): Promise<Credential> {
    const token = this.#token;
    const now = this.#now();
    if (token !== undefined && (now < token.renewAtMs || (now < token.endMs && now < this.#retryAtMs))) {
      return token.credential;
    }
    try {
      return (await this.#asking.join(signal)).credential;
    } catch (err) {
      signal.throwIfAborted();
      if (token !== undefined && token === this.#token && this.#now() < token.endMs) return token.credential;
      const { name } = this.#o.account;
      throw new CredentialError(`There is no token for the service account ${name}`, { cause: err });
    }
  }

  refused(used: Credential): boolean {
    if (this.#token?.credential === used) this.#token = undefined;
    return true;
  }

  close(): void {
    this.#asking.close();
  }

  async #ask(signal: AbortSignal): Promise<Token> {
    const { account, log } = this.#o;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]);
    try {
      const token = await this.#request(limit).catch(async (err: unknown) => {
        if (!isApiError(err, 'NotFound')) throw err;
        await this.#makeAccount(limit);
        return await this.#request(limit);
      });
      this.#failures = 0;
      return (this.#token = token);
    } catch (err) {
      this.#retryAtMs = this.#now() + backoffMs(this.#failures++, RETRY);
      if (!signal.aborted) log.warn('There is no new token for a controller', { account: account.name, err });
      throw err;
    }
  }

  async #request(signal: AbortSignal): Promise<Token> {
    const { client, types, account } = this.#o;
    const startMs = this.#now();
    const body: TokenRequest = { spec: { audiences: [], expirationSeconds: LIFE_SECONDS } };
    const { status } = await client.resource(types.serviceAccounts).post(account, 'token', body, signal);
    const headers = bearerHeader(status?.token ?? '');
    if (headers === undefined) throw new CredentialError('The server gave no token');
    const expires = Date.parse(status?.expirationTimestamp ?? '') - Date.now();
    const lifeMs = Number.isNaN(expires) ? LIFE_SECONDS * 1000 : Math.max(0, Math.min(expires, LIFE_SECONDS * 1000));
    const credential = { headers, certificateVersion: 0 };
    return { credential, renewAtMs: startMs + lifeMs * RENEW_AFTER, endMs: startMs + lifeMs };
  }

  async #makeAccount(signal: AbortSignal): Promise<void> {
    const { client, types, account, log } = this.#o;
    try {
      await client.resource(types.serviceAccounts).create({ metadata: account }, {}, signal);
      log.info('Service account made', { account: account.name });
    } catch (err) {
      if (!isApiError(err, 'AlreadyExists')) throw err;
    }
  }
}
