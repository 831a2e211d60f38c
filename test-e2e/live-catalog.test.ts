import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { addition } from '../services/apiserver/registry/testing/additions.js';
import type { Client } from './api/tools/client.js';
import type { WatchEvent } from './api/tools/document.js';
import type { WatchReader } from './api/tools/watch-reader.js';
import { startInProcess, type ServerInProcess } from './support/in-process.js';

const TYPES = 200;
/** So many come in one change; two waves are under way at once. */
const WAVE = 20;
const GROUPS = 7;

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

interface Place {
  readonly group: string;
  readonly resource: string;
}
const placeOf = (i: number): Place => ({ group: `g${i % GROUPS}.example.com`, resource: `things${i}` });
const pathOf = ({ group, resource }: Place): string => `/apis/${group}/v1/namespaces/default/${resource}`;

/** What was written, and what has to be seen of it: `ADDED a@7`. A deletion does not say its revision. */
const inShort = ({ type, object: { metadata } }: WatchEvent): string =>
  type === 'DELETED' ? `DELETED ${metadata.name}` : `${type} ${metadata.name}@${metadata.resourceVersion}`;

/** Writes objects of one resource, one after the other, until it is stopped. */
class Load {
  readonly written: string[] = [];
  readonly #done: Promise<void>;
  #stopped = false;

  constructor(client: Client, path: string, name: string) {
    this.#done = this.#run(client, path, name);
  }

  async stop(): Promise<string[]> {
    this.#stopped = true;
    await this.#done;
    return this.written;
  }

  async #run(client: Client, path: string, name: string): Promise<void> {
    for (let i = 0; !this.#stopped; i++) {
      const own = `${name}-${i}`;
      const made = await client.post(path, { metadata: { name: own } });
      assert.equal(made.code, 201, made.text);
      this.written.push(inShort({ type: 'ADDED', object: made.body }));
      const changed = await client.patch(`${path}/${own}`, { metadata: { labels: { a: 'b' } } });
      assert.equal(changed.code, 200, changed.text);
      this.written.push(inShort({ type: 'MODIFIED', object: changed.body }));
      if (i % 2 === 0) continue;
      assert.equal((await client.delete(`${path}/${own}`)).code, 200);
      this.written.push(`DELETED ${own}`);
    }
  }
}

/** Holds what a watcher was told against what was written by several at once: all of it, once, each in its order. */
async function assertSaw(watch: WatchReader, loads: readonly (readonly string[])[]): Promise<void> {
  const seen = (await watch.take(loads.flat().length)).map(inShort);
  for (const written of loads) {
    const own = new Set(written);
    assert.deepEqual(
      seen.filter((event) => own.has(event)),
      written,
    );
  }
  assert.equal(watch.waiting, 0, 'nothing is told twice');
}

/** Whether both forms of discovery show a resource. */
async function isShown(client: Client, { group, resource }: Place): Promise<boolean> {
  const plain = await client.get(`/apis/${group}/v1`);
  const { resources = [] } = plain.body as unknown as { resources?: { name: string }[] };
  const accept = 'application/json;g=apidiscovery.platform.io;v=v2;as=APIGroupDiscoveryList';
  const { items } = (await client.get('/apis', { accept })).body as unknown as {
    items: { metadata: { name: string }; versions: { resources: { resource: string }[] }[] }[];
  };
  const found = items.find(({ metadata }) => metadata.name === group)?.versions.flatMap((v) => v.resources) ?? [];
  const shown = found.some((entry) => entry.resource === resource);
  assert.equal(
    resources.some(({ name }) => name === resource),
    shown,
  );
  return shown;
}

const collectGarbage = ((): (() => void) => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
})();

for (const store of ['embedded', 'etcd'] as const) {
  describe(`a catalog that changes while the server runs (${store} store)`, function () {
    this.timeout(240_000);
    let s: ServerInProcess;
    let client: Client;
    before(async () => {
      s = await startInProcess(store);
      ({ client } = s);
    });
    after(() => s.close());

    /** Writes to a resource that has just come, watches it, and holds what is seen against it. @returns Its open watch. */
    async function use(place: Place): Promise<WatchReader> {
      const path = pathOf(place);
      assert.equal(await isShown(client, place), true);
      const [watch, late] = [
        await client.watch(`${path}?watch=1`),
        await client.post(path, { metadata: { name: 'a' } }),
      ];
      assert.equal(late.code, 201, late.text);
      const changed = await client.patch(`${path}/a`, { spec: { size: 1 } });
      assert.deepEqual((await watch.take(2)).map(inShort), [
        inShort({ type: 'ADDED', object: late.body }),
        inShort({ type: 'MODIFIED', object: changed.body }),
      ]);
      const { items } = (await client.get(path)).body as unknown as { items: { spec: unknown }[] };
      assert.deepEqual(
        items.map(({ spec }) => spec),
        [{ size: 1 }],
      );
      return watch;
    }

    /** One wave: types come, are used, and go while others write to them. @returns What must not be kept of them. */
    async function wave(first: number): Promise<WeakRef<object>[]> {
      const places = Array.from({ length: WAVE }, (_, i) => placeOf(first + i));
      const { catalog } = s.server;
      const { api } = catalog.change({ add: places.map(({ group, resource }) => addition(group, resource)) });
      const kept = places.map(({ group, resource }) => new WeakRef(api.find(group, 'v1', resource) ?? assert.fail()));
      const watches = await Promise.all(places.map(use));
      const late = places.map((place) => client.post(pathOf(place), { metadata: { name: 'late' } }));
      await turn();
      catalog.change({ remove: places });
      for (const place of places) {
        assert.deepEqual([(await client.get(pathOf(place))).code, await isShown(client, place)], [404, false]);
      }
      for (const write of late)
        assert.ok([201, 404].includes((await write).code), 'it is done, or there is no such place');
      for (const watch of watches) {
        const last = (await watch.rest()).at(-1);
        assert.deepEqual([last?.type, (last?.object as { code?: number } | undefined)?.code], ['ERROR', 410]);
      }
      return kept;
    }

    it(`adds and removes ${TYPES} types under load, and touches nothing else`, async () => {
      const stay = [500, 501].map(placeOf);
      s.server.catalog.change({ add: stay.map(({ group, resource }) => addition(group, resource)) });
      const paths = [CONFIG_MAPS, ...stay.map(pathOf)];
      const watches = await Promise.all(paths.flatMap((path) => [1, 2].map(() => client.watch(`${path}?watch=1`))));
      const before = await client.get(CONFIG_MAPS);
      const there = (before.body as unknown as { items: unknown[] }).items.length;
      await watches[0]?.take(there);
      await watches[1]?.take(there);
      const loads = paths.map((path) => ['one', 'two'].map((name) => new Load(client, path, name)));

      const waves = Array.from({ length: TYPES / WAVE }, (_, i) => i * WAVE);
      const gone: WeakRef<object>[] = [];
      const next = async (): Promise<void> => {
        for (let first = waves.shift(); first !== undefined; first = waves.shift()) gone.push(...(await wave(first)));
      };
      const stopped = (): Promise<readonly string[][][]> =>
        Promise.all(loads.map((ofPath) => Promise.all(ofPath.map((load) => load.stop()))));
      await Promise.all([next(), next()]).finally(stopped);

      const written = await stopped();
      for (const [i, ofPath] of written.entries()) {
        for (const watch of watches.slice(2 * i, 2 * i + 2)) await assertSaw(watch, ofPath);
      }
      for (const watch of watches) watch.close();
      assert.equal(gone.length, TYPES);
      assert.equal((await client.get(`/apis/${placeOf(2).group}`)).code, 404, 'a group goes with its last resource');
      for (const place of stay) assert.equal(await isShown(client, place), true);
      const metrics = (await client.get('/metrics')).text;
      const counted = [...metrics.matchAll(/^apiserver_storage_objects\{resource="(things\d+)\./gm)].map(
        ([, name]) => name,
      );
      assert.deepEqual(counted, ['things500', 'things501']);
      client.close(); // a connection keeps its last request
      do {
        await turn(); // what was looked at is kept until then
        collectGarbage();
      } while (gone.some((ref) => ref.deref() !== undefined));
    });

    it('tells the schemas of a resource for as long as it is there, and keeps those of others', async () => {
      const place = { group: 'schemas.example.com', resource: 'things1' };
      const index = async (): Promise<Record<string, { serverRelativeURL: string }>> =>
        ((await client.get('/openapi/v3')).body as unknown as { paths: never }).paths;
      const without = await index();
      s.server.catalog.change({ add: [addition(place.group, place.resource)] });
      const { [`apis/${place.group}`]: group, [`apis/${place.group}/v1`]: version, ...others } = await index();
      assert.deepEqual(others, without);
      assert.notEqual(group, undefined);
      const document = await client.get(version?.serverRelativeURL ?? '');
      const { components } = document.body as unknown as {
        components: { schemas: Record<string, { properties?: object }> };
      };
      assert.deepEqual(Object.keys(components.schemas['com.example.schemas.v1.Thing1Spec']?.properties ?? {}), [
        'size',
        'colors',
      ]);
      const path = `/apis/${place.group}/v1/namespaces/{namespace}/${place.resource}`;
      const inV2 = async (): Promise<boolean> =>
        Object.hasOwn((await client.get('/openapi/v2')).body['paths'] as object, path);
      assert.equal(await inV2(), true);
      s.server.catalog.change({ remove: [place] });
      assert.deepEqual([await index(), await inV2()], [without, false]);
    });
  });
}
