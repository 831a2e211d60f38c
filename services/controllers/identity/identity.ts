import type { Credentials } from '../../client/credentials/credential.js';
import { guardedCredentials } from '../../client/election/guarded-credentials.js';
import type { Connection } from '../../client/kubeconfig/connection.js';
import type { ApiClient } from '../../client/rest/client.js';
import { openApiClient } from '../../client/rest/open-client.js';
import type { SentRequest } from '../../client/rest/transport.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';

export interface IdentityClientOptions {
  /** What of the process asks; for the user agent. */
  readonly part: string;
  /** @default those of the process */
  readonly credentials?: Credentials;
  /** Whether requests may go out. @default always */
  readonly isHeld?: () => boolean;
  /** Requests a second, and at once. */
  readonly qps: number;
  readonly burst: number;
}

/** The API server as a process of controllers reaches it, and who the process is there. */
export interface Identity {
  readonly vocabulary: Vocabulary;
  readonly server: URL;
  /** PEM; undefined: those of the machine. */
  readonly authorities: string | undefined;
  /** A client with a rate of its own. */
  client(o: IdentityClientOptions): ApiClient;
  close(): void;
}

export interface IdentityOptions {
  readonly connection: Connection;
  readonly vocabulary: Vocabulary;
  /** Name and version of the process. */
  readonly userAgent: string;
  /** Told of each request that was sent. */
  readonly requests?: (request: SentRequest) => void;
}

/** Closes the credentials of the connection. */
export function identityOf({ connection, vocabulary, userAgent, requests }: IdentityOptions): Identity {
  const { server, tls, credentials: own, impersonation } = connection;
  const shared: Credentials = {
    current: (signal) => own.current(signal),
    refused: (used) => own.refused(used),
    close: () => undefined,
  };
  return {
    vocabulary,
    server,
    authorities: tls.authorities,
    client: ({ part, credentials, isHeld = () => true, qps, burst }) =>
      openApiClient({
        servers: [server],
        trust: tls,
        credentials: guardedCredentials(credentials ?? shared, isHeld),
        ...(credentials === undefined ? { impersonation } : {}),
        ...(requests === undefined ? {} : { observe: requests }),
        userAgent: `${userAgent} ${part}`,
        vocabulary,
        qps,
        burst,
      }),
    close: () => own.close(),
  };
}
