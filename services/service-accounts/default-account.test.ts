import assert from 'node:assert/strict';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { Controller } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { openDefaultAccount } from './default-account.js';

const { namespaces, serviceAccounts } = builtInTypes(vocabulary('platform'));
const never = new AbortController().signal;

describe('the controller of default accounts', () => {
  let cluster: FakeCluster;
  let controller: Controller;
  beforeEach(() => {
    cluster = new FakeCluster();
    controller = openDefaultAccount({}, cluster.deps());
  });
  const namespace = (name: string, more: object = {}): unknown =>
    cluster.put(namespaces, { metadata: { name }, ...more });

  it('makes one in each active namespace', async () => {
    namespace('a');
    namespace('b', { status: { phase: 'Active' } });
    namespace('c', { status: { phase: 'Terminating' } });
    cluster.put(namespaces, { metadata: { name: 'd', deletionTimestamp: '2026-01-01T00:00:00Z' } });
    await cluster.settle(controller);
    assert.deepEqual(cluster.asked, ['create serviceaccounts a/default', 'create serviceaccounts b/default']);
  });

  it('makes it again when it is deleted, and minds no other account', async () => {
    namespace('a');
    await cluster.settle(controller);
    cluster.put(serviceAccounts, { metadata: { name: 'other', namespace: 'a' } });
    cluster.remove(serviceAccounts, 'a/other');
    assert.equal(cluster.queued.size, 0);
    cluster.remove(serviceAccounts, 'a/default');
    await cluster.settle(controller);
    assert.equal(cluster.get(serviceAccounts, 'a/default') === undefined, false);
  });

  it('asks nothing where there is one', async () => {
    cluster.put(serviceAccounts, { metadata: { name: 'default', namespace: 'a' } });
    namespace('a');
    await cluster.settle(controller);
    assert.deepEqual(cluster.asked, []);
  });

  for (const [reason, causes] of [
    ['AlreadyExists', []],
    ['NotFound', []],
    ['Forbidden', ['NamespaceTerminating']],
  ] as const) {
    it(`is done when the server answers ${[reason, ...causes].join(', ')}`, async () => {
      namespace('a');
      cluster.refuse(/^create/, reason, causes);
      assert.equal(await controller.reconcile('a', never), undefined);
    });
  }

  it('tries again after anything else', async () => {
    namespace('a');
    for (const reason of ['Forbidden', 'InternalError', 'Conflict'] as const) {
      cluster.refuse(/^create/, reason);
      await assert.rejects(controller.reconcile('a', never), new RegExp(reason));
    }
  });
});
