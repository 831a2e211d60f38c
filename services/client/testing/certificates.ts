import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface KeyPair {
  /** PEM */
  readonly cert: string;
  /** PEM */
  readonly key: string;
}

/** An authority for tests, in a directory of its own; its certificates are valid for a day. */
export class TestAuthority {
  readonly directory = mkdtempSync(join(tmpdir(), 'client-test-'));
  /** PEM */
  readonly cert: string;
  #issued = 0;

  constructor(name: string) {
    this.#openssl('req', '-x509', ...newKey('ca'), '-out', 'ca.crt', '-days', '1', '-subj', `/CN=${name}`);
    this.cert = this.#read('ca.crt');
  }

  /** @param names As OpenSSL writes them, e.g. `IP:127.0.0.1,DNS:localhost`. */
  issue(commonName: string, names = 'DNS:localhost'): KeyPair {
    const file = `issued-${++this.#issued}`;
    writeFileSync(
      join(this.directory, `${file}.ext`),
      `subjectAltName=${names}\nextendedKeyUsage=serverAuth,clientAuth\n`,
    );
    this.#openssl('req', ...newKey(file), '-out', `${file}.csr`, '-subj', `/CN=${commonName}`);
    const by = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '1'];
    this.#openssl('x509', '-req', '-in', `${file}.csr`, '-out', `${file}.crt`, '-extfile', `${file}.ext`, ...by);
    return { cert: this.#read(`${file}.crt`), key: this.#read(`${file}.key`) };
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  #openssl(...args: string[]): void {
    execFileSync('openssl', args, { cwd: this.directory, stdio: 'pipe' });
  }

  #read(file: string): string {
    return readFileSync(join(this.directory, file), 'utf8');
  }
}

const newKey = (file: string): string[] => [
  '-newkey',
  'ec',
  '-pkeyopt',
  'ec_paramgen_curve:P-256',
  '-nodes',
  '-keyout',
  `${file}.key`,
];
