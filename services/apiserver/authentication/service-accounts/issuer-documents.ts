import type { VerifyingKey } from '../jwt/signatures.js';

/** Documents by which others verify this server's tokens. */
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
  readonly keys: readonly VerifyingKey[];
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
  if (issuer === undefined || !isHttps(issuer) || keys.length === 0) return undefined;
  return {
    configuration: {
      issuer,
      jwks_uri: jwksUri === '' ? `${issuer.replace(/\/$/, '')}${KEY_SET_PATH}` : jwksUri,
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
  };
}

/** An https URL. */
export const isHttps = (text: string): boolean => URL.canParse(text) && new URL(text).protocol === 'https:';
