import assert from 'node:assert/strict';
import { openEtcdStore } from '../../services/storage/etcd/store.js';
import { NO_REVISION, type KeyValueStore } from '../../services/storage/store.js';
import { namesIn } from './tools/document.js';
import { created, newNamespace, ok } from './tools/objects.js';
import { onServer, type TestServer } from './tools/server.js';

const DEPRECATED = 'batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob';

const cronJob = (apiVersion: string, name: string): object => ({
  apiVersion,
  kind: 'CronJob',
  metadata: { name },
  spec: {
    schedule: '0 * * * *',
    jobTemplate: {
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i:1' }] } } },
    },
  },
});

function deprecatedVersions(server: () => TestServer): void {
  it('warn whoever uses them, whatever the verb', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `/apis/batch/v1beta1/namespaces/${namespace}/cronjobs`;
    const replies = [
      await client.post(path, cronJob('batch/v1beta1', 'old')),
      await client.get(path),
      await client.get(`${path}/old`),
      await client.patch(`${path}/old`, { spec: { suspend: true } }),
      await client.delete(`${path}/old`),
    ];
    for (const { headers, text } of replies) assert.equal(headers['warning'], `299 - "${DEPRECATED}"`, text);
  });

  it('do not warn those who use what took their place', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const reply = await client.post(`/apis/batch/v1/namespaces/${namespace}/cronjobs`, cronJob('batch/v1', 'new'));
    created(reply);
    assert.equal(reply.headers['warning'], undefined);
  });

  it('stand beside other warnings', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const body = { ...cronJob('batch/v1beta1', 'both'), colour: 'red' };
    const { headers } = await client.post(`/apis/batch/v1beta1/namespaces/${namespace}/cronjobs`, body);
    assert.equal(headers['warning'], `299 - "${DEPRECATED}", 299 - "unknown field \\"colour\\""`);
  });

  it('are counted from the first request on, with the release that drops them', async () => {
    const { client } = server();
    const labels = { group: 'policy', version: 'v1beta1', resource: 'poddisruptionbudgets', removed_release: '1.25' };
    assert.equal(await server().metric('apiserver_requested_deprecated_apis', labels), 0);
    ok(await client.get('/apis/policy/v1beta1/poddisruptionbudgets'));
    ok(await client.get('/apis/policy/v1beta1/poddisruptionbudgets'));
    assert.equal(await server().metric('apiserver_requested_deprecated_apis', { ...labels, subresource: '' }), 1);
  });
}

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** What an older release, or another program, has left in the store. */
function storedVersions(server: () => TestServer): void {
  let store: KeyValueStore | undefined;
  before(async () => {
    store = await openEtcdStore({ endpoints: [server().etcd?.url ?? ''], log: quiet, observe: () => undefined });
  });
  after(() => store?.close());

  const keyOf = (namespace: string, name: string): string => `/registry/batch/cronjobs/${namespace}/${name}`;
  async function put(key: string, value: string): Promise<void> {
    const operations = [{ type: 'put', key, value: Buffer.from(value) }] as const;
    await store?.transact({ conditions: [{ key, modRevision: NO_REVISION }], operations }, AbortSignal.timeout(5_000));
  }
  const stored = async (key: string): Promise<string> =>
    (await store?.get(key, {}, AbortSignal.timeout(5_000)))?.kv?.value.toString() ?? '';

  it('are shown in every served version, and written anew by the first write, also by one that changes nothing', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `/apis/batch/v1/namespaces/${namespace}/cronjobs`;
    const metadata = { uid: '7e4c3d1e-0000-4000-8000-000000000001', name: 'old', namespace };
    await put(keyOf(namespace, 'old'), JSON.stringify({ ...cronJob('batch/v1beta1', 'old'), metadata }));
    const shown = ok(await client.get(`${path}/old`));
    assert.equal(shown['apiVersion'], 'batch/v1');
    assert.equal(shown.metadata.uid, metadata.uid);
    assert.deepEqual(namesIn(ok(await client.get(path))), ['old']);
    assert.match(await stored(keyOf(namespace, 'old')), /"apiVersion":"batch\/v1beta1"/);
    const written = ok(await client.put(`${path}/old`, shown));
    assert.notEqual(written.metadata.resourceVersion, shown.metadata.resourceVersion);
    assert.match(await stored(keyOf(namespace, 'old')), /^\{"kind":"CronJob","apiVersion":"batch\/v1","metadata":/);
    const again = ok(await client.put(`${path}/old`, written));
    assert.equal(again.metadata.resourceVersion, written.metadata.resourceVersion);
  });

  it('that cannot be read are left out, and do not stand in the way of the rest', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `/apis/batch/v1/namespaces/${namespace}/cronjobs`;
    await put(keyOf(namespace, 'broken'), '{"kind":');
    await put(keyOf(namespace, 'strange'), '{"kind":"CronJob","apiVersion":"batch/v9","metadata":{"name":"strange"}}');
    created(await client.post(path, cronJob('batch/v1', 'good')));
    assert.deepEqual(namesIn(ok(await client.get(path))), ['good']);
    assert.equal((await client.get(`${path}/broken`)).code, 404);
  });
}

onServer('stored versions', { store: 'etcd' }, storedVersions);
onServer('deprecated versions', { store: 'embedded' }, deprecatedVersions);
