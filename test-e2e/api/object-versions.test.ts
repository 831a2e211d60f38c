import assert from 'node:assert/strict';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { namesIn } from './tools/document.js';
import { created, newNamespace, ok, refused } from './tools/objects.js';
import { onBothStores, type TestServer } from './tools/server.js';

type Server = () => TestServer;

const words = vocabulary('platform');

function versions(server: Server): void {
  it('an event is one object in the core group and in its own', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const group = `/apis/${words.translate('events.platform.io')}/v1/namespaces/${namespace}/events`;
    const core = `/api/v1/namespaces/${namespace}/events`;
    created(
      await client.post(core, {
        metadata: { name: 'e' },
        involvedObject: { kind: 'Pod', name: 'p', namespace },
        reason: 'R',
        message: 'what happened',
        type: 'Normal',
        source: { component: 'c', host: 'h' },
        count: 3,
      }),
    );
    const seen = ok(await client.get(`${group}/e`));
    const { regarding, note, deprecatedSource, deprecatedCount } = seen;
    assert.equal(seen.apiVersion, `${words.translate('events.platform.io')}/v1`);
    assert.deepEqual(
      [regarding, note, deprecatedSource, deprecatedCount],
      [{ kind: 'Pod', name: 'p', namespace }, 'what happened', { component: 'c', host: 'h' }, 3],
    );
    assert.equal(seen['involvedObject'], undefined);
    assert.equal(ok(await client.get(`${core}/e`)).metadata.resourceVersion, seen.metadata.resourceVersion);
    ok(await client.delete(`${group}/e`));
    refused(await client.get(`${core}/e`), 404, 'NotFound');
  });

  it('an endpoint slice has its older and its newer form', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const group = words.translate('discovery.platform.io');
    const at = (version: string): string => `/apis/${group}/${version}/namespaces/${namespace}/endpointslices`;
    const endpoint = { addresses: ['10.0.0.1'], nodeName: 'n1', zone: 'z1' };
    const body = { metadata: { name: 's' }, addressType: 'IPv4', endpoints: [endpoint], ports: [] };
    created(await client.post(at('v1'), body));
    const older = ok(await client.get(`${at('v1beta1')}/s`));
    assert.equal(older.apiVersion, `${group}/v1beta1`);
    const [shown] = older['endpoints'] as { topology?: Record<string, string>; nodeName?: string; zone?: string }[];
    assert.equal(shown?.zone, undefined);
    assert.ok(Object.values(shown?.topology ?? {}).includes('z1'), JSON.stringify(shown));
    ok(await client.put(`${at('v1beta1')}/s`, { ...older, metadata: { ...older.metadata, labels: { x: 'y' } } }));
    const newer = ok(await client.get(`${at('v1')}/s`));
    const [again] = newer['endpoints'] as { zone?: string; nodeName?: string }[];
    assert.deepEqual([again?.zone, again?.nodeName, newer.metadata.labels], ['z1', 'n1', { x: 'y' }]);
  });

  it('an autoscaler keeps what the older version cannot say', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const at = (version: string): string => `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers`; // prettier-ignore
    const metrics = [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
      { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
    ];
    const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
    created(
      await client.post(at('v2'), { metadata: { name: 'h' }, spec: { scaleTargetRef, maxReplicas: 3, metrics } }),
    );
    const one = ok(await client.get(`${at('v1')}/h`));
    assert.deepEqual([one.apiVersion, one.spec['targetCPUUtilizationPercentage']], ['autoscaling/v1', 60]);
    ok(await client.put(`${at('v1')}/h`, { ...one, spec: { ...one.spec, maxReplicas: 4 } }));
    const two = ok(await client.get(`${at('v2')}/h`));
    const byName = (list: unknown): string[] => (list as { resource: { name: string } }[]).map((m) => m.resource.name).sort(); // prettier-ignore
    assert.deepEqual([two.spec['maxReplicas'], byName(two.spec['metrics'])], [4, ['cpu', 'memory']]);
    assert.deepEqual(ok(await client.patch(`${at('v2beta2')}/h`, { spec: { minReplicas: 2 } })).spec['minReplicas'], 2);
    assert.equal(namesIn(ok(await client.get(at('v2beta1')))).join(), 'h');
  });
}

onBothStores('versions of one object', [], (server) => versions(server));
