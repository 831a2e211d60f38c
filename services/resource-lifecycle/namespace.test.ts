import assert from 'node:assert/strict';
import type { DiscoveredResource } from '../client/discovery/discovery.js';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { ResourceType } from '../client/rest/resource-type.js';
import type { Controller } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { openNamespace } from './namespace.js';

const types = builtInTypes(vocabulary('platform'));
const { namespaces, configMaps, secrets, services, pods } = types;
const never = new AbortController().signal;
const DELETED = '2026-01-01T00:00:00Z';

const served = (type: ResourceType, more: Partial<DiscoveredResource> = {}): DiscoveredResource => ({
  ...type,
  verbs: new Set(['list', 'delete', 'deletecollection']),
  shortNames: [],
  categories: [],
  subresources: [],
  isPreferred: true,
  ...more,
});

describe('the namespace controller', () => {
  let cluster: FakeCluster;
  let controller: Controller;
  beforeEach(() => {
    cluster = new FakeCluster();
    cluster.served = { resources: [served(configMaps), served(secrets)], failed: [] };
    controller = openNamespace({ concurrentNamespaceSyncs: 1 }, cluster.deps());
  });
  const namespace = (
    name: string,
    metadata: object = { deletionTimestamp: DELETED },
    finalizers = ['platform'],
  ): unknown => cluster.put(namespaces, { metadata: { name, ...metadata }, spec: { finalizers } });
  const put = (type: ResourceType, name: string, metadata: object = {}): unknown =>
    cluster.put(type, { metadata: { name, namespace: 'a', ...metadata } });
  const finalizersOf = (name: string): unknown => cluster.get(namespaces, name)?.spec?.finalizers;
  const conditionsOf = (name: string): ReadonlyMap<string, string> =>
    new Map(
      (cluster.get(namespaces, name)?.status?.conditions ?? []).map(({ type = '', message = '' }) => [type, message]),
    );
  const writes = (): readonly string[] => cluster.asked.filter((it) => !/^(?:get|list) /.test(it));

  it('deletes what is there, and then lets the namespace go', async () => {
    put(configMaps, 'one');
    put(configMaps, 'two');
    cluster.put(configMaps, { metadata: { name: 'one', namespace: 'b' } });
    namespace('a');
    await cluster.settle(controller);
    assert.deepEqual(writes(), ['deletecollection configmaps a', 'update namespaces/finalize a']);
    assert.deepEqual(finalizersOf('a'), []);
    assert.equal(cluster.list(configMaps).length, 1);
  });

  it('asks once for each type that is empty', async () => {
    namespace('a');
    await cluster.settle(controller);
    assert.deepEqual(cluster.asked, ['list configmaps a', 'list secrets a', 'get namespaces a', 'update namespaces/finalize a']); // prettier-ignore
  });

  it('leaves alone what is not deleted, and what others keep', async () => {
    put(configMaps, 'one');
    namespace('a', {});
    namespace('b', { deletionTimestamp: DELETED }, ['example.com/mine']);
    cluster.queued.add('a').add('none');
    await cluster.settle(controller);
    assert.deepEqual(cluster.asked, []);
  });

  it('keeps the finalizers of others', async () => {
    namespace('a', { deletionTimestamp: DELETED }, ['platform', 'example.com/mine']);
    await cluster.settle(controller);
    assert.deepEqual(finalizersOf('a'), ['example.com/mine']);
  });

  it('says what is left, comes again, and goes on when it is gone', async () => {
    put(configMaps, 'kept', { finalizers: ['x/y'] });
    namespace('a');
    cluster.queued.clear();
    const first = await controller.reconcile('a', never);
    const second = await controller.reconcile('a', never);
    assert.ok(first !== undefined && second !== undefined && second.againInMs > first.againInMs);
    assert.deepEqual(finalizersOf('a'), ['platform']);
    assert.equal(
      conditionsOf('a').get('NamespaceContentRemaining'),
      'Some resources are remaining: configmaps. has 1 resource instances',
    );
    assert.match(conditionsOf('a').get('NamespaceFinalizersRemaining') ?? '', /x\/y in 1 resource instances/);
    assert.equal(
      writes().filter((it) => it === 'update namespaces/status a').length,
      1,
      'only what changes is written',
    );
    cluster.remove(configMaps, 'a/kept');
    assert.equal(await controller.reconcile('a', never), undefined);
    assert.deepEqual(finalizersOf('a'), []);
  });

  it('does not delete again what is being deleted', async () => {
    put(configMaps, 'kept', { finalizers: ['x/y'], deletionTimestamp: DELETED });
    namespace('a');
    await controller.reconcile('a', never);
    assert.equal(writes().includes('deletecollection configmaps a'), false);
  });

  it('waits for half of the grace period that objects have', async () => {
    put(configMaps, 'pod', { finalizers: ['x/y'], deletionTimestamp: DELETED, deletionGracePeriodSeconds: 10 });
    namespace('a');
    assert.deepEqual(await controller.reconcile('a', never), { againInMs: 5_000 });
  });

  it('deletes one by one where there is no way to delete all', async () => {
    cluster.served = { resources: [served(services, { verbs: new Set(['list', 'delete']) })], failed: [] };
    put(services, 'one');
    put(services, 'two');
    namespace('a');
    cluster.refuse(/^delete services a\/one/, 'NotFound');
    await controller.reconcile('a', never);
    assert.deepEqual(writes().slice(0, 2), ['delete services a/one', 'delete services a/two']);
  });

  it('passes over types that cannot be emptied, are not of namespaces, or are there in another version', async () => {
    cluster.served = {
      resources: [
        served(pods, { verbs: new Set(['list']) }),
        served(secrets, { verbs: new Set(['delete']) }),
        served(services, { isPreferred: false }),
        served(namespaces, { namespaced: false }),
        served(configMaps),
      ],
      failed: [],
    };
    namespace('a');
    await cluster.settle(controller);
    assert.deepEqual(
      cluster.asked.filter((it) => it.startsWith('list')),
      ['list configmaps a'],
    );
  });

  it('does not let a namespace go while a group cannot be discovered', async () => {
    cluster.served = { resources: [served(configMaps)], failed: ['metrics.io/v1'] };
    put(configMaps, 'one');
    namespace('a');
    assert.notEqual(await controller.reconcile('a', never), undefined);
    assert.deepEqual(finalizersOf('a'), ['platform']);
    assert.equal(cluster.list(configMaps).length, 0, 'what is known is deleted');
    assert.match(conditionsOf('a').get('NamespaceDeletionDiscoveryFailure') ?? '', /metrics\.io\/v1/);
  });

  it('tells of what cannot be deleted, empties the rest, and tries again', async () => {
    put(configMaps, 'one');
    put(secrets, 'one');
    namespace('a');
    cluster.refuse(/^deletecollection configmaps/, 'Forbidden');
    await assert.rejects(controller.reconcile('a', never), /could not be emptied: configmaps\.: Forbidden/);
    assert.equal(cluster.list(secrets).length, 0);
    assert.match(conditionsOf('a').get('NamespaceDeletionContentFailure') ?? '', /configmaps\.: Forbidden/);
    assert.deepEqual(finalizersOf('a'), ['platform']);
  });

  it('takes a type that went meanwhile for empty', async () => {
    namespace('a');
    cluster.refuse(/^list secrets/, 'NotFound');
    await cluster.settle(controller);
    assert.deepEqual(finalizersOf('a'), []);
  });

  it('does nothing to a namespace that was made anew', async () => {
    namespace('a', { deletionTimestamp: DELETED, uid: 'old' });
    cluster.isLagging = true;
    cluster.remove(namespaces, 'a');
    cluster.put(namespaces, { metadata: { name: 'a', uid: 'new' }, spec: { finalizers: ['platform'] } });
    await controller.reconcile('a', never);
    assert.deepEqual(finalizersOf('a'), ['platform']);
  });
});
