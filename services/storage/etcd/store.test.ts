import { connectionLossContract, keyValueStoreContract, type InterruptibleStore } from '../contract/contract.js';
import type { KeyValueStore } from '../store.js';
import type { EtcdVersion } from '../testing/etcd-binary.js';
import { startEtcd } from '../testing/start-etcd.js';
import { openEtcdStore } from './store.js';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

const onEtcd = (version: EtcdVersion) => async (): Promise<InterruptibleStore> => {
  const etcd = await startEtcd({ version });
  const open = (): Promise<KeyValueStore> => openEtcdStore({ endpoints: [etcd.url], log });
  let current = await open();
  return {
    store: current,
    reopen: async () => {
      await etcd.kill();
      await etcd.restart();
      await current.close();
      current = await open();
      return current;
    },
    interrupt: async () => {
      await etcd.kill();
      await etcd.restart();
    },
    dispose: async () => {
      await current.close();
      await etcd.stop();
    },
  };
};

for (const version of ['3.5', '3.4'] as const) {
  keyValueStoreContract(`etcd ${version}`, onEtcd(version));
  connectionLossContract(`etcd ${version}`, onEtcd(version));
}
