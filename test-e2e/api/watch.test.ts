import assert from 'node:assert/strict';
import type { Client } from './tools/client.js';
import type { WatchEvent } from './tools/document.js';
import { Http2Client } from './tools/http2-client.js';
import {
  configMap,
  configMapsIn,
  createConfigMap,
  created,
  deployment,
  deploymentsIn,
  eventually,
  newNamespace,
  ok,
  pod,
} from './tools/objects.js';
import { onBothStores, type TestServer } from './tools/server.js';
import { inShort, versionOf, type WatchReader } from './tools/watch-reader.js';

type Server = () => TestServer;

const watchFrom = (path: string, version: string | number, more = ''): string =>
  `${path}?watch=1&resourceVersion=${version}${more}`;

async function versionNow(client: Client, path: string): Promise<string> {
  return ok(await client.get(path)).metadata.resourceVersion;
}

/** Creates, changes and deletes objects, so that every kind of event comes in a mixed order. @returns Where it began. */
async function eventfulPast(client: Client, namespace: string, steps: number): Promise<string> {
  const path = configMapsIn(namespace);
  const begin = await versionNow(client, path);
  const alive: string[] = [];
  for (let i = 0; i < steps; i++) {
    const oldest = alive[0];
    if (oldest !== undefined && i % 4 === 3) {
      ok(await client.delete(`${path}/${oldest}`));
      alive.shift();
    } else if (oldest !== undefined && i % 4 === 2) {
      ok(
        await client.patch(`${path}/${oldest}`, {
          data: { step: String(i) },
          metadata: { labels: { even: i % 8 === 2 ? 'yes' : 'no' } },
        }),
      );
    } else {
      await createConfigMap(client, namespace, `cm-${i}`, {
        data: { step: String(i) },
        labels: { even: i % 2 === 0 ? 'yes' : 'no' },
      });
      alive.push(`cm-${i}`);
    }
  }
  return begin;
}

function collections(server: Server): void {
  it('delivers ADDED, MODIFIED and DELETED with rising versions; DELETED has the last state', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const watch = await client.watch(watchFrom(path, await versionNow(client, path)));
    const first = await createConfigMap(client, namespace, 'a', { data: { x: '1' } });
    const second = ok(await client.patch(`${path}/a`, { data: { x: '2' } }));
    ok(await client.delete(`${path}/a`));
    const events = await watch.take(3);
    watch.close();
    assert.deepEqual(events.map(inShort), ['ADDED a', 'MODIFIED a', 'DELETED a']);
    assert.deepEqual(events[0]?.object, first);
    assert.deepEqual(events[1]?.object, second);
    const { metadata, ...last } = events[2]!.object;
    const { metadata: before, ...state } = second;
    assert.deepEqual(last, state);
    assert.deepEqual({ ...metadata, resourceVersion: '' }, { ...before, resourceVersion: '' });
    assert.ok(versionOf(events[2]!) > versionOf(events[1]));
  });

  it('delivers nothing of another namespace, and everything to a watch of all', async () => {
    const { client } = server();
    const [mine, other] = [await newNamespace(client), await newNamespace(client)];
    const begin = await versionNow(client, '/api/v1/configmaps');
    const ofMine = await client.watch(watchFrom(configMapsIn(mine), begin));
    const ofAll = await client.watch(watchFrom('/api/v1/configmaps', begin));
    await createConfigMap(client, other, 'o');
    await createConfigMap(client, mine, 'm');
    assert.deepEqual((await ofAll.take(2)).map(inShort), ['ADDED o', 'ADDED m']);
    assert.equal(inShort(await ofMine.next()), 'ADDED m');
    for (const it of [ofMine, ofAll]) it.close();
  });

  it('shows each version of a type its own form', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const versions = ['v1', 'v2'];
    const paths = versions.map((v) => `/apis/autoscaling/${v}/namespaces/${namespace}/horizontalpodautoscalers`);
    const watches = await Promise.all(paths.map((path) => client.watch(`${path}?watch=1`)));
    const spec = { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 3 };
    const body = { kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v1', metadata: { name: 'h' } };
    created(await client.post(paths[0]!, { ...body, spec: { ...spec, targetCPUUtilizationPercentage: 50 } }));
    const [one, two] = await Promise.all(watches.map((watch) => watch.next()));
    assert.equal(one!.object.apiVersion, 'autoscaling/v1');
    assert.equal(one!.object.spec['targetCPUUtilizationPercentage'], 50);
    assert.equal(two!.object.apiVersion, 'autoscaling/v2');
    assert.ok(Array.isArray(two!.object.spec['metrics']));
    for (const it of watches) it.close();
  });
}

function singleObjects(server: Server): void {
  /** Path of a watch of the object `a`, given its namespace. */
  const paths: readonly ((ns: string) => string)[] = [
    (ns) => `${configMapsIn(ns)}/a?watch=1`,
    (ns) => `${configMapsIn(ns)}?watch=1&fieldSelector=metadata.name%3Da`,
    (ns) => `/api/v1/watch/namespaces/${ns}/configmaps/a`,
  ];
  for (const pathOf of paths) {
    it(`${pathOf('NS')}: its events and nobody else's`, async () => {
      const { client } = server();
      const namespace = await newNamespace(client);
      await createConfigMap(client, namespace, 'a');
      await createConfigMap(client, namespace, 'b');
      const watch = await client.watch(pathOf(namespace));
      assert.equal(inShort(await watch.next()), 'ADDED a');
      ok(await client.patch(`${configMapsIn(namespace)}/b`, { data: { x: '1' } }));
      ok(await client.patch(`${configMapsIn(namespace)}/a`, { data: { x: '1' } }));
      ok(await client.delete(`${configMapsIn(namespace)}/a`));
      assert.deepEqual((await watch.take(2)).map(inShort), ['MODIFIED a', 'DELETED a']);
      watch.close();
    });
  }

  it('watches an object that is not there yet', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const watch = await client.watch(`${configMapsIn(namespace)}/later?watch=true`);
    await createConfigMap(client, namespace, 'other');
    await createConfigMap(client, namespace, 'later');
    assert.equal(inShort(await watch.next()), 'ADDED later');
    watch.close();
  });

  it('watches collections, groups and namespaces below /watch/', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    created(await client.post(deploymentsIn(namespace), deployment('d')));
    await createConfigMap(client, namespace, 'c');
    const first = async (path: string): Promise<string> => {
      const watch = await client.watch(path);
      const event = await watch.next();
      watch.close();
      return inShort(event);
    };
    assert.equal(await first(`/api/v1/watch/namespaces/${namespace}/configmaps`), 'ADDED c');
    assert.equal(await first(`/apis/apps/v1/watch/namespaces/${namespace}/deployments`), 'ADDED d');
    assert.equal(
      await first(`/apis/apps/v1/watch/deployments?fieldSelector=metadata.namespace=${namespace}`),
      'ADDED d',
    );
    assert.equal(await first(`/api/v1/watch/namespaces/${namespace}`), `ADDED ${namespace}`);
    assert.equal(await first('/api/v1/watch/namespaces?fieldSelector=metadata.name=default'), 'ADDED default');
  });
}

function selectors(server: Server): void {
  it('makes ADDED of an object that enters the selection and DELETED of one that leaves it', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const begin = await versionNow(client, path);
    const watch = await client.watch(watchFrom(path, begin, '&labelSelector=in%3Dyes'));
    const relabel = async (value: string, data: string): Promise<string> =>
      ok(await client.patch(`${path}/a`, { metadata: { labels: { in: value } }, data: { data } })).metadata
        .resourceVersion;
    await createConfigMap(client, namespace, 'a', { labels: { in: 'no' } });
    await relabel('yes', 'entered');
    await relabel('yes', 'changed');
    const left = await relabel('no', 'left');
    await relabel('no', 'outside');
    await relabel('yes', 'back');
    ok(await client.delete(`${path}/a`));
    const events = await watch.take(5);
    assert.deepEqual(
      events.map(({ type, object }) => `${type} ${object.data['data'] ?? ''}`),
      ['ADDED entered', 'MODIFIED changed', 'DELETED changed', 'ADDED back', 'DELETED back'],
    );
    assert.equal(events[2]?.object.metadata.resourceVersion, left);
    assert.deepEqual(events[2].object.metadata.labels, { in: 'yes' });
    watch.close();
  });

  it('does the same for field selectors', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const running = `fieldSelector=${encodeURIComponent('status.phase=Running,spec.nodeName=n1')}`;
    const watch = await client.watch(`${path}?watch=1&${running}`);
    created(await client.post(path, pod('p', { nodeName: 'n1' })));
    const phase = async (value: string): Promise<void> =>
      void ok(await client.patch(`${path}/p/status`, { status: { phase: value } }));
    await phase('Running');
    await phase('Failed');
    await phase('Running');
    ok(await client.delete(`${path}/p`, { gracePeriodSeconds: 0 }));
    assert.deepEqual((await watch.take(4)).map(inShort), ['ADDED p', 'DELETED p', 'ADDED p', 'DELETED p']);
    watch.close();
  });
}

function ending(server: Server): void {
  it('ends by itself after timeoutSeconds', async () => {
    const { client } = server();
    const from = Date.now();
    const watch = await client.watch(`${configMapsIn('default')}?watch=1&resourceVersion=0&timeoutSeconds=1`);
    assert.equal(await watch.ended, 'end');
    assert.ok(Date.now() - from >= 950);
  });

  it('sends a bookmark near the end, to those who asked for it', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const begin = await versionNow(client, path);
    const [asked, notAsked] = await Promise.all([
      client.watch(watchFrom(path, begin, '&timeoutSeconds=6&allowWatchBookmarks=true')),
      client.watch(watchFrom(path, begin, '&timeoutSeconds=3')),
    ]);
    await createConfigMap(client, namespace, 'a');
    const elsewhere = await createConfigMap(client, 'default', `elsewhere-${namespace}`);
    const events = await asked.rest();
    assert.deepEqual(events.map((e) => e.type), ['ADDED', 'BOOKMARK']); // prettier-ignore
    const { kind, apiVersion, metadata, ...more } = events[1]!.object;
    assert.deepEqual([kind, apiVersion, more], ['ConfigMap', 'v1', {}]);
    assert.deepEqual(Object.keys(metadata).sort(), ['creationTimestamp', 'resourceVersion']);
    assert.ok(versionOf(events[1]!) >= Number(elsewhere.metadata.resourceVersion));
    assert.deepEqual((await notAsked.rest()).map(inShort), ['ADDED a']);

    const resumed = await client.watch(watchFrom(path, metadata.resourceVersion));
    await createConfigMap(client, namespace, 'b');
    assert.equal(inShort(await resumed.next()), 'ADDED b');
    resumed.close();
  });
}

/** Resolves when the server has followed the store up to a version. */
async function listed(client: Client, path: string, resourceVersion: string): Promise<void> {
  ok(await client.get(`${path}?resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan`));
}

const END_OF_INITIAL = 'platform.io/initial-events-end';

function initialEvents(server: Server): void {
  for (const version of ['', '&resourceVersion=0', '&resourceVersion=NOW']) {
    it(`sendInitialEvents=true${version}: state, a marked bookmark, changes`, async () => {
      const { client } = server();
      const namespace = await newNamespace(client);
      const path = configMapsIn(namespace);
      await createConfigMap(client, namespace, 'a');
      const { resourceVersion } = (await createConfigMap(client, namespace, 'b')).metadata;
      await listed(client, path, resourceVersion); // any version that the server has is enough for 0
      const query = `sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
      const watch = await client.watch(`${path}?watch=1&${query}${version.replace('NOW', resourceVersion)}`);
      const [a, b, mark] = await watch.take(3);
      assert.deepEqual([inShort(a!), inShort(b!), mark!.type], ['ADDED a', 'ADDED b', 'BOOKMARK']);
      assert.deepEqual(mark!.object.metadata.annotations, { [END_OF_INITIAL]: 'true' });
      assert.ok(versionOf(mark!) >= Number(resourceVersion));
      await createConfigMap(client, namespace, 'c');
      assert.equal(inShort(await watch.next()), 'ADDED c');
      watch.close();
    });
  }

  it('marks the end of an empty state, too', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await client.watch(`${configMapsIn(namespace)}?${query}`);
    const mark = await watch.next();
    assert.deepEqual([mark.type, mark.object.metadata.annotations], ['BOOKMARK', { [END_OF_INITIAL]: 'true' }]);
    watch.close();
  });

  it('sendInitialEvents=false leaves the state out', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const a = await createConfigMap(client, namespace, 'a');
    await listed(client, configMapsIn(namespace), a.metadata.resourceVersion); // the watch begins with what the server has
    const watch = await client.watch(
      `${configMapsIn(namespace)}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`,
    );
    await createConfigMap(client, namespace, 'b');
    assert.equal(inShort(await watch.next()), 'ADDED b');
    watch.close();
  });
}

/** All watches from any event on must deliver the rest of `events`, byte for byte the same. */
async function resumeEverywhere(client: Client, path: string, events: readonly WatchEvent[], more = ''): Promise<void> {
  const resumed = events.map(async (event, i) => {
    const watch = await client.watch(watchFrom(path, versionOf(event), more));
    assert.deepEqual(await watch.take(events.length - i - 1), events.slice(i + 1));
    watch.close();
  });
  await Promise.all(resumed);
}

function resuming(server: Server): void {
  it('goes on after any event without a gap or a repeat', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const watch = await client.watch(watchFrom(path, await eventfulPast(client, namespace, 40)));
    const events = await watch.take(40);
    watch.close();
    await resumeEverywhere(client, path, events);
  });

  it('serves a start that is older than its own memory from the store, selectors included', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const begin = await eventfulPast(client, namespace, 40);
    const selected = '&labelSelector=even%3Dyes';
    const read = async (more: string, count: number): Promise<WatchEvent[]> => {
      const watch = await client.watch(watchFrom(path, begin, more));
      const events = await watch.take(count);
      watch.close();
      return events;
    };
    const all = await read('', 40);
    const timed = await client.watch(watchFrom(path, begin, `${selected}&timeoutSeconds=1`));
    const some = await timed.rest();
    assert.ok(some.length > 10 && some.length < 40);

    await server().restart();
    assert.deepEqual(await read('', 40), all);
    assert.deepEqual(await read(selected, some.length), some);
    await resumeEverywhere(client, path, all);
    await resumeEverywhere(client, path, some, selected);
  });

  it('joins the past from the store to what happens meanwhile', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const begin = await eventfulPast(client, namespace, 60);
    await server().restart();
    const write = async (writer: number): Promise<void> => {
      for (let i = 0; i < 30; i++) await createConfigMap(client, namespace, `live-${writer}-${i}`);
    };
    const writing = Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
    const watches: WatchReader[] = [];
    for (let i = 0; i < 40; i++) watches.push(await client.watch(watchFrom(path, begin)));
    await writing;
    const sequences = await Promise.all(watches.map((watch) => watch.take(300)));
    const versions = sequences[0]!.map(versionOf);
    const rising = [...new Set(versions)].sort((a, b) => a - b);
    assert.deepEqual(versions, rising);
    for (const events of sequences) assert.deepEqual(events, sequences[0]);
    for (const watch of watches) watch.close();
  });

  it('waits for a version that has not come yet', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const { resourceVersion } = (await createConfigMap(client, namespace, 'a')).metadata;
    const watch = await client.watch(watchFrom(path, Number(resourceVersion) + 2));
    for (const name of ['b', 'c', 'd']) await createConfigMap(client, namespace, name);
    assert.equal(inShort(await watch.next()), 'ADDED d');
    watch.close();
    const never = await client.watch(watchFrom(path, 99_999_999_999, '&timeoutSeconds=1'));
    assert.deepEqual([await never.rest(), await never.ended], [[], 'end']);
  });
}

/** Opens watches on HTTP/1.1 connections, or as streams of one HTTP/2 connection. */
type Opener = (client: Client) => Promise<{ watch: (path: string) => Promise<WatchReader>; close: () => void }>;

const TRANSPORTS: readonly (readonly [string, Opener])[] = [
  ['HTTP/1.1', (client) => Promise.resolve({ watch: (path) => client.watch(path), close: () => undefined })],
  [
    'HTTP/2',
    async (client) => {
      const http2 = await Http2Client.connect(client);
      return { watch: (path) => http2.watch(path), close: () => http2.close() };
    },
  ],
];

async function longRunning(server: TestServer, count: number): Promise<void> {
  await eventually(async () => ((await server.metric('apiserver_longrunning_requests')) === count ? true : undefined));
}

function transports(server: Server): void {
  for (const [name, open] of TRANSPORTS) {
    it(`${name}: 250 watchers see the same, and nothing is left when they go away`, async () => {
      const { client } = server();
      const namespace = await newNamespace(client);
      const path = configMapsIn(namespace);
      const { watch, close } = await open(client);
      const begin = await versionNow(client, path);
      const watches = await Promise.all(Array.from({ length: 250 }, () => watch(watchFrom(path, begin))));
      await longRunning(server(), 250);
      for (let i = 0; i < 5; i++) await createConfigMap(client, namespace, `cm-${i}`);
      const expected = await watches[0]!.take(5);
      assert.deepEqual(expected.map(inShort), ['ADDED cm-0', 'ADDED cm-1', 'ADDED cm-2', 'ADDED cm-3', 'ADDED cm-4']); // prettier-ignore
      for (const it of watches.slice(1)) assert.deepEqual(await it.take(5), expected);
      for (const it of watches.slice(0, 200)) it.close();
      await longRunning(server(), 50);
      await createConfigMap(client, namespace, 'after');
      for (const it of watches.slice(200)) assert.equal(inShort(await it.next()), 'ADDED after');
      for (const it of watches.slice(200)) it.close();
      close();
      await longRunning(server(), 0);
    });

    it(`${name}: a receiver that stops reading holds up nobody and costs the server little`, async () => {
      const { client } = server();
      const namespace = await newNamespace(client);
      const path = configMapsIn(namespace);
      await createConfigMap(client, namespace, 'a');
      const { watch, close } = await open(client);
      const begin = await versionNow(client, path);
      const [slow, quick] = [await watch(watchFrom(path, begin)), await watch(watchFrom(path, begin))];
      slow.pause();
      const memoryBefore = server().memoryBytes;
      const text = 'x'.repeat(400_000);
      const versions: number[] = [];
      for (let i = 0; i < 100; i++) {
        const { metadata } = ok(await client.put(`${path}/a`, configMap('a', { data: { i: String(i), text } })));
        versions.push(Number(metadata.resourceVersion));
        const event = await quick.next();
        assert.equal(versionOf(event), versions[i]);
      }
      const grownMiB = (server().memoryBytes - memoryBefore) / 2 ** 20;
      assert.ok(grownMiB < 250, `grown by ${grownMiB} MiB`);

      slow.resume();
      const seen: WatchEvent[] = [];
      while (seen.length < versions.length && seen.at(-1)?.type !== 'ERROR') seen.push(await slow.next());
      const error = seen.at(-1)?.type === 'ERROR' ? seen.pop() : undefined;
      assert.deepEqual(seen.map(versionOf), versions.slice(0, seen.length), 'no gap before the end');
      if (error !== undefined) assert.deepEqual([error.object.code, error.object.reason], [410, 'Expired']);
      for (const it of [slow, quick]) it.close();
      close();
      await longRunning(server(), 0);
    });

    it(`${name}: a receiver that pauses for a few changes gets them all`, async () => {
      const { client } = server();
      const namespace = await newNamespace(client);
      const path = configMapsIn(namespace);
      await createConfigMap(client, namespace, 'a');
      const { watch, close } = await open(client);
      const slow = await watch(watchFrom(path, await versionNow(client, path)));
      slow.pause();
      const versions: number[] = [];
      for (let i = 0; i < 40; i++) {
        const body = configMap('a', { data: { i: String(i), text: 'x'.repeat(200_000) } });
        versions.push(Number(ok(await client.put(`${path}/a`, body)).metadata.resourceVersion));
      }
      slow.resume();
      assert.deepEqual((await slow.take(40)).map(versionOf), versions);
      slow.close();
      close();
    });
  }

  it('HTTP/1.1: the answer is chunked JSON', async () => {
    const { client } = server();
    const reply = await client.get(`${configMapsIn('default')}?watch=1&timeoutSeconds=1`);
    assert.deepEqual(
      [reply.code, reply.headers['transfer-encoding'], reply.headers['content-type']],
      [200, 'chunked', 'application/json'],
    );
  });

  it('ends all watches in good order when the server stops', async () => {
    const { client } = server();
    const opened = await Promise.all(TRANSPORTS.map(([, open]) => open(client)));
    const watches = await Promise.all(
      opened.flatMap(({ watch }) => Array.from({ length: 5 }, () => watch(`${configMapsIn('default')}?watch=1`))),
    );
    const code = await server().end();
    assert.equal(code, 0); // in good order: it waits for no watch
    assert.deepEqual(new Set(await Promise.all(watches.map((it) => it.ended))), new Set(['end']));
    await server().run();
  });
}

onBothStores('watch', [], (server) => {
  describe('collections', () => collections(server));
  describe('single objects', () => singleObjects(server));
  describe('selectors', () => selectors(server));
  describe('the end', () => ending(server));
  describe('initial events', () => initialEvents(server));
  describe('resuming', () => resuming(server));
  describe('transports', () => transports(server));
});
