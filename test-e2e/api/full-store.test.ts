import assert from 'node:assert/strict';
import { startEtcd, type EtcdServer } from '../../services/storage/testing/start-etcd.js';
import { runTool } from '../support/program.js';
import type { Reply } from './tools/client.js';
import { configMap, configMapsIn, createConfigMap, newNamespace, ok, refused } from './tools/objects.js';
import { TestServer } from './tools/server.js';

const QUOTA_BYTES = 8 << 20;
const DATA = { a: 'x'.repeat(400_000) };
const FULL = /etcdserver: mvcc: database space exceeded/;

async function makeRoom(etcd: EtcdServer): Promise<void> {
  const { code, stdout, stderr } = await runTool(['etcd', 'alarms', '--disarm', `--etcd-servers=${etcd.url}`]);
  assert.deepEqual([code, stdout], [0, '1 alarms for space disarmed\n'], stderr);
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
      assert.equal(await server.metric('apiserver_storage_full'), 1);
      assert.ok((await server.metric('apiserver_storage_size_bytes')) > QUOTA_BYTES / 2);

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

      watch.close();

      await server.restart();
      assert.deepEqual(await ready(), [200, '[-]store-space failed: reason withheld'], 'it starts all the same');
      assert.equal(ok(await client.get(`${path}/c0`)).metadata.name, 'c0');
      const watchAgain = await client.watch(`${path}?watch=1`);
      assert.equal((await watchAgain.next()).object.metadata.name, 'c0');

      await makeRoom(etcd);
      const written = await createConfigMap(client, namespace, 'again', { data: DATA });
      assert.equal((await watchAgain.next()).object.metadata.resourceVersion, written.metadata.resourceVersion);
      ok(await client.put(`${path}/c0`, configMap('c0')));
      assert.deepEqual(await ready(), [200, '[+]store-space ok']);
      assert.equal(await server.metric('apiserver_storage_full'), 0);
      watchAgain.close();
    });
  });
}
