import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CertificateFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Certificates {
  readonly server: CertificateFiles;
  readonly client: CertificateFiles;
  /** Signed by an unknown authority. */
  readonly stranger: CertificateFiles;
  remove(): void;
}

const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });

function authority(dir: string, name: string): { key: string; cert: string } {
  const [key, cert] = [join(dir, `${name}.key`), join(dir, `${name}.crt`)];
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-subj', `/CN=${name}`);
  return { key, cert };
}

function signed(
  dir: string,
  name: string,
  by: { key: string; cert: string },
  hosts: readonly string[] = [],
): { certFile: string; keyFile: string } {
  const [keyFile, request, certFile, extensions] = ['key', 'csr', 'crt', 'ext'].map((it) =>
    join(dir, `${name}.${it}`),
  ) as [string, string, string, string];
  writeFileSync(
    extensions,
    `subjectAltName=${['IP:127.0.0.1', 'DNS:localhost', ...hosts.map((it) => `DNS:${it}`)].join(',')}\nextendedKeyUsage=serverAuth,clientAuth\n`,
  );
  openssl('req', '-new', '-newkey', 'rsa:2048', '-nodes', '-keyout', keyFile, '-out', request, '-subj', `/CN=${name}`);
  const out = ['-CA', by.cert, '-CAkey', by.key, '-CAcreateserial', '-extfile', extensions, '-days', '1'];
  openssl('x509', '-req', '-in', request, '-out', certFile, ...out);
  return { certFile, keyFile };
}

/**
 * Certificates for 127.0.0.1, valid for a day, in a directory of their own.
 *
 * @param hosts More names that the server has.
 */
export function makeCertificates(hosts: readonly string[] = []): Certificates {
  const dir = mkdtempSync(join(tmpdir(), 'etcd-test-certificates-'));
  const ca = authority(dir, 'ca');
  const caFile = ca.cert;
  return {
    server: { caFile, ...signed(dir, 'server', ca, hosts) },
    client: { caFile, ...signed(dir, 'client', ca) },
    stranger: { caFile, ...signed(dir, 'stranger', authority(dir, 'other-ca')) },
    remove: () => {
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
