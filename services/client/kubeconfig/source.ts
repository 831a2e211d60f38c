import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { ClientConfig, Source } from './config.js';
import { readBounded } from './bounded-file.js';
import { ClientConfigError } from './member.js';

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The content of a source, undefined when there is none. Data in the file itself counts first. @throws {ClientConfigError} */
export function textOf(source: Source): string | undefined {
  if (source.data === '') return source.file === '' ? undefined : readBounded(source.file).toString('utf8');
  const compact = source.data.replace(/\s+/g, '');
  if (!BASE64.test(compact)) return source.dataMember.fail('must be Base64');
  return Buffer.from(compact, 'base64').toString('utf8');
}

/** Where a source is, for errors. */
export const placeOf = (source: Source, { file }: Pick<ClientConfig, 'file'>): string =>
  source.data === '' ? source.file : file;

/**
 * Checks that PEM text holds certificates, each of which can be read.
 *
 * @param place Named in errors. @throws {ClientConfigError}
 */
export function checkCertificates(pem: string, place: string): void {
  const blocks = pem.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new ClientConfigError(`${place}: holds no certificate in PEM`);
  for (const [i, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch {
      throw new ClientConfigError(`${place}: certificate ${i + 1} cannot be read`);
    }
  }
}

/**
 * Checks that a key in PEM belongs to the first certificate.
 *
 * @param place Named in errors. @throws {ClientConfigError} It quotes nothing, and has no cause that would.
 */
export function checkKeyPair(cert: string, key: string, place: string): void {
  checkCertificates(cert, place);
  let matches: boolean;
  try {
    matches = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    throw new ClientConfigError(`${place}: the private key cannot be read`);
  }
  if (!matches) throw new ClientConfigError(`${place}: the private key is not the certificate's`);
}
