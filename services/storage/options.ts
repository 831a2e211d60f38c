import type { FlagTable, OptionsOf } from '../machinery/flags/flags.js';
import type { TlsFiles } from './etcd/endpoints.js';

/** Which store, and how it is reached. Every process that opens one takes them. */
export const STORE_FLAGS = {
  store: {
    flag: 'store',
    type: 'string',
    default: '',
    choices: ['', 'embedded', 'etcd'],
    help: 'where objects are kept; etcd when --etcd-servers is given, else embedded',
  },
  dataDir: {
    flag: 'data-dir',
    type: 'string',
    metavar: 'DIR',
    default: '.platform',
    help: 'directory of the embedded store',
  },
  etcdServers: { flag: 'etcd-servers', type: 'list', metavar: 'URL,...', help: 'etcd endpoints' },
  etcdCaFile: { flag: 'etcd-cafile', type: 'string', metavar: 'FILE', help: "authority of etcd's certificates" },
  etcdCertFile: { flag: 'etcd-certfile', type: 'string', metavar: 'FILE', help: 'client certificate for etcd' },
  etcdKeyFile: {
    flag: 'etcd-keyfile',
    type: 'string',
    metavar: 'FILE',
    help: 'key of the client certificate for etcd',
  },
  etcdPrefix: { flag: 'etcd-prefix', type: 'string', default: '/registry', help: 'prefix of all keys in the store' },
} as const satisfies FlagTable;

export type StoreOptions = OptionsOf<typeof STORE_FLAGS>;
export type StoreKind = 'embedded' | 'etcd';

export const storeKind = (o: Pick<StoreOptions, 'store' | 'etcdServers'>): StoreKind =>
  o.store === 'etcd' || (o.store === '' && o.etcdServers.length > 0) ? 'etcd' : 'embedded';

const DEFAULT_ETCD = 'http://127.0.0.1:2379';

/** Endpoints, and the files that say who is who. */
export const etcdAddress = (
  o: Pick<StoreOptions, 'etcdServers' | 'etcdCaFile' | 'etcdCertFile' | 'etcdKeyFile'>,
): TlsFiles & { readonly endpoints: readonly string[] } => ({
  endpoints: o.etcdServers.length > 0 ? [...o.etcdServers] : [DEFAULT_ETCD],
  ...(o.etcdCaFile === '' ? {} : { caFile: o.etcdCaFile }),
  ...(o.etcdCertFile === '' ? {} : { certFile: o.etcdCertFile }),
  ...(o.etcdKeyFile === '' ? {} : { keyFile: o.etcdKeyFile }),
});
