import assert from 'node:assert/strict';
import type { Client, Reply } from './tools/client.js';
import { namesIn, type Document } from './tools/document.js';
import { configMap, configMapsIn, createConfigMap, eventually, newNamespace, ok, refused } from './tools/objects.js';
import { onBothStores, onServer, type TestServer } from './tools/server.js';
import { inShort } from './tools/watch-reader.js';

const FUTURE = '99999999999';

const listOf = (client: Client, path: string, query: Readonly<Record<string, string>> = {}): Promise<Reply> =>
  client.get(`${path}?${new URLSearchParams(query).toString()}`);

/** Follows continue tokens to the end. */
async function allPages(client: Client, path: string, query: Readonly<Record<string, string>>): Promise<Document[]> {
  const pages = [ok(await listOf(client, path, query))];
  for (let token = pages[0]?.metadata.continue; token !== undefined; token = pages.at(-1)?.metadata.continue) {
    pages.push(ok(await listOf(client, path, { limit: query['limit'] ?? '', continue: token })));
  }
  return pages;
}

/** A collection that has changed: what it was at `old`, with a page of it, and what it is now. */
interface Changed {
  readonly path: string;
  readonly old: string;
  readonly firstPage: Document;
  readonly oldNames: readonly string[];
  readonly newNames: readonly string[];
  readonly newest: number;
}

async function changedCollection(client: Client): Promise<Changed> {
  const namespace = await newNamespace(client);
  const path = configMapsIn(namespace);
  const oldNames = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  for (const name of oldNames) await createConfigMap(client, namespace, name);
  const firstPage = ok(await listOf(client, path, { limit: '3' }));
  ok(await client.delete(`${path}/c`));
  ok(await client.delete(`${path}/g`));
  const last = await createConfigMap(client, namespace, 'bb');
  const newNames = ['a', 'b', 'bb', 'd', 'e', 'f'];
  const newest = Number(last.metadata.resourceVersion);
  return { path, old: firstPage.metadata.resourceVersion, firstPage, oldNames, newNames, newest };
}

/** What a cell of the table of spec 1, 4.6 means to whoever asks. */
type Meaning = 'newest' | 'any' | 'not older' | 'exact' | 'continue' | 400;

/** The list table of spec 1, 4.6: match, paging, then the columns unset, "0" and another value. */
const LIST_TABLE: readonly (readonly [string, 'none' | 'limit' | 'continue', Meaning, Meaning, Meaning])[] = [
  ['', 'none', 'newest', 'any', 'not older'],
  ['', 'limit', 'newest', 'any', 'exact'],
  ['', 'continue', 'continue', 'continue', 400],
  ['Exact', 'none', 400, 400, 'exact'],
  ['Exact', 'limit', 400, 400, 'exact'],
  ['Exact', 'continue', 400, 400, 400],
  ['NotOlderThan', 'none', 400, 'any', 'not older'],
  ['NotOlderThan', 'limit', 400, 'any', 'not older'],
  ['NotOlderThan', 'continue', 400, 400, 400],
];

function checkPages(meaning: Meaning, pages: readonly Document[], c: Changed): void {
  const names = pages.flatMap(namesIn);
  const versions = new Set(pages.map((page) => page.metadata.resourceVersion));
  assert.equal(versions.size, 1, 'all pages have one version');
  const version = Number(pages[0]?.metadata.resourceVersion);
  switch (meaning) {
    case 'exact':
      assert.deepEqual([names, String(version)], [c.oldNames, c.old]);
      return;
    case 'continue':
      assert.deepEqual([names, String(version)], [c.oldNames.slice(3), c.old]);
      return;
    case 'newest':
      assert.deepEqual(names, c.newNames);
      assert.ok(version >= c.newest, `${version} is older than ${c.newest}`);
      return;
    case 'not older':
      assert.ok(version >= Number(c.old));
      assert.deepEqual(names, version >= c.newest ? c.newNames : names);
      return;
    case 'any':
      assert.deepEqual(names, version >= c.newest ? c.newNames : names);
      return;
    case 400:
      assert.fail('the combination is invalid');
  }
}

function listTable(server: () => TestServer): void {
  let changed: Changed;
  before(async () => {
    changed = await changedCollection(server().client);
  });

  for (const [match, paging, ...cells] of LIST_TABLE) {
    for (const [column, meaning] of cells.entries()) {
      const version = ['no version', '"0"', 'a version'][column];
      it(`match ${match === '' ? 'unset' : match}, paging ${paging}, ${version}: ${meaning}`, async () => {
        const query = {
          ...(match === '' ? {} : { resourceVersionMatch: match }),
          ...(paging === 'none' ? {} : { limit: '3' }),
          ...(paging === 'continue' ? { continue: changed.firstPage.metadata.continue ?? '' } : {}),
          ...(column === 0 ? {} : { resourceVersion: column === 1 ? '0' : changed.old }),
        };
        if (meaning !== 400) {
          checkPages(meaning, await allPages(server().client, changed.path, query), changed);
          return;
        }
        const { message } = refused(await listOf(server().client, changed.path, query), 400, 'BadRequest');
        assert.match(message, /[Ii]nvalid combination/);
        assert.match(message, match === '' ? /no resourceVersionMatch/ : new RegExp(`resourceVersionMatch "${match}"`));
        assert.match(message, [/no resourceVersion /, /resourceVersion "0"/, /a resourceVersion/][column] ?? /^$/);
        assert.match(message, { none: /no limit/, limit: /a limit/, continue: /a continue token/ }[paging]);
      });
    }
  }
}

function gets(server: () => TestServer): void {
  it('without a version sees the write that was just made', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    for (let i = 0; i < 30; i++) {
      const { metadata } = await createConfigMap(client, namespace, `seen-${i}`);
      const found = ok(await client.get(`${configMapsIn(namespace)}/seen-${i}`));
      assert.equal(found.metadata.resourceVersion, metadata.resourceVersion);
      const list = ok(await client.get(configMapsIn(namespace)));
      assert.equal(list.items.length, i + 1);
    }
  });

  it('with version "0" answers what there is', async () => {
    const { client } = server();
    const found = ok(await client.get('/api/v1/namespaces/default?resourceVersion=0'));
    assert.deepEqual([found.kind, found.metadata.name], ['Namespace', 'default']);
  });

  it('with a version is not older than it', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    await createConfigMap(client, namespace, 'a');
    for (let i = 0; i < 10; i++) {
      const { resourceVersion } = ok(await client.patch(path, { data: { i: String(i) } })).metadata;
      const found = ok(await client.get(`${path}?resourceVersion=${resourceVersion}`));
      assert.deepEqual([found.data, found.metadata.resourceVersion], [{ i: String(i) }, resourceVersion]);
    }
  });

  it('of what is not there is a 404 that names it', async () => {
    const { details } = refused(
      await server().client.get(`${configMapsIn('default')}/nobody`),
      404,
      'NotFound',
      /^configmaps "nobody" not found$/,
    );
    assert.deepEqual(details, { name: 'nobody', kind: 'configmaps' });
  });
}

function snapshots(server: () => TestServer): void {
  it('shows one state over all pages while objects come and go', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const names = Array.from({ length: 40 }, (_, i) => `cm-${String(i).padStart(2, '0')}`);
    await Promise.all(names.map((name) => createConfigMap(client, namespace, name)));
    const first = ok(await listOf(client, path, { limit: '6' }));
    const pages = [first];
    for (let i = 39; ; i--) {
      const token = pages.at(-1)?.metadata.continue;
      if (token === undefined) break;
      ok(await client.delete(`${path}/cm-${String(i).padStart(2, '0')}`));
      await createConfigMap(client, namespace, `cm-${String(i - 10).padStart(2, '0')}-new`);
      pages.push(ok(await listOf(client, path, { limit: '6', continue: token })));
    }
    assert.deepEqual(pages.flatMap(namesIn), names);
    assert.deepEqual(new Set(pages.map((page) => page.metadata.resourceVersion)).size, 1);
  });

  it('tells how many items are left, but neither at the end nor with a selector', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await createConfigMap(client, namespace, name, { labels: { odd: name === 'b' || name === 'd' ? 'no' : 'yes' } });
    }
    const shown = async (query: Readonly<Record<string, string>>): Promise<unknown[]> =>
      (await allPages(client, path, query)).map(({ items, metadata }) => [items.length, metadata.remainingItemCount]);
    assert.deepEqual(await shown({ limit: '2' }), [[2, 3], [2, 1], [1, undefined]]); // prettier-ignore
    assert.deepEqual(await shown({ limit: '5' }), [[5, undefined]]);
    assert.deepEqual(await shown({ limit: '50' }), [[5, undefined]]);
    assert.deepEqual(await shown({}), [[5, undefined]]);
    const selected = ok(await listOf(client, path, { limit: '2', labelSelector: 'odd=yes' }));
    assert.deepEqual([namesIn(selected), selected.metadata.remainingItemCount], [['a', 'c'], undefined]);
    const rest = ok(
      await listOf(client, path, {
        limit: '2',
        labelSelector: 'odd=yes',
        continue: selected.metadata.continue ?? '',
      }),
    );
    assert.deepEqual([namesIn(rest), rest.metadata.continue ?? ''], [['e'], '']);
    const byField = ok(await listOf(client, path, { limit: '1', fieldSelector: 'metadata.name!=a' }));
    assert.deepEqual([namesIn(byField), byField.metadata.remainingItemCount], [['b'], undefined]);
  });

  it('lists all namespaces in order, and pages through them', async () => {
    const { client } = server();
    for (const namespace of [await newNamespace(client), await newNamespace(client)]) {
      for (const name of ['x', 'y']) await createConfigMap(client, namespace, name, { labels: { all: 'yes' } });
    }
    const pages = await allPages(client, '/api/v1/configmaps', { limit: '3' });
    const keys = pages.flatMap((page) => page.items.map(({ metadata: m }) => `${m.namespace}/${m.name}`));
    assert.deepEqual(keys, [...keys].sort());
    const whole = ok(await client.get('/api/v1/configmaps'));
    assert.deepEqual(whole.items.length, keys.length);
    assert.deepEqual([whole.kind, whole.apiVersion, whole.items[0]?.kind], ['ConfigMapList', 'v1', undefined]);
  });
}

function futureVersions(server: () => TestServer): void {
  it('are waited for, then answered with 504, Retry-After and the message that clients know', async () => {
    const { client } = server();
    const path = configMapsIn('default');
    await createConfigMap(client, 'default', `future-${process.pid}`);
    const queries = [
      `${path}/future-${process.pid}?resourceVersion=${FUTURE}`,
      `${path}?resourceVersion=${FUTURE}`,
      `${path}?limit=1&resourceVersion=${FUTURE}`,
      `${path}?resourceVersionMatch=Exact&resourceVersion=${FUTURE}`,
      `${path}?resourceVersionMatch=NotOlderThan&resourceVersion=${FUTURE}`,
      `${path}?limit=1&resourceVersionMatch=NotOlderThan&resourceVersion=${FUTURE}`,
      `${path}?resourceVersion=18446744073709551615`,
    ];
    for (const [i, reply] of (await Promise.all(queries.map((query) => client.get(query)))).entries()) {
      const { details } = refused(reply, 504, 'Timeout', /^Too large resource version: \d+, current: \d+$/);
      assert.equal(details.causes?.[0]?.reason, 'ResourceVersionTooLarge', queries[i]);
      assert.match(String(reply.headers['retry-after']), /^[1-9]\d*$/);
    }
  });

  it('are answered when they come in time', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const { resourceVersion } = await createConfigMap(client, namespace, 'a').then((it) => it.metadata);
    const next = String(Number(resourceVersion) + 1);
    const waiting = client.get(`${configMapsIn(namespace)}?resourceVersion=${next}`);
    await createConfigMap(client, namespace, 'b');
    assert.deepEqual(namesIn(ok(await waiting)), ['a', 'b']);
  });
}

/** Query, and what the message must say. */
const MALFORMED: readonly (readonly [string, RegExp])[] = [
  ['resourceVersion=abc', /resourceVersion/],
  ['resourceVersion=-1', /resourceVersion/],
  ['resourceVersion=1.5', /resourceVersion/],
  ['resourceVersion=0x10', /resourceVersion/],
  ['resourceVersion=18446744073709551616', /resourceVersion/],
  ['resourceVersion=1&resourceVersionMatch=Wrong', /resourceVersionMatch/],
  ['resourceVersion=1&resourceVersionMatch=exact', /resourceVersionMatch/],
  ['limit=abc', /limit/],
  ['limit=1e3', /limit/],
  ['limit=99999999999999999999', /limit/],
  ['continue=garbage', /continue/],
  ['limit=1&continue=e30', /continue/],
  [`continue=${'A'.repeat(6000)}`, /continue/],
  ['labelSelector=a%3D(b', /./],
  ['labelSelector=a%20in%20', /./],
  ['labelSelector=-bad-%3Dx', /./],
  ['fieldSelector=data.x%3D1', /data\.x/],
  ['fieldSelector=metadata.name', /./],
  ['watch=1&resourceVersion=abc', /resourceVersion/],
  ['watch=1&timeoutSeconds=soon', /timeoutSeconds/],
  ['watch=1&resourceVersionMatch=NotOlderThan', /resourceVersionMatch|sendInitialEvents/],
  ['watch=1&sendInitialEvents=true', /sendInitialEvents/],
];

function malformedValues(server: () => TestServer): void {
  for (const [query, message] of MALFORMED) {
    it(`?${query.slice(0, 60)} is a 400`, async () => {
      refused(await server().client.get(`${configMapsIn('default')}?${query}`), 400, 'BadRequest', message);
    });
  }
}

const decoded = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token, 'base64url').toString()) as Record<string, unknown>;
const encoded = (token: object): string => Buffer.from(JSON.stringify(token)).toString('base64url');

function continueTokens(server: () => TestServer): void {
  it('do not lead out of the collection, whatever they say', async () => {
    const { client } = server();
    const [first, second] = [await newNamespace(client), await newNamespace(client)];
    for (const name of ['a', 'b', 'c']) {
      await createConfigMap(client, first, name);
      await createConfigMap(client, second, name);
    }
    for (const [mine, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const tokenOf = async (path: string): Promise<string> =>
        ok(await listOf(client, path, { limit: '1' })).metadata.continue ?? '';
      const token = await tokenOf(configMapsIn(mine));
      const parts = decoded(token);
      const others = [configMapsIn(other), '/api/v1/configmaps'];
      for (const path of others) {
        const moved = { limit: '1', continue: await tokenOf(path) };
        refused(await listOf(client, configMapsIn(mine), moved), 400, 'BadRequest', /another collection/);
      }
      for (const select of [{ labelSelector: '!x' }, { fieldSelector: 'metadata.name!=c' }]) {
        const moved = { limit: '1', continue: token, ...select };
        refused(await listOf(client, configMapsIn(mine), moved), 400, 'BadRequest', /another collection/);
      }
      const starts = ['../secrets/x', '', '/', `${other}/`, 'a', 'zzz', 'a'.repeat(3000), '\0', `${mine}/../x`];
      for (const tampered of [token, ...starts.map((start) => encoded({ ...parts, start }))]) {
        const reply = await listOf(client, configMapsIn(mine), { limit: '5', continue: tampered });
        assert.ok(reply.code === 200 || reply.code === 400, reply.text);
        if (reply.code !== 200) continue;
        for (const { metadata } of reply.body.items) assert.equal(metadata.namespace, mine);
      }
    }
  });

  it('with a version that cannot be are refused or waited for in vain', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    for (const name of ['a', 'b']) await createConfigMap(client, namespace, name);
    const path = configMapsIn(namespace);
    const parts = decoded(ok(await listOf(client, path, { limit: '1' })).metadata.continue ?? '');
    for (const rv of [0, -2, 1.5, '5', null, 2 ** 60]) {
      refused(await listOf(client, path, { limit: '1', continue: encoded({ ...parts, rv }) }), 400, 'BadRequest');
    }
    refused(await listOf(client, path, { limit: '1', continue: encoded({ ...parts, rv: 9e12 }) }), 504, 'Timeout');
  });
}

function watchStarts(server: () => TestServer): void {
  for (const query of ['', '&resourceVersion=', '&resourceVersion=0']) {
    it(`watch=1${query}: everything there is as ADDED, then changes`, async () => {
      const { client } = server();
      const namespace = await newNamespace(client);
      await createConfigMap(client, namespace, 'a');
      await createConfigMap(client, namespace, 'b');
      const watch = await client.watch(`${configMapsIn(namespace)}?watch=1${query}`);
      assert.equal(watch.code, 200);
      assert.deepEqual((await watch.take(2)).map(inShort), ['ADDED a', 'ADDED b']);
      await createConfigMap(client, namespace, 'c');
      ok(await client.delete(`${configMapsIn(namespace)}/a`));
      assert.deepEqual((await watch.take(2)).map(inShort), ['ADDED c', 'DELETED a']);
      watch.close();
    });
  }

  it('without a version shows the write that was just made', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    for (let i = 0; i < 10; i++) {
      const { metadata } = await createConfigMap(client, namespace, `cm-${i}`);
      const watch = await client.watch(`${configMapsIn(namespace)}?watch=1&fieldSelector=metadata.name%3Dcm-${i}`);
      assert.equal((await watch.next()).object.metadata.resourceVersion, metadata.resourceVersion);
      watch.close();
    }
  });

  it('with a version delivers exactly what came after it', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const { metadata } = await createConfigMap(client, namespace, 'a');
    await createConfigMap(client, namespace, 'b');
    ok(await client.delete(`${configMapsIn(namespace)}/a`));
    const from = `resourceVersion=${metadata.resourceVersion}`;
    const watch = await client.watch(`${configMapsIn(namespace)}?watch=1&${from}&timeoutSeconds=1`);
    assert.deepEqual((await watch.rest()).map(inShort), ['ADDED b', 'DELETED a']);
  });
}

onBothStores('reads', [], (server) => {
  describe('get', () => gets(server));
  describe('the list table', () => listTable(server));
  describe('pages', () => snapshots(server));
  describe('future versions', () => futureVersions(server));
  describe('malformed values', () => malformedValues(server));
  describe('continue tokens', () => continueTokens(server));
  describe('the watch table', () => watchStarts(server));
});

onServer('reads from the store itself', { store: 'etcd', flags: ['--consistent-reads=store'] }, (server) => {
  describe('get', () => gets(server));
  describe('the list table', () => listTable(server));
  describe('pages', () => snapshots(server));
});

onBothStores('reads of history that is gone', ['--etcd-compaction-interval=1s'], (server) => {
  it('answers 410: to Exact at once, to a continue token with one that goes on inconsistently', async () => {
    const { client } = server();
    const { path, old, firstPage, newNames } = await changedCollection(client);
    // Later than the page, so that its version is gone as well, and not kept by a server.
    const exact = { resourceVersionMatch: 'Exact', resourceVersion: String(Number(old) + 1) };
    const gone = await eventually(async () => {
      ok(await client.put(`${path}/a`, configMap('a', { data: { at: String(Date.now()) } })));
      const reply = await listOf(client, path, exact);
      return reply.code === 410 ? reply : undefined;
    });
    refused(gone, 410, 'Expired', /too old resource version|too old/);
    const next = { limit: '3', continue: firstPage.metadata.continue ?? '' };
    assert.deepEqual(namesIn(ok(await listOf(client, path, next))), ['d', 'e', 'f'], 'the snapshot is still at hand');

    await server().restart();
    const expired = refused(await listOf(client, path, next), 410, 'Expired', /continue/);
    const token = expired.metadata.continue;
    assert.ok(token !== undefined && token !== '');
    const rest = ok(await listOf(client, path, { limit: '2', continue: token }));
    assert.deepEqual(namesIn(rest), ['d', 'e']);
    assert.ok(Number(rest.metadata.resourceVersion) > Number(old));
    const last = ok(await listOf(client, path, { limit: '2', continue: rest.metadata.continue ?? '' }));
    assert.deepEqual([namesIn(last), last.metadata.continue ?? ''], [['f'], '']);
    assert.deepEqual(namesIn(ok(await listOf(client, path, { resourceVersion: old }))), newNames);
  });

  it('ends a watch from there with one ERROR event that holds a 410', async () => {
    const { client } = server();
    const watch = await client.watch(`${configMapsIn('default')}?watch=1&resourceVersion=1`);
    assert.equal(watch.code, 200);
    const [error, ...more] = await watch.rest();
    assert.deepEqual(more, []);
    assert.ok(error);
    assert.equal(error.type, 'ERROR');
    const { kind, status, reason, code } = error.object;
    assert.deepEqual(
      { kind, status, reason, code },
      { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 },
    );
    assert.equal(await watch.ended, 'end');
  });
});
