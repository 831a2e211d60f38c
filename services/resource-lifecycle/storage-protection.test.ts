import assert from 'node:assert/strict';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { Controller } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { openClaimProtection, openVolumeProtection } from './storage-protection.js';

const { persistentVolumeClaims: claims, persistentVolumes: volumes, pods } = builtInTypes(vocabulary('platform'));
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };

describe('the protection of claims', () => {
  const FINALIZER = 'platform.io/pvc-protection';
  let cluster: FakeCluster;
  let controller: Controller;
  beforeEach(() => {
    cluster = new FakeCluster();
    controller = openClaimProtection({}, cluster.deps());
  });
  const claim = (name: string, metadata: object = {}): unknown =>
    cluster.put(claims, { metadata: { name, namespace: 'ns', finalizers: [FINALIZER], ...metadata } });
  const pod = (name: string, spec: object, namespace = 'ns'): unknown =>
    cluster.put(pods, { metadata: { name, namespace }, spec: { nodeName: 'node', ...spec } });
  const using = (claimName: string): object => ({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] });
  const finalizersOf = (name: string): readonly string[] | undefined =>
    cluster.get(claims, `ns/${name}`)?.metadata.finalizers;

  it('is given to a claim without it, beside the finalizers of others', async () => {
    claim('a', { finalizers: ['x/y'] });
    await cluster.settle(controller);
    assert.deepEqual(finalizersOf('a'), ['x/y', FINALIZER]);
  });

  it('is taken off a deleted claim that no pod uses', async () => {
    claim('a', { ...deleted, finalizers: ['x/y', FINALIZER] });
    pod('p', using('b'));
    pod('q', using('a'), 'another');
    await cluster.settle(controller);
    assert.deepEqual(finalizersOf('a'), ['x/y']);
  });

  it('asks nothing where there is nothing to do', async () => {
    claim('a');
    claim('b', { ...deleted, finalizers: [] });
    await cluster.settle(controller);
    assert.deepEqual(cluster.asked, []);
  });

  for (const [why, spec, isUsing] of [
    ['a pod uses it', using('a'), true],
    ['a pod that has ended, and is there still', { ...using('a'), phase: 'Succeeded' }, true],
    ['a pod without a node', { ...using('a'), nodeName: '' }, false],
    ['a pod whose volume it is', { volumes: [{ name: 'a', ephemeral: {} }] }, false],
    ['a pod with other volumes', { volumes: [{ name: 'a', emptyDir: {} }] }, false],
  ] as const) {
    it(`${isUsing ? 'stays' : 'goes'} with ${why}`, async () => {
      pod('p', spec);
      claim('a', deleted);
      await cluster.settle(controller);
      assert.deepEqual(finalizersOf('a'), isUsing ? [FINALIZER] : []);
    });
  }

  it('stays on the claim of a volume that lives as long as its pod', async () => {
    pod('p', { volumes: [{ name: 'v', ephemeral: {} }] });
    claim('p-v', deleted);
    await cluster.settle(controller);
    assert.deepEqual(finalizersOf('p-v'), [FINALIZER]);
  });

  it('goes when the last pod goes', async () => {
    claim('a', deleted);
    pod('p', using('a'));
    pod('q', using('a'));
    await cluster.settle(controller);
    cluster.remove(pods, 'ns/p');
    await cluster.settle(controller);
    assert.deepEqual(finalizersOf('a'), [FINALIZER]);
    cluster.remove(pods, 'ns/q');
    await cluster.settle(controller);
    assert.deepEqual(finalizersOf('a'), []);
  });

  it('stays when the server knows of a pod that the informer has not seen', async () => {
    claim('a', deleted);
    cluster.isLagging = true;
    pod('p', using('a'));
    await cluster.settle(controller);
    assert.deepEqual(finalizersOf('a'), [FINALIZER]);
  });

  it('is left as it is on a claim that was made anew', async () => {
    claim('a', { ...deleted, uid: 'old' });
    cluster.isLagging = true;
    cluster.remove(claims, 'ns/a');
    claim('a', { uid: 'new' });
    await cluster.settle(controller);
    assert.deepEqual(finalizersOf('a'), [FINALIZER]);
  });
});

describe('the protection of volumes', () => {
  const FINALIZER = 'platform.io/pv-protection';
  for (const [what, metadata, phase, expected] of [
    ['stays on one that is bound', { ...deleted, finalizers: [FINALIZER] }, 'Bound', [FINALIZER]],
    ['goes from one that is released', { ...deleted, finalizers: [FINALIZER, 'x/y'] }, 'Released', ['x/y']],
    ['goes from one without a phase', { ...deleted, finalizers: [FINALIZER] }, undefined, []],
    ['is given to one without it', {}, 'Bound', [FINALIZER]],
    ['stays on one that is not deleted', { finalizers: [FINALIZER] }, 'Available', [FINALIZER]],
    ['is not given to one that is deleted', { ...deleted, finalizers: ['x/y'] }, 'Available', ['x/y']],
  ] as const) {
    it(what, async () => {
      const cluster = new FakeCluster();
      const controller = openVolumeProtection({}, cluster.deps());
      cluster.put(volumes, { metadata: { name: 'v', ...metadata }, ...(phase && { status: { phase } }) });
      await cluster.settle(controller);
      assert.deepEqual(cluster.get(volumes, 'v')?.metadata.finalizers, expected);
    });
  }
});
