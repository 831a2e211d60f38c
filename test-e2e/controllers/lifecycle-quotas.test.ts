import assert from 'node:assert/strict';
import type { ResourceQuota } from '../../services/machinery/types/generated/core.v1.js';
import { configMap, created, eventually, newNamespace, ok, pod } from '../api/tools/objects.js';
import { onServer } from '../api/tools/server.js';

const WITHIN_MS = 30_000;

onServer('quotas and their controller', { store: 'embedded', controllers: ['resourcequota'] }, (server) => {
  const quotaIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/resourcequotas/q`;
  const status = async (namespace: string): Promise<ResourceQuota['status']> =>
    (ok(await server().client.get(quotaIn(namespace))) as ResourceQuota).status;
  const becomes = (namespace: string, used: object): Promise<true> =>
    eventually(async () => {
      const shown = (await status(namespace))?.used;
      return JSON.stringify(shown) === JSON.stringify(used) ? true : undefined;
    }, WITHIN_MS);
  const quota = (hard: object): object => ({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } }); // prettier-ignore
  const make = async (namespace: string, resource: string, object: object): Promise<unknown> =>
    created(await server().client.post(`/api/v1/namespaces/${namespace}/${resource}`, object));

  it('count what there was before them, and follow their limits', async () => {
    const namespace = await newNamespace(server().client);
    await make(namespace, 'configmaps', configMap('a'));
    await make(namespace, 'pods', pod('p'));
    await make(namespace, 'resourcequotas', quota({ pods: '3', 'count/configmaps': '2' }));
    await becomes(namespace, { 'count/configmaps': '1', pods: '1' });
    assert.deepEqual((await status(namespace))?.hard, { 'count/configmaps': '2', pods: '3' });
    const hard = { 'count/configmaps': null, services: '1' };
    ok(await server().client.patch(quotaIn(namespace), { spec: { hard } }));
    await becomes(namespace, { pods: '1', services: '0' });
  });

  it('are repaired when something else wrote their status', async () => {
    const namespace = await newNamespace(server().client);
    await make(namespace, 'resourcequotas', quota({ configmaps: '5' }));
    await make(namespace, 'configmaps', configMap('a'));
    await becomes(namespace, { configmaps: '1' });
    ok(await server().client.patch(`${quotaIn(namespace)}/status`, { status: { used: { configmaps: '4' } } }));
    await becomes(namespace, { configmaps: '1' });
  });

  it('lose no charge that comes while they are repaired', async () => {
    const namespace = await newNamespace(server().client);
    await make(namespace, 'resourcequotas', quota({ configmaps: '50' }));
    const spoil = { status: { used: { configmaps: '0' } } };
    for (let i = 0; i < 40; i++) {
      await make(namespace, 'configmaps', configMap(`c${i}`));
      if (i % 10 === 5) ok(await server().client.patch(`${quotaIn(namespace)}/status`, spoil));
    }
    await becomes(namespace, { configmaps: '40' });
  });
});
