import assert from 'node:assert/strict';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { Controller } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { openRoleAggregation } from './cluster-role-aggregation.js';

const { clusterRoles } = builtInTypes(vocabulary('platform'));
const never = new AbortController().signal;
const rule = (resource: string): object => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });

describe('the controller of role aggregation', () => {
  let cluster: FakeCluster;
  let controller: Controller;
  beforeEach(() => {
    cluster = new FakeCluster();
    controller = openRoleAggregation({}, cluster.deps());
  });
  const role = (name: string, labels: Record<string, string>, ...resources: string[]): unknown =>
    cluster.put(clusterRoles, { metadata: { name, labels }, rules: resources.map(rule) });
  const gathering = (name: string, label: string, labels: Record<string, string> = {}): unknown =>
    cluster.put(clusterRoles, {
      metadata: { name, labels },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: 'true' } }] },
    });
  const rulesOf = (name: string): unknown => cluster.get(clusterRoles, name)?.rules;

  it('fills a role from those that it selects, and again with every change of them', async () => {
    gathering('all', 'a');
    role('two', { a: 'true' }, 'secrets');
    role('one', { a: 'true' }, 'pods');
    role('other', {}, 'nodes');
    await cluster.settle(controller);
    assert.deepEqual(rulesOf('all'), [rule('pods'), rule('secrets')]);
    role('one', {}, 'pods');
    await cluster.settle(controller);
    assert.deepEqual(rulesOf('all'), [rule('secrets')]);
    cluster.remove(clusterRoles, 'two');
    await cluster.settle(controller);
    assert.deepEqual(rulesOf('all'), []);
  });

  it('fills roles from roles that are filled', async () => {
    gathering('top', 'b');
    gathering('middle', 'a', { b: 'true' });
    role('one', { a: 'true' }, 'pods');
    await cluster.settle(controller);
    assert.deepEqual(rulesOf('top'), [rule('pods')]);
  });

  it('writes only what differs, and the rules alone', async () => {
    gathering('all', 'a');
    role('one', { a: 'true' }, 'pods');
    await cluster.settle(controller);
    assert.deepEqual(cluster.asked, ['apply clusterroles all']);
    role('unrelated', {}, 'nodes');
    await cluster.settle(controller);
    assert.deepEqual(cluster.asked, ['apply clusterroles all']);
    const { aggregationRule } = cluster.get(clusterRoles, 'all') ?? assert.fail();
    assert.deepEqual(aggregationRule, { clusterRoleSelectors: [{ matchLabels: { a: 'true' } }] });
  });

  it('leaves the rules of other roles alone', async () => {
    role('own', { a: 'true' }, 'pods');
    assert.equal(await controller.reconcile('own', never), undefined);
    assert.equal(await controller.reconcile('none', never), undefined);
    assert.deepEqual(cluster.asked, []);
  });

  it('writes nothing onto a state that it has not seen', async () => {
    gathering('all', 'a');
    role('one', { a: 'true' }, 'pods');
    cluster.isLagging = true;
    gathering('all', 'b');
    await controller.reconcile('all', never);
    assert.equal(rulesOf('all'), undefined);
    cluster.catchUp();
    await cluster.settle(controller);
    assert.equal(rulesOf('all'), undefined);
  });

  it('tries again what fails otherwise', async () => {
    gathering('all', 'a');
    role('one', { a: 'true' }, 'pods');
    cluster.refuse(/^apply/, 'Forbidden');
    await assert.rejects(controller.reconcile('all', never), /Forbidden/);
  });
});
