import { loadCatalog } from '../../machinery/types/catalog.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Connection } from '../kubeconfig/connection.js';
import type { ApiClient, RawAnswer, RawRequest, ResourceClient } from './client.js';
import { codecFor } from './codec.js';
import { ResourceRequests, type RequestDeps } from './resource-requests.js';
import type { AnyObject, ResourceType } from './resource-type.js';
import { Transport, type TransportOptions } from './transport.js';

export interface ClientOptions extends TransportOptions {
  /** That of the server. */
  readonly vocabulary: Vocabulary;
  /** How objects of built-in types travel; others are JSON. @default 'json' */
  readonly contentType?: 'json' | 'protobuf';
}

/** A client for the API. Connects when it is first asked for something. @throws {Error} for an address that is not https */
export const openApiClient = (o: ClientOptions): ApiClient => new HttpApiClient(o);

/** A client for a connection of a client configuration file. Closes its credentials. */
export const clientOf = (
  { server, tls, credentials, impersonation }: Connection,
  o: Omit<ClientOptions, 'servers' | 'trust' | 'credentials' | 'impersonation'>,
): ApiClient => openApiClient({ servers: [server], trust: tls, credentials, impersonation, ...o });

class HttpApiClient implements ApiClient {
  readonly #transport: Transport;
  readonly #requests: RequestDeps;

  constructor({ vocabulary, contentType = 'json', ...transport }: ClientOptions) {
    this.#transport = new Transport(transport);
    this.#requests = {
      transport: this.#transport,
      codec: codecFor(vocabulary, contentType === 'protobuf' ? loadCatalog(vocabulary).types : undefined),
      initialEventsEnd: vocabulary.initialEventsEndAnnotation,
    };
  }

  resource<T extends AnyObject>(type: ResourceType<T>): ResourceClient<T> {
    return new ResourceRequests(type, 'object', this.#requests);
  }

  metadata(type: ResourceType): ResourceClient<AnyObject> {
    return new ResourceRequests(type, 'metadata', this.#requests);
  }

  async raw({ headers, ...request }: RawRequest, signal: AbortSignal): Promise<RawAnswer> {
    return this.#transport.send({ ...request, headers: { accept: 'application/json', ...headers } }, signal);
  }

  close(): void {
    this.#transport.close();
  }
}
