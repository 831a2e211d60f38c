import assert from 'node:assert/strict';
import { startEtcd, type EtcdServer } from '../../services/storage/testing/start-etcd.js';
import { tcpProxy, type TcpProxy } from '../../services/machinery/testing/tcp-proxy.js';
import type { Client } from './tools/client.js';
import type { WatchEvent } from './tools/document.js';
import { configMap, configMapsIn, createConfigMap, eventually, newNamespace, ok } from './tools/objects.js';
import { TestServer } from './tools/server.js';
import { inShort, versionOf, type WatchReader } from './tools/watch-reader.js';

const CATCH_UP = 3_000;

async function watchNow(client: Client, path: string): Promise<WatchReader> {
  const { resourceVersion } = ok(await client.get(path)).metadata;
  return client.watch(`${path}?watch=1&resourceVersion=${resourceVersion}`);
}

/** Objects that `writeMany` makes first and then changes in turn. */
const OBJECTS = 500;

/** Many writes at once, as several clients would. @returns The versions that were acknowledged, in order. */
async function writeMany(client: Client, path: string, count: number): Promise<number[]> {
  const versions: number[] = [];
  const write = async (i: number): Promise<void> => {
    const name = `many-${i % OBJECTS}`;
    const body = configMap(name, { data: { i: String(i), text: 'x'.repeat(500) } });
    const reply = await (i < OBJECTS ? client.post(path, body) : client.put(`${path}/${name}`, body));
    assert.ok(reply.code === 200 || reply.code === 201, reply.text);
    versions.push(Number(reply.body.metadata.resourceVersion));
  };
  const writeAll = async (from: number, to: number): Promise<void> => {
    const left = Array.from({ length: to - from }, (_, i) => from + i).values();
    const writer = async (): Promise<void> => {
      for (const i of left) await write(i);
    };
    await Promise.all(Array.from({ length: 16 }, writer));
  };
  await writeAll(0, OBJECTS);
  await writeAll(OBJECTS, count);
  return versions.sort((a, b) => a - b);
}

const isReady = async ({ client }: TestServer): Promise<boolean> => (await client.get('/readyz')).code === 200;
const becomes = (server: TestServer, ready: boolean): Promise<true> =>
  eventually(async () => ((await isReady(server)) === ready ? true : undefined), 20_000);

/** Looks at /livez until the signal fires. @returns Every code that it answered with. */
async function livezCodes(servers: readonly TestServer[], signal: AbortSignal): Promise<Set<number>> {
  const codes = new Set<number>();
  while (!signal.aborted) {
    for (const { client } of servers) codes.add((await client.get('/livez')).code);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return codes;
}

/** Writes one object after the other until the signal fires, whatever comes back. @returns What was acknowledged. */
async function writeOn(client: Client, path: string, prefix: string, signal: AbortSignal): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let i = 0; !signal.aborted; i++) {
    const reply = await client.post(path, configMap(`${prefix}-${i}`)).catch(() => undefined);
    if (reply?.code === 201) acknowledged.push(`${prefix}-${i}`);
  }
  return acknowledged;
}

describe('two servers on one etcd', function () {
  this.timeout(90_000);
  let etcd: EtcdServer;
  let wire: TcpProxy;
  let one: TestServer;
  /** Speaks to etcd over the wire. */
  let two: TestServer;

  before(async () => {
    etcd = await startEtcd();
    wire = await tcpProxy(etcd.port);
    one = await TestServer.start({ store: 'etcd', etcdUrl: etcd.url });
    two = await TestServer.start({ store: 'etcd', etcdUrl: `http://127.0.0.1:${wire.port}` });
  });
  after(async () => {
    await one.close();
    await two.close();
    await wire.close();
    await etcd.stop();
  });

  it('see at once what was written through the other, 1,000 times in turn', async () => {
    const namespace = await newNamespace(one.client);
    const path = configMapsIn(namespace);
    await createConfigMap(one.client, namespace, 'a');
    for (let i = 0; i < 1_000; i++) {
      const [writes, reads] = i % 2 === 0 ? [one.client, two.client] : [two.client, one.client];
      const written = ok(await writes.put(`${path}/a`, configMap('a', { data: { i: String(i) } })));
      const read = i % 10 < 5 ? ok(await reads.get(`${path}/a`)) : ok(await reads.get(path)).items[0];
      assert.deepEqual(
        [read?.data, read?.metadata.resourceVersion],
        [{ i: String(i) }, written.metadata.resourceVersion],
      );
    }
  });

  it('take turns at an object, each from the version that the other has just made', async () => {
    const namespace = await newNamespace(one.client);
    const takeTurns = async (name: string): Promise<void> => {
      let last = await createConfigMap(one.client, namespace, name);
      for (let i = 0; i < 60; i++) {
        const { client } = i % 2 === 0 ? two : one;
        last = ok(await client.put(`${configMapsIn(namespace)}/${name}`, { ...last, data: { i: String(i) } }));
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, i) => takeTurns(`turns-${i}`)));
  });

  it('let one of two writers win', async () => {
    const namespace = await newNamespace(one.client);
    const path = `${configMapsIn(namespace)}/a`;
    for (let i = 0; i < 20; i++) {
      const body = configMap(`a-${i}`);
      const codes = await Promise.all([one, two].map(({ client }) => client.post(configMapsIn(namespace), body)));
      assert.deepEqual(codes.map(({ code }) => code).sort(), [201, 409]); // prettier-ignore
    }
    await createConfigMap(one.client, namespace, 'a');
    const patches = [one, two].flatMap(({ client }, s) =>
      Array.from({ length: 20 }, (_, i) => client.patch(path, { data: { [`${s}-${i}`]: 'here' } })),
    );
    for (const reply of await Promise.all(patches)) ok(reply);
    assert.equal(Object.keys(ok(await two.client.get(path)).data).length, 40);
  });

  it('deliver the same sequence to watchers of both', async () => {
    const namespace = await newNamespace(one.client);
    const path = configMapsIn(namespace);
    const watches = [await watchNow(one.client, path), await watchNow(two.client, path)];
    const write = async ({ client }: TestServer, prefix: string): Promise<void> => {
      for (let i = 0; i < 150; i++) {
        await createConfigMap(client, namespace, `${prefix}-${i}`);
        if (i % 3 === 0) ok(await client.delete(`${path}/${prefix}-${i}`));
      }
    };
    await Promise.all([write(one, 'one'), write(two, 'two')]);
    const [first = [], second] = await Promise.all(watches.map((watch) => watch.take(400)));
    assert.deepEqual(first, second);
    const versions = first.map(versionOf);
    const rising = [...new Set(versions)].sort((a, b) => a - b);
    assert.deepEqual(versions, rising);
    for (const watch of watches) watch.close();
  });

  it('lose nothing that was acknowledged when etcd is killed and started again', async () => {
    const namespace = await newNamespace(one.client);
    const path = configMapsIn(namespace);
    const watches = [await watchNow(one.client, path), await watchNow(two.client, path)];
    const over = new AbortController();
    const alive = livezCodes([one, two], over.signal);
    const writing = [one, two].map(({ client }, i) => writeOn(client, path, `w${i}`, over.signal));
    for (let round = 0; round < 2; round++) {
      await eventually(async () =>
        ok(await one.client.get(path)).items.length >= 50 * (round + 1) ? true : undefined,
      );
      await etcd.kill();
      await Promise.all([one, two].map((server) => becomes(server, false)));
      const reply = await one.client.get(path);
      assert.ok([503, 504].includes(reply.code), reply.text);
      assert.match(String(reply.headers['retry-after']), /^\d+$/);
      await etcd.restart();
      await Promise.all([one, two].map((server) => becomes(server, true)));
    }
    over.abort();
    const acknowledged = (await Promise.all(writing)).flat().sort();
    assert.deepEqual(await alive, new Set([200]));

    const { items } = ok(await two.client.get(path));
    const stored = new Set(items.map(({ metadata }) => metadata.name));
    assert.deepEqual(acknowledged.filter((name) => !stored.has(name)), []); // prettier-ignore
    const sequences = await Promise.all(watches.map((watch) => watch.take(items.length)));
    assert.deepEqual(sequences[0], sequences[1]);
    assert.deepEqual(sequences[0]?.map(inShort).sort(), [...stored].sort().map((name) => `ADDED ${name}`)); // prettier-ignore
    assert.equal(watches[0]?.waiting, 0);
    for (const watch of watches) watch.close();
  });

  for (const title of ['refused', 'silent']) {
    it(`skip and repeat nothing of ${CATCH_UP} events when the wire was ${title} and breaks while they catch up`, async () => {
      const namespace = await newNamespace(one.client);
      const path = configMapsIn(namespace);
      await eventually(async () =>
        (await two.client.get(`/api/v1/namespaces/${namespace}`)).code === 200 ? true : undefined,
      );
      const watch = await watchNow(two.client, path);
      const over = new AbortController();
      const alive = livezCodes([one, two], over.signal);
      if (title === 'refused') await wire.refuse();
      else wire.pause();
      const versions = await writeMany(one.client, path, CATCH_UP);
      assert.equal(await isReady(one), true);
      await becomes(two, false);

      await wire.admit();
      wire.resume();
      const events: WatchEvent[] = [];
      for (const upTo of [1, 700, 1_500, 2_300]) {
        events.push(...(await watch.take(upTo - events.length)));
        wire.cut();
      }
      events.push(...(await watch.take(CATCH_UP - events.length)));
      assert.deepEqual(events.map(versionOf), versions);
      await becomes(two, true);
      over.abort();
      assert.deepEqual(await alive, new Set([200]));
      const last = await createConfigMap(two.client, namespace, 'after');
      assert.equal(versionOf(await watch.next()), Number(last.metadata.resourceVersion));
      watch.close();
    });
  }

  it(`skip and repeat nothing when the wire breaks while ${CATCH_UP} events come from the store`, async () => {
    const namespace = await newNamespace(one.client);
    const path = configMapsIn(namespace);
    const { resourceVersion } = ok(await one.client.get(path)).metadata;
    const versions = await writeMany(one.client, path, CATCH_UP);
    await two.restart(); // what it remembers begins now
    const from = `${path}?watch=1&resourceVersion=${resourceVersion}`;
    const reference = await one.client.watch(from);
    const expected = await reference.take(CATCH_UP);
    assert.deepEqual(expected.map(versionOf), versions);
    const watch = await two.client.watch(from);
    const events: WatchEvent[] = [];
    for (const upTo of [1, 700, 1_500, 2_300]) {
      events.push(...(await watch.take(upTo - events.length)));
      wire.cut();
    }
    events.push(...(await watch.take(CATCH_UP - events.length)));
    assert.deepEqual(events, expected);
    await becomes(two, true);
    const last = await createConfigMap(one.client, namespace, 'after');
    for (const it of [watch, reference]) {
      assert.equal(versionOf(await it.next()), Number(last.metadata.resourceVersion));
      it.close();
    }
  });
});
