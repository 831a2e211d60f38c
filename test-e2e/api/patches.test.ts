import assert from 'node:assert/strict';
import { JSON_PATCH, MERGE } from './tools/client.js';
import { configMap, configMapsIn, createConfigMap, created, newNamespace, ok, refused } from './tools/objects.js';
import { onBothStores, type TestServer } from './tools/server.js';

type Server = () => TestServer;

const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function patches(server: Server): void {
  it('merge patch sets, replaces and removes', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    await createConfigMap(client, namespace, 'a', { data: { a: '1', b: '2' }, labels: { x: 'y' } });
    const patched = ok(await client.patch(path, { data: { a: null, c: '3' }, metadata: { labels: null } }));
    assert.deepEqual([patched.data, patched.metadata.labels], [{ b: '2', c: '3' }, undefined]);
  });

  it('JSON patch does its six operations, all or none of them', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    await createConfigMap(client, namespace, 'a', {
      data: { a: '1', b: '2' },
      metadata: { annotations: { 'example.com/slash': '3' } },
    });
    const patched = ok(
      await client.patch(
        path,
        [
          { op: 'test', path: '/data/a', value: '1' },
          { op: 'replace', path: '/data/a', value: '9' },
          { op: 'move', from: '/data/b', path: '/data/moved' },
          { op: 'copy', from: '/data/a', path: '/data/copied' },
          { op: 'remove', path: '/metadata/annotations/example.com~1slash' },
          { op: 'add', path: '/data/added', value: 'q' },
        ],
        JSON_PATCH,
      ),
    );
    assert.deepEqual(patched.data, { a: '9', added: 'q', copied: '9', moved: '2' });
    assert.equal(patched.metadata.annotations, undefined);
    const half = [
      { op: 'replace', path: '/data/a', value: 'half' },
      { op: 'test', path: '/data/moved', value: 'no' },
    ];
    refused(await client.patch(path, half, JSON_PATCH), 422, 'Invalid');
    assert.deepEqual(ok(await client.get(path)), patched);
  });

  /** Content type, body, and what comes of it. */
  const refusals: readonly (readonly [string, unknown, number, string])[] = [
    [JSON_PATCH, { not: 'a list' }, 400, 'BadRequest'],
    [JSON_PATCH, [{ op: 'explode', path: '/data' }], 400, 'BadRequest'],
    [JSON_PATCH, [{ op: 'add', path: 'data', value: 1 }], 400, 'BadRequest'],
    [JSON_PATCH, [{ op: 'remove', path: '/data/nothing' }], 422, 'Invalid'],
    [JSON_PATCH, '[{', 400, 'BadRequest'],
    [JSON_PATCH, '', 400, 'BadRequest'],
    [JSON_PATCH, Array.from({ length: 10_001 }, () => ({ op: 'remove', path: '/x' })), 413, 'RequestEntityTooLarge'],
    [MERGE, [], 400, 'BadRequest'],
    [MERGE, 'null', 400, 'BadRequest'],
    [MERGE, '{', 400, 'BadRequest'],
    [MERGE, { data: 'text' }, 400, 'BadRequest'],
    [MERGE, { data: { a: 1 } }, 400, 'BadRequest'],
    [MERGE, { metadata: { name: 'other' } }, 400, 'BadRequest'],
    [MERGE, { metadata: { namespace: 'other' } }, 400, 'BadRequest'],
    [MERGE, { kind: 'Secret' }, 400, 'BadRequest'],
    [MERGE, { apiVersion: 'v2' }, 400, 'BadRequest'],
    [MERGE, { metadata: { labels: { a: 'not a value' } } }, 422, 'Invalid'],
    ['application/what+json', {}, 415, 'UnsupportedMediaType'],
    ['application/json', {}, 415, 'UnsupportedMediaType'],
  ];
  for (const [type, body, code, reason] of refusals) {
    const shown = typeof body === 'string' ? body : JSON.stringify(body);
    it(`${type} ${shown.slice(0, 60)} is a ${code}`, async () => {
      const { client } = server();
      const namespace = await newNamespace(client);
      const before = await createConfigMap(client, namespace, 'a', { data: { a: '1' } });
      refused(await client.patch(`${configMapsIn(namespace)}/a`, body, type), code, reason);
      assert.deepEqual(ok(await client.get(`${configMapsIn(namespace)}/a`)), before);
    });
  }

  it('50 at the same time all land', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    await createConfigMap(client, namespace, 'a');
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => client.patch(path, { data: { [`k${i}`]: String(i) } })),
    );
    for (const reply of replies) ok(reply);
    assert.equal(Object.keys(ok(await client.get(path)).data).length, 50);
  });
}

function dryRuns(server: Server): void {
  it('shows what would be stored, and stores nothing', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const shown = created(await client.post(`${path}?dryRun=All`, configMap('dry', { data: { a: '1' } })));
    assert.deepEqual([shown.metadata.name, shown.data], ['dry', { a: '1' }]);
    assert.match(shown.metadata.uid, UID);
    refused(await client.get(`${path}/dry`), 404, 'NotFound');
    const stored = await createConfigMap(client, namespace, 'real');
    assert.deepEqual(ok(await client.put(`${path}/real?dryRun=All`, configMap('real', { data: { b: '2' } }))).data, { b: '2' }); // prettier-ignore
    assert.deepEqual(ok(await client.patch(`${path}/real?dryRun=All`, { data: { c: '3' } })).data, { c: '3' });
    ok(await client.delete(`${path}/real?dryRun=All`));
    ok(await client.delete(`${path}/real`, { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] }));
    assert.deepEqual(ok(await client.get(`${path}/real`)), stored);
  });

  it('fails as the real request would', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    await createConfigMap(client, namespace, 'a', { immutable: true });
    refused(await client.post(`${path}?dryRun=All`, configMap('Bad_Name')), 422, 'Invalid');
    refused(await client.put(`${path}/a?dryRun=All`, configMap('a', { data: { x: '1' } })), 422, 'Invalid');
    refused(await client.post(`${configMapsIn('nowhere')}?dryRun=All`, configMap('a')), 404, 'NotFound');
    refused(await client.post(`${path}?dryRun=Some`, configMap('b')), 400, 'BadRequest', /dryRun/);
    created(await client.post(`${path}?dryRun=`, configMap('b')));
    ok(await client.get(`${path}/b`));
  });
}

/** Objects with these labels, and what each selector finds of them. */

onBothStores('patches and dry runs', [], (server) => {
  describe('patches', () => patches(server));
  describe('dry runs', () => dryRuns(server));
});
