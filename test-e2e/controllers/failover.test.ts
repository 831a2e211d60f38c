import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fixed } from '../../services/client/credentials/fixed.js';
import { openInformers } from '../../services/client/informer/open-informers.js';
import { Witness } from '../../services/client/informer/testing/scripted-server.js';
import { builtInTypes } from '../../services/client/rest/built-in-types.js';
import { isApiError, type ApiClient } from '../../services/client/rest/client.js';
import { openApiClient } from '../../services/client/rest/open-client.js';
import { RemoteError } from '../../services/client/remote/remote-service.js';
import { freePorts } from '../../services/machinery/testing/free-port.js';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { startEtcd, type EtcdServer } from '../../services/storage/testing/start-etcd.js';
import { credentialsOf } from '../support/client.js';
import { startPlatform, type Running } from '../support/platform.js';
import { removeDirectory, scratchDirectory } from '../support/scratch.js';

const words = vocabulary('platform');
const { configMaps } = builtInTypes(words);
const never = new AbortController().signal;

describe('a client with two addresses', function () {
  this.timeout(90_000);
  let dataDir: string;
  let etcd: EtcdServer;
  let ports: number[];
  let servers: Running[];
  let client: ApiClient;

  /** Both use the credentials of the first. */
  const startServer = (i: number): Promise<Running> => {
    const of = (file: string): string => join(dataDir, file);
    const files = i === 0 ? [] : [`--tls-cert-file=${of('apiserver.crt')}`, `--tls-private-key-file=${of('apiserver.key')}`, `--client-ca-file=${of('ca.crt')}`]; // prettier-ignore
    const args = [`--secure-port=${ports[i] ?? 0}`, ...files];
    return startPlatform({ store: 'etcd', etcdServers: [etcd.url], args, ...(i === 0 ? { dataDir } : {}) });
  };
  before(async () => {
    dataDir = scratchDirectory();
    etcd = await startEtcd();
    ports = await freePorts(2);
    servers = [await startServer(0)];
    servers.push(await startServer(1));
    const { ca, cert, key } = credentialsOf(servers[0]?.kubeconfig ?? '');
    client = openApiClient({
      servers: ports.map((port) => new URL(`https://127.0.0.1:${port}`)),
      trust: { authorities: ca, serverName: undefined, insecure: false },
      credentials: fixed({ headers: {}, cert: cert ?? '', key: key ?? '' }),
      userAgent: 'a test',
      vocabulary: words,
      qps: Infinity,
    });
  });
  after(async () => {
    client.close();
    for (const server of servers) await server.stop();
    await etcd.stop();
    removeDirectory(dataDir);
  });

  it('writes and follows on, whichever server is killed', async () => {
    const requests = client.resource(configMaps);
    const stop = new AbortController();
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: (message: string) => assert.ifError(message) }; // prettier-ignore
    const informers = openInformers(client, { log });
    const informer = informers.of(configMaps, { namespace: 'default' });
    const witness = new Witness();
    informer.handle(witness.handler);
    const running = informers.run(stop.signal);
    let lost = 0;
    let made = 0;
    /** Writes one after the other. Of a write that was under way when its server was killed, the end is not known. */
    const write = async (count: number): Promise<void> => {
      for (const end = made + count; made < end; made++) {
        const object = { metadata: { namespace: 'default', name: `a${made}` } };
        try {
          await requests.create(object, {}, never);
        } catch (err) {
          assert.ok(err instanceof RemoteError, String(err));
          lost++;
          await requests.create(object, {}, never).catch((err: unknown) => assert.ok(isApiError(err, 'AlreadyExists')));
        }
      }
    };
    const killed = async (i: number): Promise<void> => {
      servers[i]?.kill('SIGKILL');
      await servers[i]?.exited;
    };
    await Promise.all([write(60), killed(0)]);
    await write(20);
    servers[0] = await startServer(0);
    await Promise.all([write(60), killed(1)]);
    await write(20);
    const { items } = await requests.list({ namespace: 'default' }, never);
    assert.equal(items.length, made);
    assert.ok(lost <= 2);
    const versions = (): string[] => [...witness.states.values()].map(({ metadata }) => metadata.uid).sort();
    const expected = items.map(({ metadata }) => metadata.uid).sort();
    while (versions().length < expected.length) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([versions(), witness.wrong], [expected, []]);
    stop.abort();
    await running;
  });
});
