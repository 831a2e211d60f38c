import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { fixed } from '../../services/client/credentials/fixed.js';
import type { Informer, Informers } from '../../services/client/informer/informer.js';
import { openInformers } from '../../services/client/informer/open-informers.js';
import { Witness } from '../../services/client/informer/testing/scripted-server.js';
import { builtInTypes } from '../../services/client/rest/built-in-types.js';
import { isApiError, type ApiClient, type ResourceClient } from '../../services/client/rest/client.js';
import { openApiClient, type ClientOptions } from '../../services/client/rest/open-client.js';
import { keyOf, type AnyObject, type Live } from '../../services/client/rest/resource-type.js';
import { freePorts } from '../../services/machinery/testing/free-port.js';
import { tcpProxy, type TcpProxy } from '../../services/machinery/testing/tcp-proxy.js';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { credentialsOf } from '../support/client.js';
import { startPlatform, type Running } from '../support/platform.js';
import { removeDirectory, scratchDirectory } from '../support/scratch.js';

const words = vocabulary('platform');
const { configMaps } = builtInTypes(words);
const never = new AbortController().signal;
const NAMESPACE = 'default';
const NAMES = 40;
const CUTS = 50;
const WRITERS = 4;

type ConfigMaps = ResourceClient<NonNullable<(typeof configMaps)['object']>>;

/** An informer that is watched by a handler which was there from the start. */
interface Watched {
  readonly name: string;
  readonly client: ApiClient;
  readonly informer: Informer<AnyObject>;
  readonly witness: Witness;
}

/** Resolves when it holds. @throws {Error} after 30 s */
async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`${what} does not come`);
    await sleep(5);
  }
}

describe('informers of a real server', function () {
  this.timeout(120_000);
  let dataDir: string;
  let port: number;
  let server: Running;
  let wire: TcpProxy;
  let writer: ApiClient;
  let watched: readonly Watched[];
  let stop: AbortController;
  let running: Promise<unknown>;
  let begunAnew: number;

  const log = { debug: () => undefined, info: () => begunAnew++, warn: () => undefined, error: (message: string, keys?: object) => assert.ifError({ message, ...keys }) }; // prettier-ignore
  const startServer = async (): Promise<void> => {
    server = await startPlatform({ dataDir, args: [`--secure-port=${port}`, '--etcd-compaction-interval=1s'] });
  };
  const open = (at: readonly number[], o: Partial<ClientOptions> = {}): ApiClient => {
    const { ca, cert, key } = credentialsOf(server.kubeconfig);
    return openApiClient({
      servers: at.map((it) => new URL(`https://127.0.0.1:${it}`)),
      trust: { authorities: ca, serverName: undefined, insecure: false },
      credentials: fixed({ headers: {}, cert: cert ?? '', key: key ?? '' }),
      userAgent: 'a test',
      vocabulary: words,
      qps: Infinity,
      ...o,
    });
  };
  const watch = (name: string, client: ApiClient, of: (informers: Informers) => Informer<AnyObject>): Watched => {
    const informers = openInformers(client, { log });
    const informer = of(informers);
    const witness = new Witness();
    informer.handle(witness.handler);
    running = Promise.all([running, informers.run(stop.signal)]);
    return { name, client, informer, witness };
  };
  before(async () => {
    begunAnew = 0;
    stop = new AbortController();
    running = Promise.resolve();
    dataDir = scratchDirectory();
    [port = 0] = await freePorts(1);
    await startServer();
    wire = await tcpProxy(port);
    writer = open([port]);
    watched = [
      watch('JSON', open([wire.port]), (it) => it.of(configMaps)),
      watch('Protobuf', open([wire.port], { contentType: 'protobuf' }), (it) => it.of(configMaps)),
      watch('metadata', open([wire.port]), (it) => it.metadataOf(configMaps)),
      watch('one namespace, two addresses', open([port, wire.port]), (it) =>
        it.of(configMaps, { namespace: NAMESPACE }),
      ),
    ];
    await Promise.all(watched.map(({ informer }) => informer.synced(never)));
  });
  after(async () => {
    stop.abort();
    await running;
    for (const { client } of [...watched, { client: writer }]) client.close();
    await wire.close();
    await server.stop();
    removeDirectory(dataDir);
  });

  /** Creates, changes and deletes objects until the signal fires. */
  const write = async (signal: AbortSignal): Promise<void> => {
    const requests: ConfigMaps = writer.resource(configMaps);
    while (!signal.aborted) {
      const name = `a${Math.floor(Math.random() * NAMES)}`;
      const object = { metadata: { namespace: NAMESPACE, name }, data: { at: String(Math.random()) } };
      try {
        if (Math.random() < 0.3) await requests.delete(object.metadata, {}, never);
        else await requests.update(object, {}, never).catch(() => requests.create(object, {}, never));
      } catch (err) {
        if (!isApiError(err, 'NotFound', 'AlreadyExists', 'Conflict')) throw err;
      }
    }
  };
  const whileWriting = async (work: () => Promise<void>): Promise<void> => {
    const end = new AbortController();
    const writing = Array.from({ length: WRITERS }, () => write(end.signal));
    await Promise.race([work(), Promise.all(writing)]).finally(() => end.abort());
    await Promise.all(writing);
  };
  const states = (objects: readonly Live<AnyObject>[]): string[] =>
    objects.map(({ metadata: { resourceVersion, ...metadata } }) => `${keyOf(metadata)} at ${resourceVersion}`).sort();
  /** Every store and what every handler saw are what a fresh list gives. */
  const same = async (): Promise<void> => {
    for (const { name, informer, witness } of watched) {
      const isOne = name.startsWith('one namespace');
      const { items } = await writer.resource(configMaps).list(isOne ? { namespace: NAMESPACE } : {}, never);
      const expected = states(items);
      assert.ok(expected.length > 0);
      const holds = (): boolean => JSON.stringify(states(informer.store.list())) === JSON.stringify(expected);
      await until(name, holds).catch(() => assert.deepEqual(states(informer.store.list()), expected, name));
      assert.deepEqual(states([...witness.states.values()]), expected, name);
      assert.deepEqual(witness.wrong, [], name);
      if (name !== 'metadata') assert.deepEqual(sorted(informer.store.list()), sorted(items), name); // prettier-ignore
    }
  };
  const sorted = (objects: readonly Live<AnyObject>[]): Live<AnyObject>[] =>
    [...objects].sort((a, b) => (keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1));

  it(`hold what it has after ${CUTS} cuts of their feed, while objects come, change and go`, async () => {
    await whileWriting(async () => {
      for (let cut = 0; cut < CUTS; cut++) {
        const before = watched.map(({ witness }) => witness.lines.length);
        const isFed = (): boolean => watched.every(({ witness }, i) => witness.lines.length > (before[i] ?? 0));
        await until('an event after a cut', isFed);
        wire.cut();
      }
    });
    assert.ok(wire.accepted > CUTS);
    await same();
  });

  it('hold what it has after it was killed and started again', async () => {
    const kill = async (): Promise<void> => {
      server.kill('SIGKILL');
      await server.exited;
      await startServer();
    };
    for (let times = 0; times < 3; times++) {
      await kill();
      await writer
        .resource(configMaps)
        .create({ metadata: { namespace: NAMESPACE, name: `killed-${times}` } }, {}, never);
    }
    await same();
  });

  it('begin anew where its history is gone', async () => {
    const { resourceVersion } = await writer.resource(configMaps).list({}, never);
    const before = begunAnew;
    await wire.refuse();
    await writer.resource(configMaps).deleteCollection({ namespace: NAMESPACE, fieldSelector: 'metadata.name=killed-1' }, never); // prettier-ignore
    server.kill('SIGKILL');
    await server.exited;
    await startServer();
    await until('the end of the history', async () => {
      await writer.resource(configMaps).apply({ metadata: { namespace: NAMESPACE, name: 'later' }, data: { at: String(Math.random()) } }, { fieldManager: 'test' }, never); // prettier-ignore
      return isGone(writer, resourceVersion);
    });
    await wire.admit();
    await same();
    assert.ok(begunAnew > before);
  });
});

/** Whether a watch cannot begin there any more. */
async function isGone(client: ApiClient, resourceVersion: string): Promise<boolean> {
  try {
    for await (const _ of client.resource(configMaps).watch({ resourceVersion }, never)) return false;
    return false;
  } catch (err) {
    if (isApiError(err, 'Expired')) return true;
    throw err;
  }
}
