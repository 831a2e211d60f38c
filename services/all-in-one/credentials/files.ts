import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files in the data directory beside the store, with their modes. */
const FILES = {
  caKey: { name: 'ca.key', mode: 0o600 },
  caCert: { name: 'ca.crt', mode: 0o644 },
  servingKey: { name: 'apiserver.key', mode: 0o600 },
  servingCert: { name: 'apiserver.crt', mode: 0o644 },
  adminKey: { name: 'admin.key', mode: 0o600 },
  adminCert: { name: 'admin.crt', mode: 0o644 },
  controllersKey: { name: 'controller-manager.key', mode: 0o600 },
  controllersCert: { name: 'controller-manager.crt', mode: 0o644 },
  frontProxyCa: { name: 'front-proxy-ca.crt', mode: 0o644 },
  frontProxyKey: { name: 'front-proxy-client.key', mode: 0o600 },
  frontProxyCert: { name: 'front-proxy-client.crt', mode: 0o644 },
  serviceAccountKey: { name: 'service-account.key', mode: 0o600 },
  serviceAccountPublic: { name: 'service-account.pub', mode: 0o644 },
  adminConfig: { name: 'admin.kubeconfig', mode: 0o600 },
} as const;

export type CredentialFile = keyof typeof FILES;

export const pathOf = (dir: string, file: CredentialFile): string => join(dir, FILES[file].name);
export const nameOf = (file: CredentialFile): string => FILES[file].name;
export const modeOf = (file: CredentialFile): number => FILES[file].mode;

/** The text of a file; undefined when there is none. */
export function textOf(dir: string, file: CredentialFile): string | undefined {
  try {
    return readFileSync(pathOf(dir, file), 'utf8');
  } catch (err) {
    if (err instanceof Error && 'code' in err && err.code === 'ENOENT') return undefined;
    throw err;
  }
}
