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

  /** The objects of this test as an informer sees them, while a client writes them one after the other. */
  class Work {
    readonly #prefix: string;
    readonly #witness = new Witness();
    readonly #stop = new AbortController();
    readonly #running: Promise<void>;
    readonly #requests = client.resource(configMaps);
    lost = 0;
    #made = 0;

    constructor(prefix: string) {
      this.#prefix = prefix;
      const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: (message: string) => assert.ifError(message) }; // prettier-ignore
      const informers = openInformers(client, { log });
      const { handler } = this.#witness;
      informers.of(configMaps, { namespace: 'default' }).handle(handler);
      this.#running = informers.run(this.#stop.signal);
    }

    /** Of a write that was under way when its server went away, the end is not known. */
    async write(count: number): Promise<void> {
      for (const end = this.#made + count; this.#made < end; this.#made++) {
        const object = { metadata: { namespace: 'default', name: `${this.#prefix}${this.#made}` } };
        try {
          await this.#requests.create(object, {}, never);
        } catch (err) {
          assert.ok(err instanceof RemoteError, String(err));
          this.lost++;
          await this.#requests.create(object, {}, never).catch((err: unknown) => assert.ok(isApiError(err, 'AlreadyExists'))); // prettier-ignore
        }
      }
    }

    /** Waits until the informer has seen all that was written, and nothing else. */
    async seen(): Promise<void> {
      const { items } = await this.#requests.list({ namespace: 'default' }, never);
      assert.equal(items.filter(({ metadata }) => metadata.name.startsWith(this.#prefix)).length, this.#made);
      const versions = (): string[] => [...this.#witness.states.values()].map(({ metadata }) => metadata.uid).sort();
      const expected = items.map(({ metadata }) => metadata.uid).sort();
      while (versions().length < expected.length) await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual([versions(), this.#witness.wrong], [expected, []]);
    }

    async end(): Promise<void> {
      this.#stop.abort();
      await this.#running;
    }
  }

  it('writes and follows on, whichever server is killed', async () => {
    const work = new Work('a');
    const killed = async (i: number): Promise<void> => {
      servers[i]?.kill('SIGKILL');
      await servers[i]?.exited;
    };
    await Promise.all([work.write(60), killed(0)]);
    await work.write(20);
    servers[0] = await startServer(0);
    await Promise.all([work.write(60), killed(1)]);
    await work.write(20);
    assert.ok(work.lost <= 2);
    await work.seen();
    await work.end();
    servers[1] = await startServer(1);
  });

  it('writes and follows on while a server hangs, and soon', async () => {
    const work = new Work('b');
    await work.write(5);
    for (const server of servers) {
      server.kill('SIGSTOP');
      try {
        const from = performance.now();
        await work.write(20);
        await work.seen();
        assert.ok(performance.now() - from < 20_000, 'it took as long as a request may take'); // some 2 s
      } finally {
        server.kill('SIGCONT');
      }
    }
    assert.ok(work.lost <= 2);
    await work.end();
  });
});
