import type { VerifyingKey } from '../jwt/signatures.js';
import type { VerifyingKeys } from './key-files.js';

/** Documents by which others verify this server's tokens; the same objects until the keys change. */
export interface IssuerDocuments {
  /** `/.well-known/openid-configuration` (OpenID Connect Discovery 1.0, section 3). */
  readonly configuration: object;
  /** `/openid/v1/jwks`: the keys (RFC 7517, section 5). */
  readonly keySet: object;
}

export interface IssuerOptions {
  readonly issuer: string | undefined;
  /** Where the keys are; '' for below the issuer, where the other document is. */
  readonly jwksUri: string;
  readonly keys: Pick<VerifyingKeys, 'current'>;
}

export const CONFIGURATION_PATH = '/.well-known/openid-configuration';
export const KEY_SET_PATH = '/openid/v1/jwks';

export interface AudienceOptions {
  readonly apiAudiences: readonly string[];
  readonly serviceAccountIssuer: readonly string[];
}

/** Audiences of tokens for this server. Former issuers count, as tokens that they issued for themselves live on. */
export const audiencesOf = ({ apiAudiences, serviceAccountIssuer }: AudienceOptions): readonly string[] =>
  apiAudiences.length === 0 ? serviceAccountIssuer : apiAudiences;

/** undefined without keys, and for an issuer that cannot be looked up: only https URLs can be (section 2 there). */
export function issuerDocuments({ issuer, jwksUri, keys }: IssuerOptions): IssuerDocuments | undefined {
  if (issuer === undefined || !isHttps(issuer) || keys.current.length === 0) return undefined;
  const jwks = jwksUri === '' ? `${issuer.replace(/\/$/, '')}${KEY_SET_PATH}` : jwksUri;
  let made = { of: keys.current, documents: documentsOf(issuer, jwks, keys.current) };
  const present = (): IssuerDocuments => {
    const of = keys.current;
    if (made.of !== of) made = { of, documents: documentsOf(issuer, jwks, of) };
    return made.documents;
  };
  return {
    get configuration() {
      return present().configuration;
    },
    get keySet() {
      return present().keySet;
    },
  };
}

const documentsOf = (issuer: string, jwksUri: string, keys: readonly VerifyingKey[]): IssuerDocuments => ({
  configuration: {
    issuer,
    jwks_uri: jwksUri,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithms }) => algorithms[0]))].sort(),
  },
  keySet: {
    keys: keys.map(({ id, key, algorithms }) => ({
      use: 'sig',
      kid: id,
      alg: algorithms[0],
      ...key.export({ format: 'jwk' }), // a public key: of a private one this would be the key itself
    })),
  },
});

/** An https URL. */
export const isHttps = (text: string): boolean => URL.canParse(text) && new URL(text).protocol === 'https:';
