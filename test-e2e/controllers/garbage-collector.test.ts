import assert from 'node:assert/strict';
import { eventually } from '../api/tools/objects.js';
import { TestServer } from '../api/tools/server.js';
import { stopped } from '../support/platform.js';
import { startControllers, type ControllerProcess } from './tools/controller-process.js';

const NAMESPACE = 'default';
const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`;
const MANY = 1_000;
const PATIENCE_MS = 60_000;
const BOTH = [CONFIG_MAPS, SECRETS] as const;

interface Shown {
  readonly metadata: { readonly name: string; readonly uid: string; readonly ownerReferences?: readonly unknown[] };
}

for (const store of ['embedded', 'etcd'] as const) {
  describe(`the garbage collector, ${store} store`, function () {
    this.timeout(180_000);
    let server: TestServer;
    let process: ControllerProcess;

    before(async () => {
      server = await TestServer.start({ store });
      const flags = ['--controllers=garbagecollector', '--use-service-account-credentials', '--leader-elect=false'];
      process = await startControllers(server, { user: 'collector', flags });
    });
    after(async () => {
      await stopped(process);
      await server.close();
    });

    const list = async (path: string, of: string): Promise<readonly Shown[]> =>
      (await server.client.get(`${path}${path.includes('?') ? '' : '?'}labelSelector=of%3D${of}`)).body.items;
    const create = async (path: string, name: string, metadata: object = {}): Promise<string> => {
      const { code, body } = await server.client.post(path, { metadata: { name, ...metadata } });
      assert.equal(code, 201);
      return (body as unknown as Shown).metadata.uid;
    };
    /** An owner with dependents of two types. */
    const family = async (owner: string): Promise<void> => {
      const uid = await create(CONFIG_MAPS, owner);
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid, blockOwnerDeletion: true };
      const names = Array.from({ length: MANY }, (_, i) => `${owner}-${i}`);
      for (let at = 0; at < names.length; at += 50) {
        await Promise.all(names.slice(at, at + 50).map((name, i) => create(BOTH[i % 2] ?? CONFIG_MAPS, name, { labels: { of: owner }, ownerReferences: [reference] }))); // prettier-ignore
      }
    };
    const dependents = async (owner: string): Promise<readonly Shown[]> =>
      (await Promise.all(BOTH.map((path) => list(path, owner)))).flat();
    const remove = async (owner: string, propagationPolicy: string): Promise<void> => {
      const { code } = await server.client.delete(`${CONFIG_MAPS}/${owner}`, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy }); // prettier-ignore
      assert.equal(code, 200);
    };
    const isGone = async (owner: string): Promise<boolean> =>
      (await server.client.get(`${CONFIG_MAPS}/${owner}`)).code === 404;
    const until = (check: () => Promise<boolean>): Promise<true> =>
      eventually(async () => ((await check()) ? true : undefined), PATIENCE_MS);

    it(`deletes ${MANY} dependents after their owner`, async () => {
      await family('background');
      await remove('background', 'Background');
      assert.ok(await isGone('background'));
      await until(async () => (await list(`${CONFIG_MAPS}?limit=1&`, 'background')).length === 0);
      await until(async () => (await dependents('background')).length === 0);
    });

    it(`deletes ${MANY} dependents before their owner`, async () => {
      await family('foreground');
      await remove('foreground', 'Foreground');
      await until(() => isGone('foreground'));
      assert.equal((await dependents('foreground')).length, 0);
    });

    it(`makes ${MANY} dependents objects of their own`, async () => {
      await family('orphan');
      await remove('orphan', 'Orphan');
      await until(() => isGone('orphan'));
      const left = await dependents('orphan');
      assert.equal(left.length, MANY);
      assert.ok(left.every(({ metadata }) => metadata.ownerReferences === undefined));
    });

    it('says so when an owner is in another namespace', async () => {
      const uid = await create('/api/v1/namespaces/platform-system/configmaps', 'elsewhere');
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'elsewhere', uid };
      await create(SECRETS, 'misled', { ownerReferences: [reference] });
      const message = `ownerRef [v1/ConfigMap, namespace: default, name: elsewhere, uid: ${uid}] does not exist in namespace "default"`;
      await eventually(async () => {
        const { items } = (await server.client.get(`/api/v1/namespaces/${NAMESPACE}/events`)).body as unknown as { items: { message?: string; note?: string; reason: string; type: string }[] }; // prettier-ignore
        return items.find((it) => it.reason === 'OwnerRefInvalidNamespace' && it.type === 'Warning' && it.message === message); // prettier-ignore
      }, PATIENCE_MS);
      await until(async () => (await server.client.get(`${SECRETS}/misled`)).code === 404);
    });
  });
}
