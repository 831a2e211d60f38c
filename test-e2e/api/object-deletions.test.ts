import assert from 'node:assert/strict';
import { namesIn } from './tools/document.js';
import {
  configMap,
  configMapsIn,
  createConfigMap,
  created,
  deployment,
  deploymentsIn,
  markedForDeletion,
  newNamespace,
  ok,
  pod,
  refused,
} from './tools/objects.js';
import { onBothStores, type TestServer } from './tools/server.js';

type Server = () => TestServer;

const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const NO_UID = '00000000-0000-0000-0000-000000000000';

function deletions(server: Server): void {
  it('answers a Status with what was deleted, and the name is free again', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    const { uid } = (await createConfigMap(client, namespace, 'a')).metadata;
    const { kind, status, details } = ok(await client.delete(path));
    assert.deepEqual([kind, status, details], ['Status', 'Success', { name: 'a', kind: 'configmaps', uid }]);
    refused(await client.delete(path), 404, 'NotFound');
    assert.notEqual((await createConfigMap(client, namespace, 'a')).metadata.uid, uid);
  });

  it('goes in two phases while there are finalizers', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    await createConfigMap(client, namespace, 'a', { metadata: { finalizers: ['example.com/x', 'example.com/y'] } });
    const marked = markedForDeletion(await client.delete(path));
    assert.deepEqual(ok(await client.get(path)), marked);
    assert.deepEqual(markedForDeletion(await client.delete(path)), marked, 'a second deletion changes nothing');
    refused(await client.post(configMapsIn(namespace), configMap('a')), 409, 'AlreadyExists');
    const more = { metadata: { finalizers: ['example.com/x', 'example.com/z'] } };
    refused(await client.patch(path, more), 422, 'Invalid', /no new finalizers can be added/);
    const one = markedForDeletion(await client.patch(path, { metadata: { finalizers: ['example.com/y'] } }));
    assert.equal(one.metadata.deletionTimestamp, marked.metadata.deletionTimestamp);
    const last = markedForDeletion(
      await client.patch(path, { metadata: { finalizers: null }, data: { last: 'word' } }),
    );
    assert.deepEqual([last.metadata.finalizers, last.data], [undefined, { last: 'word' }]);
    refused(await client.get(path), 404, 'NotFound');
  });

  it('asks for preconditions to hold', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    const { uid, resourceVersion } = (await createConfigMap(client, namespace, 'a')).metadata;
    const options = (preconditions: object): object => ({ kind: 'DeleteOptions', apiVersion: 'v1', preconditions });
    refused(await client.delete(path, options({ uid: NO_UID })), 409, 'Conflict', /UID in precondition/);
    refused(
      await client.delete(path, options({ resourceVersion: '1' })),
      409,
      'Conflict',
      /ResourceVersion in precond/,
    );
    ok(await client.get(path));
    ok(await client.delete(path, options({ uid, resourceVersion })));
    refused(await client.get(path), 404, 'NotFound');
  });

  it('leaves dependents to the collector as propagationPolicy says', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const collection = deploymentsIn(namespace);
    const policies: readonly (readonly [string, string[] | undefined])[] = [
      ['propagationPolicy=Foreground', ['foregroundDeletion']],
      ['propagationPolicy=Orphan', ['orphan']],
      ['orphanDependents=true', ['orphan']],
      ['propagationPolicy=Background', undefined],
      ['orphanDependents=false', undefined],
    ];
    for (const [query, finalizers] of policies) {
      created(await client.post(collection, deployment('d')));
      const reply = await client.delete(`${collection}/d?${query}`);
      if (finalizers === undefined) {
        ok(reply);
      } else {
        assert.deepEqual(markedForDeletion(reply).metadata.finalizers, finalizers);
        ok(await client.patch(`${collection}/d`, { metadata: { finalizers: null } }));
      }
      refused(await client.get(`${collection}/d`), 404, 'NotFound');
    }
    created(await client.post(collection, deployment('d')));
    const wrong = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Sideways' };
    refused(await client.delete(`${collection}/d`, wrong), 422, 'Invalid', /Sideways/);
    refused(await client.delete(`${collection}/d`, { kind: 'Pod', apiVersion: 'v1' }), 400, 'BadRequest');
  });

  it('gives a pod that runs its grace period, and ends it when nobody winds it down', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `/api/v1/namespaces/${namespace}/pods`;
    for (const [name, query, grace] of [
      ['default', '', 30],
      ['asked', '?gracePeriodSeconds=7', 7],
    ] as const) {
      created(await client.post(path, pod(name, { nodeName: 'n1' })));
      const { metadata: m } = markedForDeletion(await client.delete(`${path}/${name}${query}`));
      assert.equal(m.deletionGracePeriodSeconds, grace);
      assert.ok(Math.abs(Date.parse(m.deletionTimestamp ?? '') - Date.now() - grace * 1000) < 20_000);
      const sooner = markedForDeletion(await client.delete(`${path}/${name}?gracePeriodSeconds=2`));
      assert.equal(sooner.metadata.deletionGracePeriodSeconds, 2);
      const later = markedForDeletion(await client.delete(`${path}/${name}?gracePeriodSeconds=20`));
      assert.equal(later.metadata.deletionGracePeriodSeconds, 2, 'never longer again');
      ok(await client.delete(`${path}/${name}?gracePeriodSeconds=0`));
      refused(await client.get(`${path}/${name}`), 404, 'NotFound');
    }
    created(await client.post(path, pod('unplaced')));
    assert.equal(ok(await client.delete(`${path}/unplaced`)).kind, 'Pod');
    refused(await client.get(`${path}/unplaced`), 404, 'NotFound');
  });
}

function collections(server: Server): void {
  it('deletes what the selectors choose, finalizers respected', async () => {
    const { client } = server();
    const [namespace, other] = [await newNamespace(client), await newNamespace(client)];
    const path = configMapsIn(namespace);
    for (let i = 0; i < 20; i++) await createConfigMap(client, namespace, `go-${i}`, { labels: { go: 'yes' } });
    await createConfigMap(client, namespace, 'held', { labels: { go: 'yes' }, metadata: { labels: { go: 'yes' }, finalizers: ['example.com/x'] } }); // prettier-ignore
    await createConfigMap(client, namespace, 'stays', { labels: { go: 'no' } });
    await createConfigMap(client, other, 'go-1', { labels: { go: 'yes' } });
    refused(await client.delete(`${path}?labelSelector=go%3D(`), 400, 'BadRequest');
    ok(await client.delete(`${path}?labelSelector=go%3Dyes&dryRun=All`));
    assert.equal(ok(await client.get(path)).items.length, 22);
    const reply = ok(await client.delete(`${path}?labelSelector=go%3Dyes`));
    assert.ok(reply.kind === 'Status' || reply.kind === 'ConfigMapList', reply.kind);
    const left = ok(await client.get(path));
    assert.deepEqual(namesIn(left), ['held', 'stays']);
    assert.match(left.items[0]?.metadata.deletionTimestamp ?? '', SECONDS);
    ok(await client.delete(`${path}?fieldSelector=metadata.name%3Dstays`));
    assert.deepEqual(namesIn(ok(await client.get(path))), ['held']);
    assert.deepEqual(namesIn(ok(await client.get(configMapsIn(other)))), ['go-1']);
    refused(await client.delete('/api/v1/configmaps'), 405, 'MethodNotAllowed');
  });
}

onBothStores('deletions of objects', [], (server) => {
  describe('deletion', () => deletions(server));
  describe('deletion of collections', () => collections(server));
});
