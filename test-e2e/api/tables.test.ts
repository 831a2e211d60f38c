import assert from 'node:assert/strict';
import type { Reply } from './tools/client.js';
import type { Document } from './tools/document.js';
import { configMapsIn, createConfigMap, deployment, deploymentsIn, newNamespace, ok, pod, refused } from './tools/objects.js'; // prettier-ignore
import { onServer, type TestServer } from './tools/server.js';

interface Table {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: Document['metadata'];
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[] | null;
  readonly rows: readonly {
    readonly cells: readonly unknown[];
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
    readonly object: Document | null;
  }[];
}

const tableOf = (document: unknown): Table => document as Table;
const cells = (table: Table): unknown[] => table.rows.map((row) => row.cells[0]);
const columnNames = (table: Table): string[] => (table.columnDefinitions ?? []).map(({ name }) => name);

/** What a client asks for whose words are those of `group`. */
const asTable = (group: string, version = 'v1', type = 'application/json'): string =>
  `${type};as=Table;g=${group};v=${version}`;
const asPartial = (group: string, kind = 'PartialObjectMetadata'): string =>
  `application/json;as=${kind};g=${group};v=v1`;

const WORDS = [
  ['platform', 'meta.platform.io'],
  ['kubernetes', 'meta.k8s.io'],
] as const;

for (const [vocabulary, group] of WORDS) {
  const flags = [`--vocabulary=${vocabulary}`];
  onServer(`Tables in the words of ${vocabulary}`, { store: 'embedded', flags }, (server) => {
    tables(server, group);
    partialObjects(server, group);
  });
}

function tables(server: () => TestServer, group: string): void {
  const ask = (path: string, accept = asTable(group)): Promise<Reply> => server().client.get(path, { accept });
  let path: string;
  let namespace: string;

  before(async () => {
    namespace = await newNamespace(server().client);
    path = configMapsIn(namespace);
    for (const name of ['a', 'b', 'c']) await createConfigMap(server().client, namespace, name, { data: { k: name } });
  });

  it('list objects as rows', async () => {
    const reply = await ask(path);
    const table = tableOf(ok(reply));
    assert.deepEqual([reply.headers['content-type'], table.kind, table.apiVersion], ['application/json', 'Table', `${group}/v1`]); // prettier-ignore
    assert.deepEqual(columnNames(table), ['Name', 'Data', 'Age']);
    assert.deepEqual(
      table.rows.map((row) => row.cells.slice(0, 2)),
      [
        ['a', 1],
        ['b', 1],
        ['c', 1],
      ],
    );
    for (const { cells: row } of table.rows) assert.match(String(row[2]), /^\d+s$/);
    const { kind, apiVersion, metadata, data } = table.rows[0]?.object as Document;
    assert.deepEqual([kind, apiVersion, metadata.name, data], ['PartialObjectMetadata', `${group}/v1`, 'a', undefined]);
    assert.ok(Number(table.metadata.resourceVersion) >= Number(metadata.resourceVersion));
  });

  it('list in pages, and what a selector lets through', async () => {
    const first = tableOf(ok(await ask(`${path}?limit=2`)));
    assert.deepEqual([cells(first), first.metadata.remainingItemCount], [['a', 'b'], 1]);
    const last = tableOf(ok(await ask(`${path}?limit=2&continue=${first.metadata.continue ?? ''}`)));
    assert.deepEqual([cells(last), last.metadata.continue], [['c'], undefined]);
    assert.equal(last.metadata.resourceVersion, first.metadata.resourceVersion);
    assert.deepEqual(cells(tableOf(ok(await ask(`${path}?fieldSelector=metadata.name%3Db`)))), ['b']);
  });

  it('of nothing have columns and no rows', async () => {
    const table = tableOf(ok(await ask(`${path}?fieldSelector=metadata.name%3Dnone`)));
    assert.deepEqual([columnNames(table).length, table.rows], [3, []]);
  });

  it('carry of the objects what includeObject says', async () => {
    const none = tableOf(ok(await ask(`${path}?includeObject=None`)));
    assert.deepEqual(none.rows.map((row) => row.object), [null, null, null]); // prettier-ignore
    const whole = tableOf(ok(await ask(`${path}?includeObject=Object`)));
    assert.deepEqual(whole.rows.map((row) => [row.object?.kind, row.object?.data]), [['ConfigMap', { k: 'a' }], ['ConfigMap', { k: 'b' }], ['ConfigMap', { k: 'c' }]]); // prettier-ignore
    assert.equal(tableOf(ok(await ask(`${path}?includeObject=Metadata`))).rows[0]?.object?.kind, 'PartialObjectMetadata'); // prettier-ignore
    refused(await ask(`${path}?includeObject=Some`), 400, 'BadRequest', /includeObject: Invalid value: "Some"/);
  });

  it('come in the older version, and as YAML', async () => {
    const older = tableOf(ok(await ask(path, asTable(group, 'v1beta1'))));
    assert.deepEqual([older.apiVersion, older.rows[0]?.object?.apiVersion], [`${group}/v1beta1`, `${group}/v1beta1`]);
    const { text, headers } = await ask(path, asTable(group, 'v1', 'application/yaml'));
    assert.equal(headers['content-type'], 'application/yaml');
    assert.match(text, /^kind: Table$/m);
  });

  it('are answered to kubectl in its own words', async () => {
    const accept = `${asTable('meta.k8s.io')},${asTable('meta.k8s.io', 'v1beta1')},application/json`;
    assert.equal(tableOf(ok(await ask(path, accept))).apiVersion, 'meta.k8s.io/v1');
  });

  it('are passed over for the next form when they cannot be had', async () => {
    const other = ok(await ask(path, `${asTable('example.com')}, application/json`));
    assert.equal(other.kind, 'ConfigMapList');
    refused(
      await ask(path, asTable('example.com')),
      406,
      'NotAcceptable',
      /only the following media types are accepted/,
    );
  });

  it('show one object, and what a write has made of it', async () => {
    const one = tableOf(ok(await ask(`${path}/b`)));
    assert.deepEqual(
      [cells(one), one.metadata.resourceVersion],
      [['b'], one.rows[0]?.object?.metadata.resourceVersion],
    );
    const { client } = server();
    const headers = { accept: asTable(group) };
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' }, data: { a: '', b: '' } };
    const created = await client.request('POST', path, { body, headers });
    assert.deepEqual([created.code, tableOf(created.body).rows[0]?.cells.slice(0, 2)], [201, ['new', 2]]);
    const dry = await client.request('POST', `${path}?dryRun=All`, { body: { ...body, metadata: { name: 'dry' } }, headers }); // prettier-ignore
    assert.deepEqual([dry.code, cells(tableOf(dry.body))], [201, ['dry']]);
    const deleted = ok(await client.request('DELETE', `${path}/new`, { headers }));
    assert.equal(deleted.kind, 'Status', 'a Status is shown as it is');
  });

  it('show what is stored in another version', async () => {
    const { client } = server();
    const at = `/apis/autoscaling/v1/namespaces/${namespace}/horizontalpodautoscalers`;
    const spec = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 4 };
    const created = await client.post(at, { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec: { ...spec, targetCPUUtilizationPercentage: 70 } }); // prettier-ignore
    assert.equal(created.code, 201, created.text);
    const table = tableOf(ok(await ask(`${at}?includeObject=Object`)));
    assert.deepEqual(table.rows[0]?.cells.slice(0, 3), ['h', 'Deployment/d', '<unknown>/70%']);
    const { apiVersion, spec: served } = table.rows[0].object as Document;
    assert.deepEqual([apiVersion, served['targetCPUUtilizationPercentage']], ['autoscaling/v1', 70]);
  });

  it('show workloads, wide columns last', async () => {
    const { client } = server();
    assert.equal((await client.post(deploymentsIn(namespace), deployment('web', { replicas: 3 }))).code, 201);
    const table = tableOf(ok(await ask(deploymentsIn(namespace))));
    const wide = (table.columnDefinitions ?? []).filter(({ priority }) => priority > 0).map(({ name }) => name);
    assert.deepEqual([table.rows[0]?.cells.slice(0, 4), wide], [['web', '0/3', 0, 0], ['Containers', 'Images', 'Selector']]); // prettier-ignore
  });

  it('tell which pods have come to their end', async () => {
    const { client } = server();
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    assert.equal((await client.post(pods, pod('done'))).code, 201);
    ok(await client.patch(`${pods}/done/status`, { status: { phase: 'Succeeded' } }));
    const [row] = tableOf(ok(await ask(pods))).rows;
    assert.deepEqual(row?.cells.slice(0, 4), ['done', '0/1', 'Succeeded', '0']);
    assert.deepEqual(row.conditions?.map(({ type, status, reason }) => [type, status, reason]), [['Completed', 'True', 'Succeeded']]); // prettier-ignore
  });

  it('are watched row by row, the columns told once', async () => {
    const { client } = server();
    const other = await newNamespace(client);
    await createConfigMap(client, other, 'first');
    const watching = await client.watch(`${configMapsIn(other)}?watch=1`, asTable(group));
    try {
      const first = await watching.next();
      await createConfigMap(client, other, 'second');
      ok(await client.delete(`${configMapsIn(other)}/first`));
      const events = [first, ...(await watching.take(2))];
      const seen = events.map(({ type, object }) => [type, columnNames(tableOf(object)), cells(tableOf(object))]);
      assert.deepEqual(seen, [
        ['ADDED', ['Name', 'Data', 'Age'], ['first']],
        ['ADDED', [], ['second']],
        ['DELETED', [], ['first']],
      ]);
      assert.equal(tableOf(events[1]?.object).columnDefinitions, null);
      const [shown] = tableOf(events[2]?.object).rows;
      assert.equal(shown?.object?.metadata.resourceVersion, events[2]?.object.metadata.resourceVersion);
    } finally {
      watching.close();
    }
  });

  it('have bookmarks', async () => {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dnone'; // prettier-ignore
    const watching = await server().client.watch(`${path}?${query}`, asTable(group));
    try {
      const { type, object } = await watching.next();
      const table = tableOf(object);
      assert.deepEqual([type, table.kind, columnNames(table)], ['BOOKMARK', 'Table', ['Name', 'Data', 'Age']]);
      const [row] = table.rows;
      assert.equal(row?.object?.metadata.resourceVersion, table.metadata.resourceVersion);
      assert.deepEqual(Object.values(row.object.metadata.annotations ?? {}), ['true']);
    } finally {
      watching.close();
    }
  });
}

function partialObjects(server: () => TestServer, group: string): void {
  let path: string;
  const ask = (at: string, accept: string): Promise<Reply> => server().client.get(at, { accept });

  before(async () => {
    const namespace = await newNamespace(server().client);
    path = configMapsIn(namespace);
    const annotations = { note: '"}{' };
    for (const name of ['a', 'b'])
      await createConfigMap(server().client, namespace, name, { data: { k: 'v' }, metadata: { annotations } });
  });

  it('partial objects are the metadata of one', async () => {
    const whole = ok(await server().client.get(`${path}/a`));
    const partial = ok(await ask(`${path}/a`, asPartial(group)));
    assert.deepEqual(partial, { kind: 'PartialObjectMetadata', apiVersion: `${group}/v1`, metadata: whole.metadata });
  });

  it('partial objects come in lists', async () => {
    const whole = ok(await server().client.get(path));
    const list = ok(await ask(path, asPartial(group, 'PartialObjectMetadataList')));
    assert.deepEqual([list.kind, list.apiVersion, list.metadata], ['PartialObjectMetadataList', `${group}/v1`, whole.metadata]); // prettier-ignore
    assert.deepEqual(
      list.items,
      whole.items.map(({ metadata }) => ({ kind: 'PartialObjectMetadata', apiVersion: `${group}/v1`, metadata })),
    );
    const none = ok(await ask(`${path}?fieldSelector=metadata.name%3Dnone`, asPartial(group, 'PartialObjectMetadataList'))); // prettier-ignore
    assert.deepEqual(none.items, []);
  });

  it('partial objects of the wrong kind are refused', async () => {
    refused(await ask(path, asPartial(group)), 406, 'NotAcceptable');
    refused(await ask(`${path}/a`, asPartial(group, 'PartialObjectMetadataList')), 406, 'NotAcceptable');
  });

  it('partial objects can be watched', async () => {
    const watching = await server().client.watch(`${path}?watch=1`, asPartial(group));
    try {
      const [first, second] = await watching.take(2);
      assert.deepEqual([first?.object.metadata.name, second?.object.metadata.name], ['a', 'b']);
      assert.deepEqual([first?.object.kind, first?.object.data], ['PartialObjectMetadata', undefined]);
    } finally {
      watching.close();
    }
  });
}
