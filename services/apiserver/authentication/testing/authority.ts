import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** PEM texts. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

export interface LeafOptions {
  /** Lines of an openssl extension section; by default those of a client. */
  readonly extensions?: string;
  /** `YYYYMMDDhhmmssZ` */
  readonly from?: string;
  readonly to?: string;
}

const CLIENT = 'extendedKeyUsage=clientAuth\n';
const CONFIG = `[ca]
default_ca = here
[here]
database = index.txt
rand_serial = yes
new_certs_dir = .
default_md = sha256
default_days = 2
unique_subject = no
policy = any
[any]
commonName = optional
organizationName = optional
organizationalUnitName = optional
`;
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** An authority of certificates, in a directory of its own, made by openssl. */
export class TestAuthority {
  readonly #dir = mkdtempSync(join(tmpdir(), 'test-authority-'));
  #made = 0;
  readonly cert: string;

  private constructor(own: Pair) {
    this.cert = own.cert;
    writeFileSync(join(this.#dir, 'ca.crt'), own.cert);
    writeFileSync(join(this.#dir, 'ca.key'), own.key);
    writeFileSync(join(this.#dir, 'ca.cnf'), CONFIG);
    writeFileSync(join(this.#dir, 'index.txt'), '');
  }

  /** One that signs itself. @param subject e.g. `/CN=clients` */
  static root(subject: string): TestAuthority {
    const dir = mkdtempSync(join(tmpdir(), 'test-authority-'));
    const [key, cert] = [join(dir, 'key'), join(dir, 'cert')];
    openssl(dir, ['req', '-x509', ...NEW_KEY, '-days', '2', '-keyout', key, '-out', cert, '-subj', subject]);
    const own = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
    rmSync(dir, { recursive: true });
    return new TestAuthority(own);
  }

  /** One below this one. */
  intermediate(subject: string): TestAuthority {
    return new TestAuthority(
      this.issue(subject, { extensions: 'basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n' }),
    );
  }

  /** @param subject Slashes begin parts: `/CN=alice/O=one/O=two` */
  issue(subject: string, { extensions = CLIENT, from, to }: LeafOptions = {}): Pair {
    const base = `leaf-${this.#made++}`;
    const [key, request, cert, section] = ['key', 'csr', 'crt', 'ext'].map((it) =>
      join(this.#dir, `${base}.${it}`),
    ) as [string, string, string, string];
    writeFileSync(section, extensions);
    openssl(this.#dir, ['req', '-new', ...NEW_KEY, '-utf8', '-keyout', key, '-out', request, '-subj', subject]);
    const dates = [...(from === undefined ? [] : ['-startdate', from]), ...(to === undefined ? [] : ['-enddate', to])];
    const files = ['-cert', 'ca.crt', '-keyfile', 'ca.key', '-in', request, '-out', cert, '-extfile', section];
    openssl(this.#dir, ['ca', '-batch', '-notext', '-utf8', '-preserveDN', '-config', 'ca.cnf', ...files, ...dates]);
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

function openssl(cwd: string, args: readonly string[]): void {
  execFileSync('openssl', args, { cwd, stdio: 'pipe' });
}
