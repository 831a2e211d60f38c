import assert from 'node:assert/strict';
import { startEtcd, type EtcdServer } from '../../services/storage/testing/start-etcd.js';
import type { Reply } from './tools/client.js';
import { configMap, configMapsIn, createConfigMap, newNamespace, ok, refused } from './tools/objects.js';
import { TestServer } from './tools/server.js';

const QUOTA_BYTES = 8 << 20;
const DATA = { a: 'x'.repeat(400_000) };
const FULL = /etcdserver: mvcc: database space exceeded/;

/** etcd's own maintenance, over its JSON gateway. */
async function maintain(etcd: EtcdServer, call: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${etcd.url}/v3/${call}`, { method: 'POST', body: JSON.stringify(body) });
  assert.equal(answer.status, 200, await answer.clone().text());
  return (await answer.json()) as Record<string, unknown>;
}

async function makeRoom(etcd: EtcdServer): Promise<void> {
  const { header } = await maintain(etcd, 'kv/range', { key: Buffer.from('/').toString('base64') });
  await maintain(etcd, 'kv/compaction', { revision: (header as { revision: string }).revision, physical: true });
  await maintain(etcd, 'maintenance/defragment', {});
  const { alarms } = await maintain(etcd, 'maintenance/alarm', { action: 'GET' });
  for (const alarm of alarms as object[]) await maintain(etcd, 'maintenance/alarm', { action: 'DEACTIVATE', ...alarm });
}

for (const version of ['3.5', '3.4'] as const) {
  describe(`a server on a full etcd ${version}`, function () {
    this.timeout(90_000);
    let etcd: EtcdServer;
    let server: TestServer;
    before(async () => {
      etcd = await startEtcd({ version, args: [`--quota-backend-bytes=${QUOTA_BYTES}`] });
      server = await TestServer.start({ store: 'etcd', etcdUrl: etcd.url });
    });
    after(async () => {
      await server.close();
      await etcd.stop();
    });

    it('says what is full, reads, watches and deletes, and writes again when there is room', async () => {
      const { client } = server;
      const ready = async (): Promise<[number, string]> => {
        const { code, text } = await client.get('/readyz?verbose');
        return [code, /^.*store-space.*$/m.exec(text)?.[0] ?? ''];
      };
      assert.deepEqual(await ready(), [200, '[+]store-space ok']);
      const namespace = await newNamespace(client);
      const path = configMapsIn(namespace);
      const watch = await client.watch(`${path}?watch=1`);

      let refusal: Reply | undefined;
      let made = 0;
      for (; made < 40; made++) {
        const reply = await client.post(path, configMap(`c${made}`, { data: DATA }));
        if (reply.code === 201) continue;
        refusal = reply;
        break;
      }
      assert.ok(refusal !== undefined && made > 2, `${made} were made`);
      refused(refusal, 500, 'InternalError', FULL);
      refused(await client.put(`${path}/c0`, configMap('c0')), 500, 'InternalError', FULL);
      refused(await client.patch(`${path}/c0`, { data: { a: 'y' } }), 500, 'InternalError', FULL);
      assert.deepEqual(await ready(), [200, '[-]store-space failed: reason withheld']);

      const stored = ok(await client.get(path)).items.length;
      // etcd keeps the write that finds it full only when it is applied, and refuses it all the same.
      assert.ok(stored === made || stored === made + 1, `${made} were made and ${stored} stored`);
      assert.equal(ok(await client.get(`${path}/c1`)).metadata.name, 'c1');
      const names = (await watch.take(stored)).map(({ type, object }) => `${type} ${object.metadata.name}`);
      assert.deepEqual(
        names,
        Array.from({ length: stored }, (_, i) => `ADDED c${i}`),
      );
      const late = await client.watch(`${path}?watch=1&resourceVersion=0`);
      assert.equal((await late.take(stored)).length, stored);
      late.close();

      for (let i = 1; i < stored; i++) ok(await client.delete(`${path}/c${i}`));
      const gone = (await watch.take(stored - 1)).map(({ type, object }) => `${type} ${object.metadata.name}`);
      assert.deepEqual(
        gone,
        Array.from({ length: stored - 1 }, (_, i) => `DELETED c${i + 1}`),
      );

      await makeRoom(etcd);
      const written = await createConfigMap(client, namespace, 'again', { data: DATA });
      assert.equal((await watch.next()).object.metadata.resourceVersion, written.metadata.resourceVersion);
      ok(await client.put(`${path}/c0`, configMap('c0')));
      assert.deepEqual(await ready(), [200, '[+]store-space ok']);
      watch.close();
    });
  });
}
