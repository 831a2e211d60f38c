import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { tokenFileCredentials } from '../credentials/token-file.js';
import { readBounded } from './bounded-file.js';
import type { Connection, ConnectionOptions } from './connection.js';
import { ClientConfigError } from './member.js';
import { checkCertificates } from './source.js';

/** Where a pod finds the credentials of its service account, in any cluster. */
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The connection of a pod to the server of its cluster, as its service account. The token is read again when it changes.
 *
 * @throws {ClientConfigError} Where this process is in no pod, or a file cannot be used. @throws {CredentialError}
 */
export function inClusterConnection(
  o: Pick<ConnectionOptions, 'warn'>,
  env: NodeJS.ProcessEnv = process.env,
  account = ACCOUNT,
): Connection {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = env;
  if (host === '' || port === '' || !existsSync(join(account, 'token'))) {
    throw new ClientConfigError('This is no pod with a service account: a client configuration is needed');
  }
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (!URL.canParse(url)) throw new ClientConfigError('The address of the server in the environment is none');
  const authorities = readBounded(join(account, 'ca.crt')).toString('utf8');
  checkCertificates(authorities, join(account, 'ca.crt'));
  return {
    server: new URL(url),
    tls: { authorities, serverName: undefined, insecure: false },
    credentials: tokenFileCredentials(join(account, 'token'), o),
    impersonation: {},
    namespace: readBounded(join(account, 'namespace')).toString('utf8').trim(),
  };
}
