import { readFileSync } from 'node:fs';
import { tokenSigner, type TokenSigner } from './signer.js';

/** What tokens of service accounts are made with. */
export interface TokenIssuer {
  /** The name that tokens carry; a URL at best. */
  readonly issuer: string;
  /** For tokens whose request names none. */
  readonly audiences: readonly string[];
  /** Longest that a token may be good for; 0: as long as is asked. */
  readonly maxSeconds: number;
  /** Whether tokens of pods live longer than asked, so that programs which do not read them again can be found first. */
  readonly extends: boolean;
  readonly signer: TokenSigner;
}

export interface IssuerOptions {
  readonly serviceAccountIssuer: readonly string[];
  readonly serviceAccountSigningKeyFile: string;
  readonly apiAudiences: readonly string[];
  readonly serviceAccountMaxTokenExpirationMs: number;
  readonly serviceAccountExtendTokenExpiration: boolean;
}

/** undefined without a key: no tokens are issued. @throws {Error} In one line, for a key that cannot be used. */
export function tokenIssuer(o: IssuerOptions): TokenIssuer | undefined {
  const [issuer] = o.serviceAccountIssuer;
  if (o.serviceAccountSigningKeyFile === '' || issuer === undefined) return undefined;
  return {
    issuer,
    audiences: o.apiAudiences.length === 0 ? o.serviceAccountIssuer.slice(0, 1) : o.apiAudiences,
    maxSeconds: Math.floor(o.serviceAccountMaxTokenExpirationMs / 1000),
    extends: o.serviceAccountExtendTokenExpiration,
    signer: signerOf(o.serviceAccountSigningKeyFile),
  };
}

function signerOf(file: string): TokenSigner {
  try {
    return tokenSigner(readFileSync(file, 'utf8'));
  } catch (err) {
    throw new Error(`Cannot use ${file} to sign tokens: ${(err as Error).message}`, { cause: err });
  }
}
