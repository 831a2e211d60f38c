import type { LeafRequest } from '../machinery/pki/issue.js';
import type { Vocabulary } from '../machinery/vocabulary/vocabulary.js';

/** The processes of controllers, each of which is a user of its own. */
const CONTROLLERS = [
  'certificate-signer',
  'resource-lifecycle',
  'role-aggregation',
  'service-accounts',
  'token-cleaner',
] as const;

/** Members may do everything, whatever the authorizers say. */
const ADMIN_GROUP = 'system:masters';
/** Members may read metrics and health. */
const MONITORING_GROUP = 'system:monitoring';

/** A key and its certificate that an installation needs, by the name of its set. */
export interface WantedLeaf extends Omit<LeafRequest, 'key'> {
  readonly name: string;
  readonly authority: string;
}

export interface Wanted {
  readonly authorities: readonly string[];
  readonly leaves: readonly WantedLeaf[];
  /** Keys alone, to which no certificate belongs. */
  readonly keys: readonly string[];
}

export interface Hosts {
  /** Names and addresses by which API servers are reached, beside the usual ones. */
  readonly servers: readonly string[];
  /** Those of the members of etcd. Empty: etcd has certificates of somebody else. */
  readonly etcd: readonly string[];
}

/**
 * All that an installation needs. Authorities are three, so that nobody is let in by one certificate where another one is
 * meant: that of servers and clients, that of etcd, and that of a proxy in front, which may say who somebody is.
 */
export function wantedBy(vocabulary: Vocabulary, hosts: Hosts): Wanted {
  const client = (name: string, commonName: string): WantedLeaf =>
    ({ name, authority: 'ca', commonName, hosts: [], usage: 'clientAuth' }); // prettier-ignore
  const { serviceHostNames: services, serverName } = vocabulary;
  const names = ['localhost', '127.0.0.1', '::1', ...services, `${services.at(-1) ?? ''}.cluster.local`];
  const ownEtcd: readonly WantedLeaf[] = [
    { name: 'etcd-server', authority: 'etcd-ca', commonName: 'etcd', hosts: ['localhost', '127.0.0.1', ...hosts.etcd], usage: 'peer' },
    { name: 'etcd-client', authority: 'etcd-ca', commonName: serverName, hosts: [], usage: 'clientAuth' },
  ]; // prettier-ignore
  const hasEtcd = hosts.etcd.length > 0;
  return {
    authorities: ['ca', ...(hasEtcd ? ['etcd-ca'] : []), 'front-proxy-ca'],
    leaves: [
      { name: 'apiserver', authority: 'ca', commonName: serverName, hosts: [...new Set([...names, ...hosts.servers])], usage: 'serverAuth' },
      ...(hasEtcd ? ownEtcd : []),
      { name: 'front-proxy-client', authority: 'front-proxy-ca', commonName: 'front-proxy-client', hosts: [], usage: 'clientAuth' },
        { ...client('admin', 'admin'), organization: ADMIN_GROUP },
      { ...client('monitoring', 'monitoring'), organization: MONITORING_GROUP },
      ...CONTROLLERS.map((name) => client(name, `system:${vocabulary.translate(`platform-${name}`)}`)),
    ],
    keys: ['service-account'],
  }; // prettier-ignore
}
