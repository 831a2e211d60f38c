import { FileChanges } from '../../machinery/files/file-changes.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { readClientConfig } from '../kubeconfig/config.js';
import { connectionOf } from '../kubeconfig/connection.js';
import { HttpsService } from './https-service.js';
import type { RemoteAnswer, RemoteService } from './remote-service.js';

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
 * The file is read again when it has changed, and so are files with tokens and certificates that it names; the one with
 * authorities is read with it.
 *
 * @throws {ClientConfigError} @throws {CredentialError} In one line that names the file.
 */
export function openRemoteService(file: string, o: RemoteServiceOptions): RemoteService {
  const changes = new FileChanges([file]);
  let current = new Retirable(serviceOf(file, o));
  const read = (): void => {
    const next = new Retirable(serviceOf(file, o));
    current.retire();
    current = next;
  };
  return {
    post(body, signal) {
      changes.reread({ what: o.name, read, log: o.log });
      return current.post(body, signal);
    },
    close: () => current.close(),
  };
}

/** A service that ends with the last question that was asked of it before another one took its place. */
class Retirable implements RemoteService {
  readonly #service: RemoteService;
  #asked = 0;
  #isRetired = false;

  constructor(service: RemoteService) {
    this.#service = service;
  }

  async post(body: object, signal: AbortSignal): Promise<RemoteAnswer> {
    this.#asked++;
    try {
      return await this.#service.post(body, signal);
    } finally {
      this.#asked--;
      this.#closeIfDone();
    }
  }

  retire(): void {
    this.#isRetired = true;
    this.#closeIfDone();
  }

  close(): void {
    this.#service.close();
  }

  #closeIfDone(): void {
    if (this.#isRetired && this.#asked === 0) this.#service.close();
  }
}

/** The service that the file leads to now. */
function serviceOf(file: string, o: RemoteServiceOptions): RemoteService {
  const { vocabulary, log, name } = o;
  const warn = (message: string, keys: object): void => log.warn(message, { service: name, ...keys });
  const config = readClientConfig(file);
  const connection = connectionOf(config, { vocabulary, warn, interactive: false });
  if (connection.server.protocol !== 'https:') config.root.at('clusters').fail('the server must be an https URL');
  if (connection.tls.insecure) warn('The certificate of a service is not checked', { file });
  return new HttpsService(connection, { ...o, userAgent: vocabulary.serverName });
}
