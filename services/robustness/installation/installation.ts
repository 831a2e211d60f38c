import type { Credentials } from '../../client/credentials/credential.js';
import type { ServerTrust } from '../../client/kubeconfig/connection.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { TcpProxy } from '../../machinery/testing/tcp-proxy.js';
import type { EtcdCluster } from './etcd-cluster.js';
import type { ManagedProcess } from './managed-process.js';

/** The servers that a run is about. */
export interface Installation {
  readonly vocabulary: Vocabulary;
  /** Addresses of the servers, as clients reach them. */
  readonly servers: readonly URL[];
  readonly trust: ServerTrust;
  /** Made anew for each client, which closes them. */
  readonly credentials: () => Credentials;
  /** What faults need; undefined: the installation is somebody's own. */
  readonly parts: Parts | undefined;
  close(): Promise<void>;
}

/** What an installation is made of, to be broken. */
export interface Parts {
  readonly servers: readonly ServerPart[];
  readonly etcd: EtcdCluster;
}

export interface ServerPart {
  readonly process: ManagedProcess;
  /** The wire between it and its clients. */
  readonly link: TcpProxy;
  /** The wires between it and each member of etcd. */
  readonly storeLinks: readonly TcpProxy[];
  /** Sets its clock wrong by so many milliseconds, within a moment, while it runs; 0 sets it right. */
  readonly setClock: (aheadMs: number) => void;
}
