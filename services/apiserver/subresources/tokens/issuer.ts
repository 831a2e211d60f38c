import type { Log } from '../../../machinery/log/log.js';
import type { Catalog, ResourceDeclaration } from '../../../machinery/types/declarations.js';
import { audiencesOf, type AudienceOptions } from '../../authentication/service-accounts/issuer-documents.js';
import { fileSigner, type TokenSigner } from '../../../machinery/jwt/token-signer.js';

/** Issuer, audiences, key and longest life of the tokens of service accounts. */
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

export interface IssuerOptions extends AudienceOptions {
  readonly serviceAccountSigningKeyFile: string;
  readonly serviceAccountMaxTokenExpirationMs: number;
  readonly serviceAccountExtendTokenExpiration: boolean;
}

/** The catalog without tokens of service accounts, on a server without a key for them. */
export const offered = (catalog: Catalog, o: IssuerOptions): Catalog =>
  canIssue(o) ? catalog : { ...catalog, resources: catalog.resources.map(withoutTokens) };

const canIssue = (o: IssuerOptions): boolean =>
  o.serviceAccountSigningKeyFile !== '' && o.serviceAccountIssuer.length > 0;

const withoutTokens = (d: ResourceDeclaration): ResourceDeclaration =>
  d.group === '' && d.resource === 'serviceaccounts'
    ? { ...d, subresources: d.subresources.filter(({ name }) => name !== 'token') }
    : d;

/** undefined without a key: no tokens are issued. @throws {Error} In one line, for a key that cannot be used. */
export function tokenIssuer(o: IssuerOptions, log: Pick<Log, 'info' | 'warn'>): TokenIssuer | undefined {
  const [issuer] = o.serviceAccountIssuer;
  if (!canIssue(o) || issuer === undefined) return undefined;
  return {
    issuer,
    audiences: audiencesOf(o),
    maxSeconds: Math.floor(o.serviceAccountMaxTokenExpirationMs / 1000),
    extends: o.serviceAccountExtendTokenExpiration,
    signer: fileSigner(o.serviceAccountSigningKeyFile, log),
  };
}
