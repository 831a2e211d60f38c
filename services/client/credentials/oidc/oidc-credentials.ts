import { deadline } from '../../deadline/deadline.js';
import type { ServerTrust } from '../../kubeconfig/connection.js';
import { agentFor } from '../../remote/agents.js';
import { SharedRun } from '../shared-run.js';
import type { Credential, Credentials } from '../credential.js';
import { CredentialError, bearerHeader } from '../credential.js';
import { idTokenClaims } from './id-token.js';
import type { OidcClient, RefreshedTokens } from './refresh.js';
import { refreshTokens } from './refresh.js';

const REFRESH_MS = 30_000;
/** A token is not shown any more when it expires so soon. */
const MARGIN_MS = 10_000;
/** A token that is refused so soon after it was made would be refused again. */
const NEW_MS = 60_000;

/** Either may be empty. */
export interface OidcTokens {
  readonly idToken: string;
  readonly refreshToken: string;
}

/** Where tokens are kept between processes. */
export interface TokenStore {
  /** The state that other processes have written meanwhile, undefined when it cannot be read. */
  load(): OidcTokens | undefined;
  save(tokens: OidcTokens): Promise<void>;
}

export interface OidcOptions {
  readonly client: OidcClient;
  readonly trust: ServerTrust;
  readonly tokens: OidcTokens;
  readonly store: TokenStore;
  /** Told when refreshed tokens cannot be stored. */
  readonly warn: (message: string, keys: object) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * The ID token of an OpenID provider as a bearer token (spec 2, 5.6), refreshed when it is about to expire and when a
 * server does not know it. All who ask at the same time share one refresh. It goes on when they leave, for the provider
 * may take the old refresh token for used as soon as it has seen it.
 */
export class OidcCredentials implements Credentials {
  readonly #o: OidcOptions;
  readonly #now: () => number;
  readonly #run = new SharedRun((signal) => this.#renew(signal), { abandoned: 'finished' });
  #tokens: OidcTokens;
  #credential: Credential | undefined;
  /** A token that a server did not know. */
  #refused = '';
  #renewedAtMs = -Infinity;

  constructor(o: OidcOptions) {
    this.#o = o;
    this.#now = o.now ?? Date.now;
    this.#tokens = o.tokens;
  }

  async current(signal: AbortSignal): Promise<Credential> {
    if (!this.#isGood(this.#tokens.idToken)) await this.#run.join(signal);
    return (this.#credential ??= credentialOf(this.#tokens.idToken));
  }

  refused(used: Credential): boolean {
    if (used !== this.#credential) return true; // it has been renewed meanwhile
    if (this.#tokens.refreshToken === '' || this.#now() - this.#renewedAtMs < NEW_MS) return false;
    this.#refused = this.#tokens.idToken;
    return true;
  }

  close(): void {
    this.#run.close();
  }

  #isGood(idToken: string): boolean {
    if (idToken === '' || idToken === this.#refused) return false;
    const claims = idTokenClaims(idToken);
    return claims !== undefined && claims.expiresAtMs - this.#now() > MARGIN_MS;
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const stored = this.#o.store.load() ?? this.#tokens;
    if (this.#isGood(stored.idToken)) {
      this.#take(stored); // another process was faster
      return;
    }
    const refreshToken = stored.refreshToken === '' ? this.#tokens.refreshToken : stored.refreshToken;
    if (refreshToken === '') {
      throw new CredentialError(
        `${this.#o.client.issuer}: the id-token is no longer good, and there is no refresh-token`,
      );
    }
    const renewed = await this.#refresh(refreshToken, signal);
    this.#check(renewed);
    this.#take({ idToken: renewed.idToken, refreshToken: renewed.refreshToken || refreshToken });
    this.#renewedAtMs = this.#now();
    await this.#save();
  }

  async #refresh(refreshToken: string, signal: AbortSignal): Promise<RefreshedTokens> {
    const { client, trust } = this.#o;
    const late = (): Error => new CredentialError(`${client.issuer}: no tokens within ${REFRESH_MS} ms`);
    const limit = deadline(REFRESH_MS, signal, late);
    const agent = agentFor(trust, {});
    try {
      return await refreshTokens(client, refreshToken, agent, limit.signal);
    } finally {
      limit.end();
      agent.destroy();
    }
  }

  /** A new token is of the same issuer, and of the same person as the one before (OpenID Connect Core, 12.2). */
  #check({ idToken }: RefreshedTokens): void {
    const { issuer } = this.#o.client;
    const claims = idTokenClaims(idToken);
    const before = idTokenClaims(this.#tokens.idToken);
    if (claims === undefined) throw new CredentialError(`${issuer}: gave an id_token that cannot be read`);
    if (claims.issuer !== issuer) throw new CredentialError(`${issuer}: gave an id_token of another issuer`);
    if (before !== undefined && before.subject !== claims.subject) {
      throw new CredentialError(`${issuer}: gave an id_token of somebody else`);
    }
  }

  #take(tokens: OidcTokens): void {
    this.#credential = credentialOf(tokens.idToken);
    this.#tokens = tokens;
  }

  async #save(): Promise<void> {
    try {
      await this.#o.store.save(this.#tokens);
    } catch (err) {
      this.#o.warn('Refreshed credentials cannot be stored, the next process may have to log in anew', { err });
    }
  }
}

function credentialOf(idToken: string): Credential {
  const headers = bearerHeader(idToken);
  if (headers === undefined) throw new CredentialError('The id-token is one that no header can hold');
  return { headers, certificateVersion: 0 };
}
