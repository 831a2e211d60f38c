import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kubeconfigText } from '../../client/kubeconfig/write.js';
import { issueAuthority, issueLeaf, newKey } from '../../machinery/pki/issue.js';

/** Files, and their texts where this process needs them. PEM. */
export interface MadeCredentials {
  readonly authority: string;
  readonly cert: string;
  readonly key: string;
  /** Flags by which a server uses them. */
  readonly serverFlags: readonly string[];
  /** Writes the client configuration of an administrator. @returns Its path. */
  kubeconfigFor(name: string, url: string): string;
}

const OWNERS_ALONE = 0o600;
/** Members may do everything, whatever the authorizers say. */
const ADMIN_GROUP = 'system:masters';

/** An authority, a serving certificate for this machine, an administrator, and the key of service accounts. */
export async function makeCredentials(directory: string): Promise<MadeCredentials> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const put = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: OWNERS_ALONE });
    return path;
  };
  const now = new Date();
  const [caKey, serverKey, key, accountKey] = await Promise.all([newKey(), newKey(), newKey(), newKey()]);
  const authority = issueAuthority({ key: caKey, commonName: 'robustness-ca', previous: undefined }, now);
  const by = { cert: authority, key: caKey };
  const hosts = ['localhost', '127.0.0.1'];
  const serving = issueLeaf({ key: serverKey, commonName: 'apiserver', hosts, usage: 'serverAuth' }, by, now);
  const admin = { key, organization: ADMIN_GROUP, commonName: 'robustness', hosts: [], usage: 'clientAuth' } as const;
  const cert = issueLeaf(admin, by, now);
  return {
    authority,
    cert,
    key,
    serverFlags: [
      `--tls-cert-file=${put('apiserver.crt', serving)}`,
      `--tls-private-key-file=${put('apiserver.key', serverKey)}`,
      `--client-ca-file=${put('ca.crt', authority)}`,
      `--service-account-signing-key-file=${put('sa.key', accountKey)}`,
      '--service-account-issuer=https://robustness.local',
    ],
    kubeconfigFor: (name, server) =>
      put(
        `${name}.kubeconfig`,
        kubeconfigText({ cluster: 'robustness', user: 'robustness', server, authority, certificate: cert, key }),
      ),
  };
}
