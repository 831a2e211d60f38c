import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { readClientConfig } from '../kubeconfig/config.js';
import { connectionOf } from '../kubeconfig/connection.js';
import { HttpsService } from './https-service.js';
import type { RemoteService } from './remote-service.js';

export interface RemoteServiceOptions {
  /** Longest time of one question, with all that belongs to it. */
  readonly timeoutMs: number;
  /** The purpose of the service, e.g. `authorization webhook`; in log entries. */
  readonly name: string;
  readonly log: { warn(message: string, keys?: object): void };
  readonly vocabulary: Vocabulary;
  /** 'status': what the service answers with does not matter. @default 'json' */
  readonly wants?: 'json' | 'status';
}

/**
 * The service that a client configuration file leads to (spec 2, 4.3): the cluster and the user of its current context.
 * The file is read now, and not again; files with tokens and certificates that it names are followed.
 *
 * @throws {ClientConfigError} @throws {CredentialError} In one line that names the file.
 */
export function openRemoteService(file: string, o: RemoteServiceOptions): RemoteService {
  const { vocabulary, log, name } = o;
  const warn = (message: string, keys: object): void => log.warn(message, { service: name, ...keys });
  const config = readClientConfig(file);
  const connection = connectionOf(config, { vocabulary, warn, interactive: false });
  if (connection.server.protocol !== 'https:') config.root.at('clusters').fail('the server must be an https URL');
  if (connection.tls.insecure) warn('The certificate of a service is not checked', { file });
  return new HttpsService(connection, { ...o, userAgent: vocabulary.serverName });
}
