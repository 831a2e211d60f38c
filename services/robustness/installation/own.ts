import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fixed } from '../../client/credentials/fixed.js';
import { freePorts } from '../../machinery/testing/free-port.js';
import { tcpProxy, type TcpProxy } from '../../machinery/testing/tcp-proxy.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { makeCredentials, type MadeCredentials } from './credentials.js';
import { EtcdCluster } from './etcd-cluster.js';
import type { Installation, ServerPart } from './installation.js';
import { ManagedProcess } from './managed-process.js';

export interface OwnOptions {
  readonly vocabulary: Vocabulary;
  readonly servers: number;
  readonly members: number;
  readonly etcd: string;
  readonly etcdArgs: readonly string[];
  readonly serverArgs: readonly string[];
  /** For data, keys and logs. */
  readonly directory: string;
}

interface Closeable {
  close(): Promise<void>;
}

const CONTROLLER_PROCESSES = 2;

/** Starts etcd, servers and controllers on this machine, each behind wires that can be cut. */
export async function openOwn(o: OwnOptions): Promise<Installation> {
  const opened: Closeable[] = [];
  const keep = <T extends Closeable>(it: T): T => {
    opened.push(it);
    return it;
  };
  const close = async (): Promise<void> => {
    for (const it of opened.splice(0).reverse()) await it.close();
  };
  try {
    const { binary, members, args, directory } = { binary: o.etcd, args: o.etcdArgs, ...o };
    const etcd = keep(await EtcdCluster.start({ binary, members, args, directory }));
    const credentials = await makeCredentials(join(o.directory, 'keys'));
    const servers = await openServers(o, etcd, credentials, keep);
    await openControllers(o, servers, credentials, keep);
    const { authority, cert, key } = credentials;
    return {
      vocabulary: o.vocabulary,
      servers: servers.map(({ link }) => new URL(`https://127.0.0.1:${link.port}`)),
      trust: { authorities: authority, serverName: undefined, insecure: false },
      credentials: () => fixed({ headers: {}, cert, key }),
      parts: { servers, etcd },
      close,
    };
  } catch (err) {
    await close();
    throw err;
  }
}

type Keep = <T extends Closeable>(it: T) => T;

async function openServers(
  o: OwnOptions,
  etcd: EtcdCluster,
  { serverFlags }: MadeCredentials,
  keep: Keep,
): Promise<ServerPart[]> {
  const ports = await freePorts(o.servers);
  const parts: ServerPart[] = [];
  for (const [i, port] of ports.entries()) {
    const storeLinks: TcpProxy[] = [];
    for (const { clientPort } of etcd.members) storeLinks.push(keep(await tcpProxy(clientPort)));
    const part = serverPart({ o, i, port, storeLinks, serverFlags, link: keep(await tcpProxy(port)) });
    keep(part.process);
    await part.process.start(); // one after the other: the first one fills the store
    parts.push(part);
  }
  return parts;
}

interface ServerScene {
  readonly o: OwnOptions;
  readonly i: number;
  readonly port: number;
  readonly link: TcpProxy;
  readonly storeLinks: readonly TcpProxy[];
  readonly serverFlags: readonly string[];
}

function serverPart({ o, i, port, link, storeLinks, serverFlags }: ServerScene): ServerPart {
  const clockFile = join(o.directory, `clock-${i}`);
  const args = [
    'apiserver',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--vocabulary=${o.vocabulary.name}`,
    `--etcd-servers=${storeLinks.map((it) => `http://127.0.0.1:${it.port}`).join(',')}`,
    '--shutdown-delay-duration=1s',
    ...serverFlags,
    ...o.serverArgs,
  ];
  const process = new ManagedProcess({
    name: `apiserver-${i}`,
    command: programPath(),
    args: () => args,
    env: () => ({ NODE_OPTIONS: `--import=${clockModule()}`, CLOCK_FILE: clockFile }),
    ready: 'ready https://',
    logFile: join(o.directory, `apiserver-${i}.log`),
  });
  return { process, link, storeLinks, setClock: (ms) => writeFileSync(clockFile, String(ms)) };
}

/** Each process of controllers reaches another server; what ends because it leads no more is started again. */
async function openControllers(
  o: OwnOptions,
  servers: readonly ServerPart[],
  credentials: MadeCredentials,
  keep: Keep,
): Promise<void> {
  for (let i = 0; i < CONTROLLER_PROCESSES; i++) {
    const { port } = servers[i % servers.length]?.link ?? { port: 0 };
    const name = `controllers-${i}`;
    const kubeconfig = credentials.kubeconfigFor(name, `https://127.0.0.1:${port}`);
    const args = [
      'resource-lifecycle',
      `--kubeconfig=${kubeconfig}`,
      `--vocabulary=${o.vocabulary.name}`,
      '--bind-address=127.0.0.1',
      '--secure-port=0',
      '--leader-elect-lease-duration=6s',
      '--leader-elect-renew-deadline=4s',
      '--leader-elect-retry-period=1s',
      '--resource-quota-sync-period=5s',
    ];
    const command = programPath();
    const logFile = join(o.directory, `${name}.log`);
    const process = keep(
      new ManagedProcess({ name, command, args: () => args, ready: 'ready https://', logFile, isKept: true }),
    );
    await process.start();
  }
}

/** `bin/platform` beside this package's code. */
const programPath = (): string => fileURLToPath(new URL('../../../../bin/platform', import.meta.url));
/** Shifts the clock of the process that loads it, when it is told to. */
const clockModule = (): string => new URL('../installation/stepped-clock.js', import.meta.url).href;
