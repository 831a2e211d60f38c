import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '../embedded/embedded-store.js';
import { openEtcdStore } from '../etcd/store.js';
import type { KeyValueStore } from '../store.js';
import { startEtcd } from './start-etcd.js';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

export interface OpenStore {
  readonly store: KeyValueStore;
  readonly dispose: () => Promise<void>;
}

/** An empty store of each kind, in a directory or a process of its own. */
export const OPEN_STORE: Readonly<Record<'embedded' | 'etcd', () => Promise<OpenStore>>> = {
  embedded: async () => {
    const directory = mkdtempSync(join(tmpdir(), 'store-'));
    const store = await openEmbeddedStore({ directory, log: quiet, onFatal: () => undefined });
    const dispose = async (): Promise<void> => {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    };
    return { store, dispose };
  },
  etcd: async () => {
    const etcd = await startEtcd();
    const store = await openEtcdStore({ endpoints: [etcd.url], log: quiet });
    const dispose = async (): Promise<void> => {
      await store.close();
      await etcd.stop();
    };
    return { store, dispose };
  },
};
