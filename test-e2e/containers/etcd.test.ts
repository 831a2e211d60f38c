import assert from 'node:assert/strict';

import {
  connectionLossContract,
  keyValueStoreContract,
  type InterruptibleStore,
} from '../../services/storage/contract/contract.js';
import { openEtcdStore } from '../../services/storage/etcd/store.js';
import type { KeyValueStore } from '../../services/storage/store.js';
import { makeCertificates, type Certificates } from '../../services/storage/testing/certificates.js';
import type { EtcdServer } from '../../services/storage/testing/start-etcd.js';
import { memberNames, startEtcdContainers, type EtcdCluster } from '../../services/storage/testing/etcd-containers.js';
import { IMAGE_MS, makeImages, needsEngine } from '../support/engine.js';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

type Contract = (name: string, open: () => Promise<InterruptibleStore>) => void;

/** Each area has a prefix of its own in one cluster. */
function onCluster(count: number, contracts: readonly Contract[]): void {
  let certificates: Certificates | undefined;
  let cluster: EtcdCluster | undefined;
  let areas = 0;
  let kills = 0;
  before(async function () {
    needsEngine(this);
    this.timeout(IMAGE_MS);
    makeImages('platform-etcd');
    certificates = count > 1 ? makeCertificates(memberNames(count)) : undefined;
    cluster = await startEtcdContainers({ members: count, ...(certificates && { tls: certificates.server }) });
  });
  after(async () => {
    await cluster?.stop();
    certificates?.remove();
  });

  const open = async (): Promise<InterruptibleStore> => {
    const prefix = `/area-${++areas}`;
    const { urls, members } = cluster ?? assert.fail('no cluster');
    const onPrefix = (): Promise<KeyValueStore> =>
      openEtcdStore({ endpoints: urls, prefix, log, ...certificates?.client });
    let current = await onPrefix();
    const restart = async (member: EtcdServer | undefined): Promise<void> => {
      await member?.kill();
      await member?.restart();
    };
    return {
      store: current,
      reopen: async () => {
        await restart(members[kills++ % count]); // the others, if there are any, go on
        await current.close();
        current = await onPrefix();
        return current;
      },
      interrupt: async () => {
        for (const member of members) await restart(member); // one of them is the one that a watch is on
      },
      dispose: () => current.close(),
    };
  };
  for (const contract of contracts) contract('etcd in containers', open);
}

// What a single member does is what the process does that the unit tests run; a container is another way to end it.
describe('one etcd in a container', () => onCluster(1, [connectionLossContract]));
describe('three members of etcd in containers, with certificates', () =>
  onCluster(3, [keyValueStoreContract, connectionLossContract]));
