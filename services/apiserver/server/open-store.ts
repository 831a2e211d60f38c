import { join } from 'node:path';
import { etcdAddress, storeKind, type StoreKind } from '../../storage/options.js';
import type { KeyValueStore } from '../../storage/store.js';
import type { Log } from '../../machinery/log/log.js';
import type { ApiServerOptions } from '../options/flags.js';

export interface OpenStoreDeps {
  readonly log: Log;
  /** The store can promise nothing any more: the process has to end. */
  readonly onFatal: (err: Error) => void;
  readonly observe: (operation: string, seconds: number, err?: unknown) => void;
}

type Open = (o: ApiServerOptions, d: OpenStoreDeps) => Promise<KeyValueStore>;

/** Each store's code is loaded only where it is used: it is a good part of the time to start. */
const STORES: Readonly<Record<StoreKind, Open>> = {
  embedded: async (o, { log, onFatal, observe }) => {
    const { openEmbeddedStore } = await import('../../storage/embedded/embedded-store.js');
    return openEmbeddedStore({ directory: join(o.dataDir, 'store'), log, onFatal, observe });
  },
  etcd: async (o, { log, observe }) => {
    const { openEtcdStore } = await import('../../storage/etcd/store.js');
    return openEtcdStore({ ...etcdAddress(o), log, observe });
  },
};

/** @throws {StoreError} unavailable */
export const openStore: Open = (o, d) => STORES[storeKind(o)](o, d);
