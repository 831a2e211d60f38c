import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readBounded } from '../client/kubeconfig/bounded-file.js';
import { FileChanges } from '../machinery/files/file-changes.js';
import type { Log } from '../machinery/log/log.js';
import type { Authority } from '../machinery/pki/issue.js';
import type { SignerKind } from './signer-rules.js';

/** Of certificates with their chain, and of keys. */
const MAX_BYTES = 1024 * 1024;

export interface AuthorityFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export type PresentAuthority = Authority & { readonly endsAt: number };

/** The authority of one signer. */
export interface SigningAuthority {
  /** The pair that lies in the files now; the last usable one while files are being replaced. */
  current(): PresentAuthority;
}

export interface AuthorityOptions {
  readonly clusterSigningCertFile: string;
  readonly clusterSigningKeyFile: string;
  readonly clusterSigningApiServerClientCertFile: string;
  readonly clusterSigningApiServerClientKeyFile: string;
  readonly clusterSigningNodeAgentClientCertFile: string;
  readonly clusterSigningNodeAgentClientKeyFile: string;
  readonly clusterSigningNodeAgentServingCertFile: string;
  readonly clusterSigningNodeAgentServingKeyFile: string;
  readonly clusterSigningLegacyUnknownCertFile: string;
  readonly clusterSigningLegacyUnknownKeyFile: string;
}

const OWN_FILES = {
  apiServerClient: 'clusterSigningApiServerClient',
  apiServerClientNodeAgent: 'clusterSigningNodeAgentClient',
  nodeAgentServing: 'clusterSigningNodeAgentServing',
  legacyUnknown: 'clusterSigningLegacyUnknown',
} as const satisfies Readonly<Record<SignerKind, string>>;

/**
 * The files of each signer: its own pair, or the one for all.
 *
 * @throws {Error} in one line, for a certificate without its key, and where there are both kinds: that is a mistake
 */
export function authorityFiles(o: AuthorityOptions): ReadonlyMap<SignerKind, AuthorityFiles> {
  const pair = (certFile: string, keyFile: string, what: string): AuthorityFiles | undefined => {
    if ((certFile === '') !== (keyFile === '')) throw new Error(`The certificate and the key of ${what} go together`);
    return certFile === '' ? undefined : { certFile, keyFile };
  };
  const common = pair(o.clusterSigningCertFile, o.clusterSigningKeyFile, 'all signers');
  const kinds = Object.keys(OWN_FILES) as SignerKind[];
  const files = kinds.flatMap((kind): [SignerKind, AuthorityFiles][] => {
    const own = pair(o[`${OWN_FILES[kind]}CertFile`], o[`${OWN_FILES[kind]}KeyFile`], `the signer ${kind}`);
    if (own !== undefined && common !== undefined) {
      throw new Error('Files for all signers and files for one of them cannot be given together');
    }
    const found = own ?? common;
    return found === undefined ? [] : [[kind, found]];
  });
  return new Map(files);
}

/** @throws {Error} In one line, for files that cannot be read or do not fit. */
export function openAuthority(
  { certFile, keyFile }: AuthorityFiles,
  log: Pick<Log, 'info' | 'warn'>,
): SigningAuthority {
  const changes = new FileChanges([certFile, keyFile]);
  const textOf = (file: string): string => readBounded(file, MAX_BYTES).toString('utf8');
  const read = (): PresentAuthority => authorityOf(textOf(certFile), textOf(keyFile), `${certFile}, ${keyFile}`);
  let present = read();
  const rereading = { what: 'a signing authority', read: () => void (present = read()), log };
  return {
    current: () => {
      changes.reread(rereading);
      return present;
    },
  };
}

function authorityOf(cert: string, key: string, where: string): PresentAuthority {
  let certificate: X509Certificate;
  let fits: boolean;
  try {
    certificate = new X509Certificate(cert);
    fits = certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    throw new Error(`Cannot use ${where}: no certificate and private key in PEM`); // what OpenSSL says may quote the key
  }
  if (!fits) throw new Error(`Cannot use ${where}: the key is not that of the certificate`);
  if (!certificate.ca) throw new Error(`Cannot use ${where}: the certificate may not sign others`);
  return { cert, key, endsAt: Date.parse(certificate.validTo) };
}
