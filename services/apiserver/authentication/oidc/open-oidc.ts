import { readFileSync } from 'node:fs';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { parseBundle } from '../certificates/authorities.js';
import type { TokenAuthenticator } from '../authenticator.js';
import { IdTokens } from './id-tokens.js';
import { OpenIdProvider } from './provider.js';
import { ProviderKeys, type ProviderKeysDeps } from './provider-keys.js';
import { claimRules, type UserFlags } from './user.js';

export interface OidcFlags extends UserFlags {
  readonly oidcCaFile: string;
  readonly oidcSigningAlgs: readonly string[];
}

export interface OidcParts {
  readonly log: ProviderKeysDeps['log'];
  /** Ends with the server. */
  readonly signal: AbortSignal;
  readonly vocabulary: Pick<Vocabulary, 'serverName'>;
}

/**
 * Authenticates by ID tokens of one trusted provider, which need not be there yet: its keys are read until it answers, and again.
 *
 * @throws {Error} In one line, when the authorities of its certificate cannot be used.
 */
export function openOidc(o: OidcFlags, { log, signal, vocabulary }: OidcParts): TokenAuthenticator {
  const { oidcIssuerUrl: issuer, oidcCaFile: caFile } = o;
  if (caFile !== '') checkAuthorities(caFile);
  const algorithms = new Set(o.oidcSigningAlgs);
  const provider = new OpenIdProvider({ issuer, caFile, algorithms, userAgent: vocabulary.serverName });
  signal.addEventListener('abort', () => provider.close(), { once: true });
  const keys = new ProviderKeys({ fetchKeys: (until) => provider.fetchKeys(until), log, signal });
  void keys.run();
  return new IdTokens({ issuer, algorithms, rules: claimRules(o), keys });
}

function checkAuthorities(file: string): void {
  try {
    parseBundle(readFileSync(file, 'utf8'));
  } catch (err) {
    throw new Error(`Cannot use ${file} for the OpenID provider: ${(err as Error).message}`, { cause: err });
  }
}
