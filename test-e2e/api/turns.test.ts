import assert from 'node:assert/strict';
import type { Reply } from './tools/client.js';
import { configMapsIn, created, createConfigMap, newNamespace, ok, refused } from './tools/objects.js';
import type { TestServer } from './tools/server.js';
import { MeasuredServer, TURN_MS } from './tools/turns.js';

const OBJECTS = 1_500;
const AT_ONCE = 20;

const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const PARTIAL = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

describe('The event loop of a server', function () {
  this.timeout(120_000);
  let measured: MeasuredServer;
  let server: TestServer;
  let path: string;
  /** For large objects: no list that is measured has them. */
  let elsewhere: string;

  before(async () => {
    measured = await MeasuredServer.start('embedded');
    ({ server } = measured);
    const namespace = await newNamespace(server.client);
    path = configMapsIn(namespace);
    elsewhere = configMapsIn(await newNamespace(server.client));
    const data = {
      text: 'x'.repeat(1_500),
      ...Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k${i}`, 'v'])),
    };
    await Promise.all(Array.from({ length: OBJECTS }, (_, i) => createConfigMap(server.client, namespace, `a-${i}`, { data }))); // prettier-ignore
    await server.client.get(path); // what is made once is there
  });
  after(() => measured.close());

  const REQUESTS: readonly { readonly title: string; readonly query?: string; readonly accept: string }[] = [
    { title: 'YAML', accept: 'application/yaml' },
    { title: 'indented JSON', accept: 'application/json', query: '?pretty=1' },
    { title: 'rows of a table', accept: TABLE },
    { title: 'indented rows of a table', accept: TABLE, query: '?pretty=1' },
    { title: 'parts of objects', accept: PARTIAL },
    { title: 'Protobuf', accept: PROTOBUF },
    { title: 'objects', accept: 'application/json' },
    { title: 'a watch that begins with all', accept: TABLE, query: '?watch=1&timeoutSeconds=5' },
  ];
  it('refuses objects that are too wide to be written in a turn, also when they become so bit by bit', async () => {
    const data = (from: number, count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${from + i}`, '']));
    const wide = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'wide' }, data: data(0, 60_000) };
    const { client } = server;
    const apply = { body: wide, type: 'application/apply-patch+yaml' };
    refused(await client.request('PATCH', `${path}/wide?fieldManager=a`, apply), 413, 'RequestEntityTooLarge', /10000/);
    refused(await client.post(path, wide), 413, 'RequestEntityTooLarge', /10000/);
    created(await client.post(path, { ...wide, data: data(0, 6_000) }));
    refused(await client.patch(`${path}/wide`, { data: data(6_000, 6_000) }), 413, 'RequestEntityTooLarge', /10000/);
    ok(await client.delete(`${path}/wide`));
  });

  const members = (count: number, value = ''): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, value]));
  const wide = (name: string, count = 9_900, value = ''): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: members(count, value),
  });
  const containers = Array.from({ length: 5_000 }, (_, i) => ({ name: `c-${i}`, image: 'i' }));
  const operations = Array.from({ length: 9_800 }, (_, i) => ({ op: 'add', path: `/data/k-${i}`, value: '' }));
  const patch = (to: string, body: unknown, kind: string): Promise<Reply> =>
    server.client.request('PATCH', to, { body, type: `application/${kind}` });
  const WRITES: readonly { readonly title: string; readonly write: (name: string) => Promise<Reply> }[] = [
    { title: 'creations', write: (name) => server.client.post(elsewhere, wide(`created-${name}`)) },
    {
      title: 'creations from yaml',
      write: (name) =>
        server.client.request('POST', elsewhere, {
          body: `{apiVersion: v1, kind: ConfigMap, metadata: {name: yaml-${name}}, data: {${Object.keys(members(9_900)).join(': x, ')}: x}}`,
          type: 'application/yaml',
        }),
    },
    { title: 'updates', write: (name) => server.client.put(`${elsewhere}/${name}`, wide(name, 9_900, 'x')) },
    {
      title: 'merge patches',
      write: (name) => patch(`${elsewhere}/${name}`, { data: members(9_900, 'y') }, 'merge-patch+json'),
    },
    { title: 'lists of operations', write: (name) => patch(`${elsewhere}/${name}`, operations, 'json-patch+json') },
    {
      title: 'applies',
      write: (name) =>
        patch(`${elsewhere}/${name}?fieldManager=${name}&force=1`, wide(name, 9_900, 'z'), 'apply-patch+yaml'),
    },
    {
      title: 'pods with many containers',
      write: (name) =>
        server.client.post(elsewhere.replace(/configmaps$/, 'pods'), {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name },
          spec: { containers },
        }),
    },
  ];
  const WRITES_AT_ONCE = 3;
  for (const { title, write } of WRITES) {
    it(`is not kept busy for more than ${TURN_MS} ms at a time by writes of wide objects (${title})`, async () => {
      const base = title.replaceAll(' ', '-');
      const prepared = (name: string): Promise<Reply> => server.client.post(elsewhere, wide(name, 100));
      created(await prepared(base));
      await write(base); // what is compiled at first use is there
      const replies = await measured.during(async (attempt) => {
        const names = Array.from({ length: WRITES_AT_ONCE }, (_, i) => `${base}-${attempt}-${i}`);
        for (const name of names) created(await prepared(name));
        return Promise.all(names.map(write));
      });
      for (const { code, text } of replies) assert.ok([200, 201].includes(code), text);
    });
  }

  for (const { title, query = '', accept } of REQUESTS) {
    it(`is not kept busy for more than ${TURN_MS} ms at a time by ${AT_ONCE} lists (${title})`, async () => {
      const list = (): Promise<Reply> =>
        server.client.request('GET', `${path}${query}`, { headers: { accept }, signal: AbortSignal.timeout(60_000) });
      const replies = await measured.during(() => Promise.all(Array.from({ length: AT_ONCE }, list)));
      for (const { code, text } of replies) assert.ok(code === 200 && text.length > 100_000, String(code));
    });
  }
});
