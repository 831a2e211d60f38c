import { GenericContainer, Wait, type StartedTestContainer } from 'testcontainers';

import type { EtcdVersion } from './etcd-binary.js';
import { freePorts } from '../../machinery/testing/free-port.js';
import type { EtcdServer, StartEtcd } from './start-etcd.js';

const IMAGES = { '3.5': 'quay.io/coreos/etcd:v3.5.21', '3.4': 'quay.io/coreos/etcd:v3.4.36' } as const;
const CLIENT_PORT = 2379;
const DATA = '/etcd-data';

/** An etcd in a container, for machines that have a container engine and no etcd. It keeps its port over restarts. */
export async function startEtcdContainer(version: EtcdVersion, o: StartEtcd): Promise<EtcdServer> {
  if (o.tls !== undefined || o.dataDir !== undefined) throw new Error('Cannot give files to an etcd in a container');
  const [free = 0] = await freePorts(1);
  const port = o.port ?? free;
  const url = `http://127.0.0.1:${port}`;
  const container: StartedTestContainer = await new GenericContainer(IMAGES[version])
    .withExposedPorts({ container: CLIENT_PORT, host: port })
    .withCommand([
      'etcd',
      `--data-dir=${DATA}`,
      `--listen-client-urls=http://0.0.0.0:${CLIENT_PORT}`,
      `--advertise-client-urls=${url}`,
      ...(o.args ?? []),
    ])
    .withWaitStrategy(Wait.forLogMessage(/ready to serve client requests/))
    .start();
  const signal = async (name: string): Promise<void> => {
    await container.exec(['kill', `-${name}`, '1']);
  };
  return {
    url,
    port,
    kill: async () => {
      await container.stop({ timeout: 0, remove: false });
    },
    restart: () => container.restart(),
    freeze: () => signal('STOP'),
    thaw: () => void signal('CONT').catch(() => undefined),
    stop: async () => {
      await container.stop({ timeout: 0 });
    },
  };
}
