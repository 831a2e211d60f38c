import assert from 'node:assert/strict';
import { TestAuthority } from '../../services/client/testing/certificates.js';
import { ConvertedKind, shownOf } from './tools/converted-kind.js';
import { reviewOf, type VersionName } from './tools/converting-hook.js';
import type { WatchEvent } from './tools/document.js';
import { created, ok } from './tools/objects.js';
import { onServer } from './tools/server.js';
import { inShort, versionOf, type WatchReader } from './tools/watch-reader.js';

const ALL: readonly VersionName[] = ['v1', 'v2', 'v3'];
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

onServer('watches of custom resources that a webhook converts', { store: 'embedded' }, (server) => {
  const authority = new TestAuthority('converters');
  let kind: ConvertedKind;
  const watches: WatchReader[] = [];

  before(async () => {
    kind = await ConvertedKind.withHook(server, authority);
  });
  after(async () => {
    await kind.hook.service.close();
    authority.remove();
  });
  beforeEach(async () => {
    kind.hook.reset();
    kind = await ConvertedKind.make(server, kind.hook);
  });
  afterEach(() => {
    for (const watch of watches.splice(0)) watch.close();
  });

  const open = async (version: VersionName, query = '', accept?: string): Promise<WatchReader> => {
    const watch = await server().client.watch(`${kind.at(version)}?watch=true&${query}`, accept);
    watches.push(watch);
    return watch;
  };

  /** Makes, changes and deletes objects, each in another version. @returns What a watcher sees of it. */
  async function churn(rounds: number): Promise<string[]> {
    const { client } = server();
    const seen: string[] = [];
    for (let i = 0; i < rounds; i++) {
      const [a = 'v1', b = 'v2', c = 'v3'] = ALL.map((_, n) => ALL[(i + n) % 3]);
      const name = `o-${i}`;
      await kind.create(a, name, {});
      ok(await client.patch(kind.at(b, name), { spec: { note: `by ${b}` } }));
      seen.push(`ADDED ${name}`, `MODIFIED ${name}`);
      if (i % 2 === 0) continue;
      ok(await client.delete(kind.at(c, name)));
      seen.push(`DELETED ${name}`);
    }
    return seen;
  }

  const assertOrder = (events: readonly WatchEvent[]): void => {
    const revisions = events.map(versionOf);
    assert.deepEqual(revisions, revisions.toSorted((a, b) => a - b)); // prettier-ignore
  };

  it('show the same changes in every version, while writes go on in all of them', async () => {
    const readers = await Promise.all(ALL.map((version) => open(version)));
    const expected = await churn(10);
    for (const [i, reader] of readers.entries()) {
      const events = await reader.take(expected.length);
      assert.deepEqual(events.map(inShort), expected);
      assertOrder(events);
      for (const { object } of events) assert.equal(object.apiVersion, `${kind.group}/${ALL[i]}`);
    }
    const { metadata } = ok(await server().client.get(kind.at('v1')));
    assert.ok(Number(metadata.resourceVersion) > 0);
  });

  it('do not wait for each other: a webhook that takes its time delays its own version alone', async () => {
    const { client } = server();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    kind.hook.handle = (received, res) => {
      const isSlow = reviewOf(received).request.desiredAPIVersion.endsWith('/v3');
      void (isSlow ? released : Promise.resolve()).then(() => kind.hook.answer(received, res));
    };
    const [one, two, three] = await Promise.all([open('v1'), open('v2'), open('v3')]);
    for (let i = 0; i < 20; i++) created(await client.post(kind.at('v1'), kind.body('v1', `s-${i}`, { hostPort: 'h:1' }))); // prettier-ignore
    const names = Array.from({ length: 20 }, (_, i) => `ADDED s-${i}`);
    assert.deepEqual((await one.take(20)).map(inShort), names);
    assert.deepEqual((await two.take(20)).map(inShort), names);
    assert.equal(three.waiting, 0);
    release();
    const late = await three.take(20);
    assert.deepEqual(late.map(inShort), names);
    assert.deepEqual(late.map(({ object }) => shownOf(object)[0]), Array.from({ length: 20 }, () => 'v3')); // prettier-ignore
  });

  it('begin with the state, and say where it ends', async () => {
    for (let i = 0; i < 3; i++) await kind.create('v1', `s-${i}`, { hostPort: `h:${i}` });
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const events = await (await open('v2', query)).take(4);
    assert.deepEqual(events.map(({ type }) => type), ['ADDED', 'ADDED', 'ADDED', 'BOOKMARK']); // prettier-ignore
    assert.deepEqual(events.slice(0, 3).map(({ object }) => object.spec['port']), [0, 1, 2]); // prettier-ignore
    assert.equal(events[3]?.object.metadata.annotations?.['platform.io/initial-events-end'], 'true');
  });

  it('are of what is selected in their version, which objects enter and leave', async () => {
    const { client } = server();
    const reader = await open('v2', 'fieldSelector=spec.host%3Din');
    await kind.create('v1', 'x', { hostPort: 'out:1' });
    ok(await client.patch(kind.at('v3', 'x'), { spec: { endpoint: { host: 'in' } } }));
    ok(await client.patch(kind.at('v3', 'x'), { spec: { endpoint: { host: 'out' } } }));
    ok(await client.patch(kind.at('v1', 'x'), { spec: { hostPort: 'in:2' } }));
    ok(await client.delete(kind.at('v1', 'x')));
    const events = await reader.take(4);
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.spec['host'], object.spec['port']]),
      [
        ['ADDED', 'in', 1],
        ['DELETED', 'in', 1],
        ['ADDED', 'in', 2],
        ['DELETED', 'in', 2],
      ],
    );
    assertOrder(events);
  });

  it('go on where they were cut, also with what only the store remembers', async () => {
    const { metadata } = ok(await server().client.get(kind.at('v2')));
    const since = `resourceVersion=${metadata.resourceVersion}`;
    const expected = await churn(4);
    const inMemory = await (await open('v2', since)).take(expected.length);
    assert.deepEqual(inMemory.map(inShort), expected);
    for (const watch of watches.splice(0)) watch.close();
    await server().restart();
    const reader = await open('v2', since);
    const fromStore = await reader.take(expected.length);
    assert.deepEqual(fromStore, inMemory);
    await kind.create('v3', 'later', {});
    assert.equal(inShort(await reader.next()), 'ADDED later');
  });

  it('end with what went wrong, and others go on', async () => {
    const { client } = server();
    await kind.create('v1', 'a', { hostPort: 'h:1' });
    const [one, two, known] = await Promise.all([open('v1'), open('v2'), open('v2', '', METADATA)]);
    for (const reader of [one, two, known]) assert.equal(inShort(await reader.next()), 'ADDED a');
    kind.hook.handle = (_, res) => void res.writeHead(404, { 'content-type': 'text/plain' }).end();
    created(await client.post(kind.at('v1'), kind.body('v1', 'b', {})));
    const { type, object } = await two.next();
    assert.deepEqual([type, object.code, object.reason], ['ERROR', 500, 'InternalError']);
    assert.equal(object.message, `conversion webhook for ${kind.group}/v1, Kind=Widget failed: the server could not find the requested resource`); // prettier-ignore
    assert.equal(await two.nextOrEnd(), undefined);
    assert.equal(inShort(await one.next()), 'ADDED b');
    assert.equal(inShort(await known.next()), 'ADDED b');
    kind.hook.handle = undefined;
    assert.deepEqual((await (await open('v2')).take(2)).map(inShort), ['ADDED a', 'ADDED b']);
  });
});
