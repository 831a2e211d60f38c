import assert from 'node:assert/strict';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import type { Client, Reply } from './tools/client.js';
import type { Document } from './tools/document.js';
import { WITH_STATUS } from './tools/least.js';
import { configMapsIn, createConfigMap, created, newNamespace, ok, pod, refused } from './tools/objects.js';
import { onBothStores, type TestServer } from './tools/server.js';

type Server = () => TestServer;
const words = vocabulary('platform');
const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

function rehearsals(server: Server): void {
  it('of a create that cannot be done is refused like the create', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    await createConfigMap(client, namespace, 'a');
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    refused(await client.post(`${configMapsIn(namespace)}?dryRun=All`, body), 409, 'AlreadyExists');
  });

  it('of a create makes names that are free, and stores nothing', async () => {
    const { client } = server();
    const path = configMapsIn(await newNamespace(client));
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-' } };
    const { metadata } = created(await client.post(`${path}?dryRun=All`, body));
    assert.match(metadata.name, /^made-/);
    assert.deepEqual(ok(await client.get(path)).items, []);
  });

  it('of a create takes what was read from elsewhere, with its version', async () => {
    const { client } = server();
    const path = configMapsIn(await newNamespace(client));
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', resourceVersion: '5' } };
    assert.equal(created(await client.post(`${path}?dryRun=All`, body)).metadata.resourceVersion, undefined);
    refused(await client.post(path, body), 400, 'BadRequest', /resourceVersion should not be set/);
  });

  const marks: readonly (readonly [string, (namespace: string) => readonly [string, object], string, object])[] = [
    [
      'a pod that runs',
      (namespace) => [`/api/v1/namespaces/${namespace}/pods`, pod('x', { nodeName: 'n' })],
      '?gracePeriodSeconds=7',
      { deletionGracePeriodSeconds: 7 },
    ],
    [
      'an object with a finalizer',
      (namespace) => [
        configMapsIn(namespace),
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', finalizers: ['a.example.com/b'] } },
      ],
      '?propagationPolicy=Orphan',
      { deletionGracePeriodSeconds: 0, finalizers: ['a.example.com/b', ORPHAN] },
    ],
  ];
  for (const [what, where, query, expected] of marks) {
    it(`of the deletion of ${what} answers it as it would be stored`, async () => {
      const { client } = server();
      const [path, body] = where(await newNamespace(client));
      const before = created(await client.post(path, body));
      const rehearsed = ok(await client.delete(`${path}/x${query}&dryRun=All`));
      assert.ok(Date.parse(rehearsed.metadata.deletionTimestamp ?? '') > 0);
      for (const [member, value] of Object.entries(expected))
        assert.deepEqual(rehearsed.metadata[member], value, member);
      assert.equal(rehearsed.metadata.resourceVersion, before.metadata.resourceVersion);
      assert.deepEqual(ok(await client.get(`${path}/x`)), before);
      const done = ok(await client.delete(`${path}/x${query}`));
      const compared = ({ metadata }: Document): object => ({
        ...metadata,
        resourceVersion: '',
        deletionTimestamp: '',
      });
      assert.deepEqual(compared(rehearsed), compared(done));
    });
  }

  it('of the deletion of a namespace answers it as Terminating', async () => {
    const { client } = server();
    const name = await newNamespace(client);
    const path = `/api/v1/namespaces/${name}`;
    for (const query of ['?dryRun=All', '']) {
      const { metadata, status } = ok(await client.delete(`${path}${query}`));
      assert.deepEqual(status, { phase: 'Terminating' });
      assert.ok(Date.parse(metadata.deletionTimestamp ?? '') > 0);
      assert.equal(metadata.deletionGracePeriodSeconds, undefined);
    }
  });
}

function policies(server: Server): void {
  const held = async (client: Client, ...finalizers: string[]): Promise<string> => {
    const namespace = await newNamespace(client);
    await createConfigMap(client, namespace, 'x', { metadata: { finalizers } });
    return `${configMapsIn(namespace)}/x`;
  };
  const finalizersOf = (reply: Reply): readonly string[] => ok(reply).metadata.finalizers ?? [];

  it('of a second deletion take the place of those before', async () => {
    const { client } = server();
    const own = 'a.example.com/b';
    const path = await held(client, own);
    const first = ok(await client.delete(`${path}?propagationPolicy=Foreground`));
    assert.deepEqual(first.metadata.finalizers, [own, FOREGROUND]);
    for (const [policy, expected] of [
      ['Orphan', [own, ORPHAN]],
      ['Foreground', [own, FOREGROUND]],
      ['Background', [own]],
    ] as const) {
      assert.deepEqual(finalizersOf(await client.delete(`${path}?propagationPolicy=${policy}`)), expected);
      const { metadata } = ok(await client.get(path));
      assert.deepEqual(metadata.finalizers, expected);
      assert.equal(metadata.deletionTimestamp, first.metadata.deletionTimestamp);
    }
    const before = ok(await client.get(path)).metadata.resourceVersion;
    assert.equal(ok(await client.delete(path)).metadata.resourceVersion, before, 'without a policy nothing changes');
  });

  it('remove the object when nothing is left to wait for', async () => {
    const { client } = server();
    const path = await held(client);
    assert.deepEqual(finalizersOf(await client.delete(`${path}?propagationPolicy=Orphan`)), [ORPHAN]);
    ok(await client.delete(`${path}?propagationPolicy=Background`));
    refused(await client.get(path), 404, 'NotFound');
  });

  it('of jobs that are not said leave their pods, with a warning', async () => {
    const { client } = server();
    const path = `/apis/batch/v1/namespaces/${await newNamespace(client)}/jobs`;
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
    for (const name of ['silent', 'said']) created(await client.post(path, { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: { template } })); // prettier-ignore
    const silent = await client.delete(`${path}/silent`);
    assert.deepEqual(finalizersOf(silent), [ORPHAN]);
    assert.match(
      String(silent.headers['warning']),
      /^299 - "child pods are preserved by default when jobs are deleted; /,
    );
    const said = ok(await client.delete(`${path}/said?propagationPolicy=Background`));
    assert.equal(said.status, 'Success');
    ok(await client.delete(path));
  });

  it('leave a pod that is being wound down as it is', async () => {
    const { client } = server();
    const path = `/api/v1/namespaces/${await newNamespace(client)}/pods`;
    created(await client.post(path, pod('x', { nodeName: 'n' })));
    ok(await client.delete(`${path}/x?gracePeriodSeconds=20`));
    assert.deepEqual(
      finalizersOf(await client.delete(`${path}/x?propagationPolicy=Foreground&gracePeriodSeconds=20`)),
      [],
    );
  });
}

function answers(server: Server): void {
  const { storage } = words.groups;
  for (const [resource, body] of [
    ['storageclasses', { provisioner: 'example.com/p' }],
    ['csidrivers', { spec: {} }],
    ['csinodes', { spec: { drivers: [] } }],
    ['volumeattachments', WITH_STATUS['volumeattachments']?.body ?? {}],
  ] as const) {
    it(`to the deletion of one of ${resource} show it`, async () => {
      const { client } = server();
      const path = `/apis/${storage}/v1/${resource}`;
      const { kind, metadata } = created(await client.post(path, { ...body, metadata: { name: 'gone' } }));
      const gone = ok(await client.delete(`${path}/gone`));
      assert.deepEqual([gone.kind, gone.metadata.uid], [kind, metadata.uid]);
      refused(await client.get(`${path}/gone`), 404, 'NotFound');
    });
  }

  it('to the deletion of a collection are the list of what was deleted', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    await createConfigMap(client, namespace, 'a', { labels: { go: 'yes' } });
    await createConfigMap(client, namespace, 'b', { labels: { go: 'yes' }, metadata: { labels: { go: 'yes' }, finalizers: ['a.example.com/b'] } }); // prettier-ignore
    await createConfigMap(client, namespace, 'c');
    const { metadata: before, ...selected } = ok(await client.get(`${path}?labelSelector=go%3Dyes`));
    for (const query of ['&dryRun=All', '']) {
      const { metadata, ...gone } = ok(await client.delete(`${path}?labelSelector=go%3Dyes${query}`));
      assert.deepEqual(gone, selected);
      assert.deepEqual(Object.keys(metadata), ['resourceVersion']);
      assert.ok(Number(metadata.resourceVersion) >= Number(before.resourceVersion)); // others write at any time
    }
    assert.deepEqual(
      ok(await client.get(path)).items.map(({ metadata }) => metadata.name),
      ['b', 'c'],
    );
    const nothing = ok(await client.delete(`${path}?labelSelector=go%3Dno`));
    assert.deepEqual([nothing.kind, nothing.items], ['ConfigMapList', []]);
  });

  it('to the deletion of a collection come as a table, too', async () => {
    const { client } = server();
    const path = configMapsIn(await newNamespace(client));
    const headers = { accept: `application/json;as=Table;v=v1;g=${words.metaGroup}` };
    assert.equal(ok(await client.request('DELETE', path, { headers })).kind, 'Table');
  });
}

onBothStores('a rehearsal', [], rehearsals);
onBothStores('the policies of a deletion', [], policies);
onBothStores('answers', [], answers);
