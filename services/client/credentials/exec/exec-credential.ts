import { getOwn, isJsonObject } from '../../../machinery/meta/own.js';
import { parseJson } from '../../../machinery/codec/json.js';
import { canonicalTime } from '../../../machinery/schema/scalars.js';
import { ClientConfigError } from '../../kubeconfig/member.js';
import { checkKeyPair } from '../../kubeconfig/source.js';
import { CredentialError, bearerHeader } from '../credential.js';

/** A credential from a plugin. */
export interface ExecCredential {
  readonly headers: Readonly<Record<string, string>>;
  readonly pair: { readonly cert: string; readonly key: string } | undefined;
  /** Infinity when it does not expire. */
  readonly expiresAtMs: number;
}

const refuse = (why: string): never => {
  throw new CredentialError(`printed ${why}`);
};

/**
 * Reads what a credential plugin printed (spec 2, 5.8).
 *
 * @param apiVersion The one that it was asked in. @throws {CredentialError} It quotes nothing of the output.
 */
export function readExecCredential(output: Buffer, apiVersion: string): ExecCredential {
  const credential = parsed(output);
  if (!isJsonObject(credential) || getOwn(credential, 'kind') !== 'ExecCredential') return refuse('no ExecCredential');
  if (getOwn(credential, 'apiVersion') !== apiVersion) refuse(`another apiVersion than ${apiVersion}`);
  const status = getOwn(credential, 'status');
  if (!isJsonObject(status)) return refuse('an ExecCredential without status');
  const [token, cert, key] = ['token', 'clientCertificateData', 'clientKeyData'].map((name) => text(status, name));
  if (!token && !cert && !key) refuse('neither a token nor a certificate');
  if (cert && !key) refuse('a certificate without key');
  if (key && !cert) refuse('a key without certificate');
  return {
    headers: token ? (bearerHeader(token) ?? refuse('a token that no header can hold')) : {},
    pair: cert && key ? checked(cert, key) : undefined,
    expiresAtMs: expiry(text(status, 'expirationTimestamp')),
  };
}

function parsed(output: Buffer): unknown {
  try {
    return parseJson(output, { maxBytes: output.length, maxDepth: 100, maxYamlBytes: 0 });
  } catch {
    return refuse('no JSON'); // the parser's words quote the output
  }
}

/** Empty when absent. */
function text(status: object, name: string): string {
  const value = getOwn(status, name) ?? '';
  return typeof value === 'string' ? value : refuse(`status.${name} that is no string`);
}

function checked(cert: string, key: string): ExecCredential['pair'] {
  try {
    checkKeyPair(cert, key, 'a certificate that cannot be used');
  } catch (err) {
    refuse(err instanceof ClientConfigError ? err.message : 'a certificate that cannot be used');
  }
  return { cert, key };
}

function expiry(time: string): number {
  if (time === '') return Infinity;
  const canonical = canonicalTime(time, 'second');
  if (canonical === undefined) return refuse('status.expirationTimestamp that is no time');
  return canonical === null ? Infinity : Date.parse(canonical); // null: the time that stands for none
}
