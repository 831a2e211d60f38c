import assert from 'node:assert/strict';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import type { Client } from './tools/client.js';
import { namesIn } from './tools/document.js';
import {
  configMap,
  configMapsIn,
  createConfigMap,
  created,
  eventually,
  markedForDeletion,
  newNamespace,
  ok,
  refused,
} from './tools/objects.js';
import { onBothStores, type TestServer } from './tools/server.js';

type Server = () => TestServer;

const words = vocabulary('platform');

const MISSING = 'no-such-namespace';

async function makeFirstNamespaces(client: Client): Promise<void> {
  const { system, public: publicOne, nodeLease } = words.namespaces;
  const expected = ['default', nodeLease, publicOne, system].sort();
  const names = namesIn(ok(await client.get('/api/v1/namespaces')));
  for (const name of expected) assert.ok(names.includes(name), name);
}

function namespaces(server: Server): void {
  it('the first ones are there and some of them stay', async () => {
    const { client } = server();
    await makeFirstNamespaces(client);
    for (const name of ['default', words.namespaces.system, words.namespaces.public]) {
      refused(await client.delete(`/api/v1/namespaces/${name}`), 403, 'Forbidden', /may not be deleted/);
      const { status, spec, metadata: m } = ok(await client.get(`/api/v1/namespaces/${name}`));
      assert.deepEqual([status, m.deletionTimestamp], [{ phase: 'Active' }, undefined]);
      assert.deepEqual(spec['finalizers'], [words.namespaceFinalizer]);
      assert.equal(m.labels?.[words.namespaceNameLabel], name);
    }
  });

  it('nothing is created in one that is not there', async () => {
    const { client } = server();
    const reply = await client.post(configMapsIn(MISSING), configMap('a'));
    const { details } = refused(reply, 404, 'NotFound', /^namespaces "no-such-namespace" not found$/);
    assert.deepEqual(details, { name: MISSING, kind: 'namespaces' });
    assert.deepEqual(ok(await client.get(configMapsIn(MISSING))).items, []);
  });

  it('one that is just made can be used at once', async () => {
    const { client } = server();
    for (let i = 0; i < 20; i++) await createConfigMap(client, await newNamespace(client), 'a');
  });

  it('deletion marks it, it takes nothing new, and it goes when its finalizers have gone', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `/api/v1/namespaces/${namespace}`;
    await createConfigMap(client, namespace, 'old');
    const marked = markedForDeletion(await client.delete(path));
    assert.equal((marked.status as { phase: string }).phase, 'Terminating');
    const reply = await client.post(configMapsIn(namespace), configMap('new'));
    const { details } = refused(reply, 403, 'Forbidden', /is being terminated/);
    assert.equal(details.causes?.[0]?.reason, 'NamespaceTerminating');
    ok(await client.patch(`${configMapsIn(namespace)}/old`, { data: { a: 'still' } }));
    ok(await client.delete(`${configMapsIn(namespace)}/old`));
    const main = ok(await client.put(path, { ...marked, spec: { finalizers: [] } }));
    assert.deepEqual(main.spec['finalizers'], [words.namespaceFinalizer], 'only /finalize takes them off');
    ok(await client.put(`${path}/finalize`, { ...main, spec: { finalizers: [] } }));
    refused(await client.get(path), 404, 'NotFound');
    created(await client.post('/api/v1/namespaces', { metadata: { name: namespace } }));
    await createConfigMap(client, namespace, 'new');
  });

  it('with finalizers of its own stays until those have gone as well', async () => {
    const { client } = server();
    const name = `held-${process.pid}`;
    created(await client.post('/api/v1/namespaces', { metadata: { name, finalizers: ['example.com/x'] } }));
    const path = `/api/v1/namespaces/${name}`;
    const marked = markedForDeletion(await client.delete(path));
    ok(await client.put(`${path}/finalize`, { ...marked, spec: { finalizers: [] } }));
    ok(await client.get(path));
    ok(await client.patch(path, { metadata: { finalizers: null } }));
    refused(await client.get(path), 404, 'NotFound');
  });

  it('events go when their time is over', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `/api/v1/namespaces/${namespace}/events`;
    const watch = await client.watch(`${path}?watch=1`);
    created(await client.post(path, { metadata: { name: 'e' }, involvedObject: { namespace } }));
    assert.deepEqual((await watch.take(2)).map(({ type }) => type), ['ADDED', 'DELETED']); // prettier-ignore
    watch.close();
    await eventually(async () => ((await client.get(`${path}/e`)).code === 404 ? true : undefined));
  });
}

onBothStores('namespaces', ['--event-ttl=3s'], (server) => namespaces(server));
