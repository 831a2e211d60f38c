import { existsSync } from 'node:fs';
import { readBounded } from './bounded-file.js';

/** Where systems keep the certificates of the authorities that they trust. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];
const MAX_BUNDLE_BYTES = 4 * 1024 * 1024;

/**
 * The authorities that this machine trusts, in PEM; those of the file that `SSL_CERT_FILE` names, if it names one.
 * undefined where the machine has none, which leaves those that come with the runtime.
 *
 * @throws {ClientConfigError} When the file cannot be read.
 */
export function machineAuthorities(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const file = env['SSL_CERT_FILE'] ?? BUNDLES.find((path) => existsSync(path));
  return file === undefined || file === '' ? undefined : readBounded(file, MAX_BUNDLE_BYTES).toString('utf8');
}
