import { readFileSync } from 'node:fs';
import {
  GenericContainer,
  getContainerRuntimeClient,
  Network,
  Wait,
  type StartedNetwork,
  type StartedTestContainer,
} from 'testcontainers';

import { freePorts } from '../../machinery/testing/free-port.js';
import type { EtcdServer, EtcdTls } from './start-etcd.js';

const CLIENT_PORT = 2379;
const PEER_PORT = 2380;
const DATA = '/var/lib/etcd';
const FILES = { caFile: '/tls/ca.crt', certFile: '/tls/tls.crt', keyFile: '/tls/tls.key' } as const;
const START_MS = 60_000;

/** What `deploy/images` makes; ETCD_IMAGE names another one, whose command is `etcd` and whose user may write its data. */
const image = (): string => process.env['ETCD_IMAGE'] ?? 'platform-etcd:latest';

export interface StartEtcdContainers {
  /** 1 or 3, say. @default 1 */
  readonly members?: number;
  /**
   * Certificate of servers, clients and peers, and the authority of all; clients must show one. It has to be valid for
   * 127.0.0.1 and for the names of `memberNames()`.
   */
  readonly tls?: EtcdTls;
  readonly port?: number;
  /** Further arguments of each etcd. */
  readonly args?: readonly string[];
}

/** A cluster of etcd members, each in a container; their ports are this machine's and stay over restarts. */
export interface EtcdCluster {
  /** e.g. `https://127.0.0.1:12379`, one of each member. */
  readonly urls: readonly string[];
  readonly members: readonly EtcdServer[];
  /** Removes the containers with their data, and their network. */
  stop(): Promise<void>;
}

/** By these names members know each other. */
export const memberNames = (members: number): string[] => Array.from({ length: members }, (_, i) => `etcd-${i}`);

/** A cluster in containers; resolves when every member takes requests. Needs a container engine, and the image. */
export async function startEtcdContainers(o: StartEtcdContainers = {}): Promise<EtcdCluster> {
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true'; // its image is not to be had everywhere; tests stop what they start
  const names = memberNames(o.members ?? 1);
  const ports = o.port === undefined ? await freePorts(names.length) : [o.port];
  const network = await new Network().start();
  const started = await Promise.allSettled(
    names.map((name, i) => startMember({ name, names, port: ports[i] ?? 0, network, o })),
  );
  const members = started.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
  const stop = async (): Promise<void> => {
    await Promise.all(members.map((it) => it.stop()));
    await network.stop();
  };
  const failed = started.find((it) => it.status === 'rejected');
  if (failed !== undefined) {
    await stop();
    throw new Error('Cannot start etcd in containers', { cause: failed.reason });
  }
  return { urls: members.map((it) => it.url), members, stop };
}

interface Member {
  readonly name: string;
  readonly names: readonly string[];
  readonly port: number;
  readonly network: StartedNetwork;
  readonly o: StartEtcdContainers;
}

async function startMember(m: Member): Promise<EtcdServer> {
  const { tls } = m.o;
  const files = tls === undefined ? [] : (['caFile', 'certFile', 'keyFile'] as const).map((it) => content(it, tls));
  const container = await new GenericContainer(image())
    .withNetwork(m.network)
    .withNetworkAliases(m.name)
    .withExposedPorts({ container: CLIENT_PORT, host: m.port })
    .withCopyContentToContainer(files)
    .withCommand(['etcd', ...memberFlags(m), ...(m.o.args ?? [])])
    .withStartupTimeout(START_MS)
    .withWaitStrategy(Wait.forLogMessage(/ready to serve client requests/)) // ports cannot be asked without a shell
    .start();
  return controls(container, `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${m.port}`, m.port);
}

/** Readable by the user of the image, whichever that is: they are files of tests. */
const content = (file: keyof EtcdTls, tls: EtcdTls): { content: string; target: string; mode: number } => ({
  content: readFileSync(tls[file], 'utf8'),
  target: FILES[file],
  mode: 0o644,
});

function memberFlags({ name, names, port, o }: Member): string[] {
  const scheme = o.tls === undefined ? 'http' : 'https';
  const secure = [
    ...['--client-cert-auth', `--trusted-ca-file=${FILES.caFile}`],
    ...[`--cert-file=${FILES.certFile}`, `--key-file=${FILES.keyFile}`],
    ...['--peer-client-cert-auth', `--peer-trusted-ca-file=${FILES.caFile}`],
    ...[`--peer-cert-file=${FILES.certFile}`, `--peer-key-file=${FILES.keyFile}`],
  ];
  return [
    `--name=${name}`,
    `--data-dir=${DATA}`,
    `--listen-client-urls=${scheme}://0.0.0.0:${CLIENT_PORT}`,
    `--advertise-client-urls=${scheme}://127.0.0.1:${port}`,
    `--listen-peer-urls=${scheme}://0.0.0.0:${PEER_PORT}`,
    `--initial-advertise-peer-urls=${scheme}://${name}:${PEER_PORT}`,
    `--initial-cluster=${names.map((it) => `${it}=${scheme}://${it}:${PEER_PORT}`).join(',')}`,
    ...(o.tls === undefined ? [] : secure),
  ];
}

function controls(container: StartedTestContainer, url: string, port: number): EtcdServer {
  const handle = async (): Promise<{ [does in 'kill' | 'pause' | 'unpause']: () => Promise<unknown> }> => {
    const client = await getContainerRuntimeClient();
    return client.container.getById(container.getId());
  };
  return {
    url,
    port,
    kill: async () => {
      await (await handle()).kill();
    },
    restart: () => container.restart(),
    freeze: async () => {
      await (await handle()).pause();
    },
    thaw: () => void handle().then((it) => it.unpause()),
    stop: async () => {
      await container.stop({ timeout: 0 });
    },
  };
}
