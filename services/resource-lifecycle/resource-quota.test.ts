import assert from 'node:assert/strict';
import type { DiscoveredResource } from '../client/discovery/discovery.js';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { ResourceType } from '../client/rest/resource-type.js';
import type { Controller, Reconciled } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import type { Pod, ResourceQuotaSpec, ResourceQuotaStatus } from '../machinery/types/generated/core.v1.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { openResourceQuota } from './resource-quota.js';

const { pods, services, configMaps, resourceQuotas } = builtInTypes(vocabulary('platform'));
const never = new AbortController().signal;
const PERIOD = 300_000;

const discovered = (type: ResourceType): DiscoveredResource => ({
  ...type,
  verbs: new Set(['list', 'watch', 'delete']),
  shortNames: [],
  categories: [],
  subresources: [],
  isPreferred: true,
});
const widgets: ResourceType = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true }; // prettier-ignore

describe('the status of quotas', () => {
  let cluster: FakeCluster;
  let controller: Controller;
  const delayed: string[] = [];
  beforeEach(() => {
    cluster = new FakeCluster();
    cluster.served = { resources: [configMaps, widgets].map(discovered), failed: [] };
    delayed.length = 0;
    const deps = cluster.deps();
    const queue = { ...deps.queue, addAfter: (key: string) => void delayed.push(key) };
    controller = openResourceQuota(
      { concurrentResourceQuotaSyncs: 1, resourceQuotaSyncPeriod: PERIOD },
      { ...deps, queue },
    );
  });

  const quota = (spec: ResourceQuotaSpec, status: ResourceQuotaStatus = {}, name = 'q'): unknown =>
    cluster.put(resourceQuotas, { metadata: { name, namespace: 'ns' }, spec, status });
  const make = (type: ResourceType, name: string, more: object = {}, namespace = 'ns'): unknown =>
    cluster.put(type, { metadata: { name, namespace }, ...more });
  const pod = (name: string, cpu = '1', phase = 'Running', namespace = 'ns'): unknown => {
    const containers = [{ name: 'c', resources: { requests: { cpu } } }];
    return make(pods, name, { spec: { containers }, status: { phase } } satisfies Pod, namespace);
  };
  const status = (): ResourceQuotaStatus | undefined => cluster.get(resourceQuotas, 'ns/q')?.status;
  const reconcile = (): Promise<Reconciled> => controller.reconcile('ns/q', never);
  const writes = (): readonly string[] => cluster.asked.filter((it) => it.startsWith('update'));

  it('counts thousands of pods with turns for others in between', async () => {
    for (let i = 0; i < 1_000; i++) pod(`p${i}`);
    quota({ hard: { pods: '2000', 'requests.cpu': '2000' } });
    let turns = 0;
    const counting = reconcile().finally(() => (turns = -turns));
    while (turns >= 0 && turns < 10_000) {
      turns++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await counting;
    assert.ok(turns <= -5, String(turns));
    assert.deepEqual(status()?.used, { pods: '1k', 'requests.cpu': '1k' });
  });

  it('counts what there is in the namespace, of what the quota names', async () => {
    pod('a');
    pod('b', '500m');
    pod('over', '4', 'Succeeded');
    pod('elsewhere', '9', 'Running', 'other');
    make(configMaps, 'c');
    make(configMaps, 'd');
    make(widgets, 'w');
    const hard = { pods: '5', 'requests.cpu': '10', 'count/pods': '9', configmaps: '7', 'count/widgets.example.com': '1', services: '0' }; // prettier-ignore
    quota({ hard });
    assert.deepEqual([...cluster.queued], ['ns/q']);
    assert.deepEqual(await reconcile(), { againInMs: PERIOD });
    const used = { configmaps: '2', 'count/pods': '3', 'count/widgets.example.com': '1', pods: '2', 'requests.cpu': '1500m', services: '0' }; // prettier-ignore
    assert.deepEqual(status(), { hard, used });
    assert.deepEqual(writes(), ['update resourcequotas/status ns/q']);
  });

  it('counts only what is in the scopes', async () => {
    pod('a');
    make(pods, 'b', { spec: { containers: [{ name: 'c' }] } });
    make(configMaps, 'c');
    quota({ hard: { pods: '5', configmaps: '1' }, scopes: ['BestEffort'] });
    await reconcile();
    assert.deepEqual(status()?.used, { configmaps: '0', pods: '1' });
  });

  it('leaves alone what is right, however it is written, and asks for nothing', async () => {
    pod('a');
    quota(
      { hard: { 'requests.cpu': '2', pods: '1' } },
      { hard: { pods: '1', 'requests.cpu': '2000m' }, used: { pods: '1', 'requests.cpu': '1000m' } },
    );
    assert.deepEqual(delayed, ['ns/q']);
    assert.deepEqual([...cluster.queued], []);
    assert.deepEqual(await reconcile(), { againInMs: PERIOD });
    assert.deepEqual(cluster.asked, []);
  });

  for (const [what, wrong] of [
    ['more than there is', { hard: { pods: '3' }, used: { pods: '2' } }],
    ['other limits', { hard: { pods: '4' }, used: { pods: '1' } }],
    ['a name too many', { hard: { pods: '3' }, used: { pods: '1', services: '1' } }],
    ['a limit too many', { hard: { pods: '3', services: '1' }, used: { pods: '1' } }],
    ['no use', { hard: { pods: '3' } }],
    ['no name', { hard: { pods: '3' }, used: {} }],
    ['nothing', {}],
  ] as const) {
    it(`is repaired when it says ${what}`, async () => {
      pod('a');
      quota({ hard: { pods: '3' } }, wrong);
      await reconcile();
      assert.deepEqual(status(), { hard: { pods: '3' }, used: { pods: '1' } });
    });
  }

  it('keeps what it said of names that count nothing, or a type that is not known', async () => {
    quota(
      { hard: { pods: '3', odd: '1', 'count/gadgets.example.com': '4' } },
      { hard: { pods: '3' }, used: { 'count/gadgets.example.com': '3', pods: '1' } },
    );
    await reconcile();
    assert.deepEqual(status()?.used, { 'count/gadgets.example.com': '3', pods: '0' });
  });

  it('counts no events', async () => {
    const { events } = builtInTypes(vocabulary('platform'));
    cluster.served = { resources: [discovered(events)], failed: [] };
    make(events, 'e');
    quota({ hard: { 'count/events': '3', pods: '1' } });
    await reconcile();
    assert.deepEqual(status()?.used, { pods: '0' });
  });

  it('is counted from lists where informers are behind', async () => {
    quota({ hard: { pods: '3' } });
    cluster.isLagging = true;
    pod('a');
    await reconcile();
    assert.deepEqual(status()?.used, { pods: '1' });
  });

  it('stays when only informers are behind', async () => {
    cluster.isLagging = true;
    pod('a');
    cluster.isLagging = false;
    quota({ hard: { pods: '3' } }, { hard: { pods: '3' }, used: { pods: '1' } });
    await reconcile();
    assert.deepEqual(cluster.asked, ['list resourcequotas ns', 'list pods ns']);
    assert.deepEqual(status()?.used, { pods: '1' });
    assert.deepEqual(writes(), []);
  });

  it('is not taken back to before a charge that came meanwhile', async () => {
    pod('a');
    quota({ hard: { pods: '3' } });
    cluster.refuse(/^update resourcequotas\/status/, 'Conflict');
    assert.deepEqual(await reconcile(), { againInMs: 1000 });
    assert.deepEqual(status(), {});
    await reconcile();
    assert.deepEqual(status()?.used, { pods: '1' });
  });

  it('is read before what it counts', async () => {
    quota({ hard: { pods: '3', services: '1' } });
    await reconcile();
    assert.deepEqual(cluster.asked, [
      'list resourcequotas ns',
      'list pods ns',
      'list services ns',
      'update resourcequotas/status ns/q',
    ]);
  });

  it('is looked at when something that it counts goes or uses another amount', async () => {
    pod('a');
    pod('b');
    make(services, 's');
    make(configMaps, 'c');
    quota({ hard: { pods: '3', configmaps: '1' } });
    quota({ hard: { services: '3' } }, {}, 'other');
    await reconcile();
    const looked = (change: () => unknown): readonly string[] => {
      delayed.length = 0;
      change();
      return delayed;
    };
    assert.deepEqual(looked(() => pod('a', '1', 'Succeeded')), ['ns/q']); // prettier-ignore
    assert.deepEqual(
      looked(() => pod('b', '1', 'Pending')),
      [],
    );
    assert.deepEqual(looked(() => cluster.remove(pods, 'ns/b')), ['ns/q']); // prettier-ignore
    assert.deepEqual(looked(() => cluster.remove(configMaps, 'ns/c')), ['ns/q']); // prettier-ignore
    assert.deepEqual(looked(() => cluster.remove(services, 'ns/s')), ['ns/other']); // prettier-ignore
  });

  it('fails when a list does, and writes nothing', async () => {
    quota({ hard: { pods: '3', configmaps: '1' } });
    cluster.refuse(/^list pods/, 'InternalError');
    await assert.rejects(reconcile);
    assert.deepEqual(status(), {});
  });

  it('forgets types that are no longer served, and says of them what it said', async () => {
    make(widgets, 'w');
    quota({ hard: { 'count/widgets.example.com': '1', pods: '1' } });
    await reconcile();
    cluster.served = { resources: [], failed: ['example.com/v1'] };
    await reconcile();
    cluster.served = { resources: [], failed: [] };
    await reconcile();
    delayed.length = 0;
    cluster.remove(widgets, 'ns/w');
    await reconcile();
    assert.deepEqual(delayed, []);
    assert.deepEqual(status()?.used, { 'count/widgets.example.com': '1', pods: '0' });
  });

  it('is left alone when the quota is gone or going', async () => {
    assert.equal(await reconcile(), undefined);
    quota({ hard: { pods: '3' } });
    cluster.isLagging = true;
    cluster.remove(resourceQuotas, 'ns/q');
    await reconcile();
    cluster.isLagging = false;
    const metadata = { name: 'q', namespace: 'ns', deletionTimestamp: '2026-01-01T00:00:00Z' };
    cluster.put(resourceQuotas, { metadata, spec: { hard: { pods: '3' } } });
    await reconcile();
    assert.deepEqual(writes(), []);
  });
});
