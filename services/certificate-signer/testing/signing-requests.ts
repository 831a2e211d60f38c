import type { CertificateSigningRequest } from '../../machinery/types/generated/certificates.v1.js';
import { issueAuthority, newKey, type Authority } from '../../machinery/pki/issue.js';
import type { OpenSsl } from '../../machinery/pki/testing/openssl.js';

const P256 = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

export interface AskedOf {
  /** As openssl takes it. @default /CN=alice */
  readonly subject?: string;
  /** e.g. `DNS:a,IP:10.0.0.1` */
  readonly names?: string;
  /** Of the key, as openssl takes it. */
  readonly key?: readonly string[];
}

/** A request that openssl makes, in PEM. The key lies in the file `key`. */
export function requestText(openssl: OpenSsl, { subject = '/CN=alice', names, key = P256 }: AskedOf = {}): string {
  const more = names === undefined ? [] : ['-addext', `subjectAltName=${names}`];
  const made = ['-newkey', ...key, '-nodes', '-keyout', 'key', '-out', 'request'];
  openssl.run('req', '-new', ...made, '-subj', subject, ...more);
  return openssl.read('request').toString();
}

export const condition = (type: string, lastUpdateTime?: string): object => ({
  type,
  status: 'True',
  ...(lastUpdateTime !== undefined && { lastUpdateTime }),
});

/** An object as the server keeps it. @param text The request in PEM. */
export const signingRequest = (
  name: string,
  text: string,
  { spec = {}, conditions = [], ...more }: { spec?: object; conditions?: readonly object[]; metadata?: object; certificate?: string }, // prettier-ignore
): CertificateSigningRequest => ({
  metadata: { name, ...more.metadata },
  spec: { request: Buffer.from(text).toString('base64'), usages: ['client auth'], ...spec },
  status: { conditions, ...(more.certificate !== undefined && { certificate: more.certificate }) },
});

/** @param now When it was made; it is good for ten years. */
export async function newAuthority(commonName: string, now = new Date()): Promise<Authority> {
  const key = await newKey();
  return { key, cert: issueAuthority({ key, commonName, previous: undefined }, now) };
}
