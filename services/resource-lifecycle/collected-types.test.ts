import assert from 'node:assert/strict';
import type { DiscoveredResource, Served } from '../client/discovery/discovery.js';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { ResourceType } from '../client/rest/resource-type.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { CollectedTypes } from './collected-types.js';

const { configMaps, secrets } = builtInTypes(vocabulary('platform'));
const never = new AbortController().signal;

const served = (type: ResourceType, more: Partial<DiscoveredResource> = {}): DiscoveredResource => ({
  ...type,
  verbs: new Set(['get', 'list', 'watch', 'delete']),
  shortNames: [],
  categories: [],
  subresources: [],
  isPreferred: true,
  ...more,
});
const things = (version = 'v1', more: Partial<DiscoveredResource> = {}): DiscoveredResource =>
  served({ group: 'example.com', version, resource: 'things', kind: 'Thing', namespaced: true }, more);

describe('CollectedTypes', () => {
  let cluster: FakeCluster;
  let types: CollectedTypes;
  let seen: string[];
  let changes: number;
  let change: () => void;
  let asked: (boolean | undefined)[];
  let stop: AbortController;
  let running: Promise<void> | undefined;

  beforeEach(() => {
    cluster = new FakeCluster();
    [seen, changes, asked, stop, running] = [[], 0, [], new AbortController(), undefined];
    const { informers, log } = cluster.deps();
    types = new CollectedTypes({
      discovery: {
        served: ({ fresh }) => {
          asked.push(fresh);
          return Promise.resolve(cluster.served);
        },
        resourceOf: () => Promise.resolve(undefined),
        listen: (changed) => {
          change = changed;
          return () => (change = () => undefined);
        },
      },
      informers: { ...informers, drop: ({ resource, version }) => void seen.push(`drop ${resource} ${version}`) },
      log,
      isFollowed: ({ verbs }) => verbs.has('watch'),
      sink: {
        observe: (type, { metadata }) => seen.push(`${type.version} ${metadata.name}`),
        remove: (type, { metadata }) => seen.push(`${type.version} ${metadata.name} goes`),
        lose: (type, { metadata }) => seen.push(`${type.version} ${metadata.name} is lost`),
      },
      changed: () => changes++,
    });
  });
  afterEach(async () => {
    stop.abort();
    await running;
  });
  const tick = async (): Promise<void> => {
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
  };
  const start = async (resources: readonly DiscoveredResource[]): Promise<void> => {
    cluster.served = { resources, failed: [] };
    await types.synced(never);
    running = types.run(() => false, stop.signal);
    await tick();
  };
  const becomes = async (next: Served): Promise<void> => {
    seen.length = 0;
    cluster.served = next;
    change();
    await tick();
  };
  const putThing = (name: string): unknown => cluster.put(things(), { metadata: { name, namespace: 'ns' } });

  it('follows what is served, and nothing else', async () => {
    cluster.put(configMaps, { metadata: { name: 'a', namespace: 'ns' } });
    cluster.put(secrets, { metadata: { name: 's', namespace: 'ns' } });
    await start([served(configMaps), served(secrets, { verbs: new Set(['get']) })]);
    cluster.remove(configMaps, 'ns/a');
    assert.deepEqual(seen, ['v1 a', 'v1 a goes']);
    assert.equal(types.ofKind('v1', 'Secret')?.resource, 'secrets');
    assert.equal(types.ofKind('v2', 'Secret'), undefined);
    assert.ok(types.isSynced(secrets));
    assert.ok(types.areSynced);
  });

  it('follows one version of a resource: the preferred one, and that for as long as it is served', async () => {
    putThing('t');
    await start([things('v1', { isPreferred: false }), things('v2')]);
    assert.deepEqual(seen, ['v2 t']);
    await becomes({ resources: [things('v1'), things('v2', { isPreferred: false })], failed: [] });
    assert.deepEqual(seen, []);
    await becomes({ resources: [things('v1')], failed: [] });
    assert.deepEqual(seen, ['drop things v2', 'v2 t is lost', 'v1 t']);
  });

  it('lets go of a type that is served no more', async () => {
    putThing('t');
    await start([served(configMaps), things()]);
    await becomes({ resources: [served(configMaps)], failed: [] });
    assert.deepEqual(seen, ['drop things v1', 'v1 t is lost']);
    putThing('u');
    assert.equal(seen.length, 2);
    assert.equal(types.ofKind('example.com/v1', 'Thing'), undefined);
  });

  it('keeps a type whose group cannot be asked', async () => {
    putThing('t');
    await start([served(configMaps), things()]);
    await becomes({ resources: [served(configMaps)], failed: ['example.com/v1'] });
    assert.deepEqual(seen, []);
    assert.equal(types.ofKind('example.com/v1', 'Thing')?.resource, 'things');
    assert.ok(!types.isPartial);
    await becomes({ resources: [served(configMaps)], failed: ['example.org/v1'] });
    assert.ok(types.isPartial);
    assert.equal(types.ofKind('example.com/v1', 'Thing'), undefined);
  });

  it('tells of what has changed, and of nothing else', async () => {
    await start([served(configMaps)]);
    changes = 0;
    await becomes({ resources: [served(configMaps)], failed: [] });
    assert.equal(changes, 0);
    await becomes({ resources: [served(configMaps), served(secrets, { verbs: new Set(['get']) })], failed: [] });
    assert.equal(changes, 1);
    assert.deepEqual(asked, [undefined, false, false, false]);
  });

  it('asks until the server tells', async () => {
    const syncing = types.synced(never);
    await tick();
    cluster.served = { resources: [served(configMaps)], failed: [] };
    await syncing;
    assert.equal(cluster.warnings.length, 1);
    assert.equal(types.ofKind('v1', 'ConfigMap')?.resource, 'configmaps');
  });
});
