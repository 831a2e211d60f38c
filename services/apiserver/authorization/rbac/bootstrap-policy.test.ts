import assert from 'node:assert/strict';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { bindingOf } from './bindings.js';
import { bootstrapPolicy, type PolicyObject, type PolicyResource } from './bootstrap-policy.js';
import { CompiledRole, questionOf } from './compiled-role.js';
import { rulesOf } from '../../../machinery/rbac/policy-rule.js';
import { ask } from './testing/rbac-scene.js';

for (const name of ['platform', 'kubernetes'] as const) {
  const words = vocabulary(name);
  const policy = bootstrapPolicy(words);
  const of = (resource: PolicyResource): readonly PolicyObject[] => policy.filter((o) => o.resource === resource);
  const clusterRole = (role: string): PolicyObject | undefined =>
    of('clusterroles').find(({ object }) => object.metadata.name === role);

  describe(`bootstrapPolicy() in the words of ${name}`, () => {
    it('has the objects that every installation has', () => {
      assert.equal(of('clusterroles').length, 67);
      assert.equal(of('clusterrolebindings').length, 48);
      assert.equal(of('roles').length, 14);
      assert.equal(of('rolebindings').length, 14);
    });

    it('marks each as its own, to be kept in line', () => {
      for (const { object } of policy) {
        assert.equal(object.metadata.labels?.[words.labels.bootstrapping], 'rbac-defaults');
        assert.deepEqual(object.metadata.annotations, { [words.annotations.rbacAutoupdate]: 'true' });
      }
    });

    it('has only roles whose every rule can be read', () => {
      for (const { object } of [...of('clusterroles'), ...of('roles')]) {
        const rules = object['rules'] as readonly unknown[];
        assert.ok(rules.length > 0, object.metadata.name);
        assert.equal(rulesOf(object).length, rules.length, object.metadata.name);
      }
    });

    it('binds only roles that are there', () => {
      for (const { resource, object } of [...of('clusterrolebindings'), ...of('rolebindings')]) {
        const { namespace = '' } = object.metadata;
        assert.equal(resource === 'rolebindings', namespace !== '');
        const ref = bindingOf(object, words.groups.rbac, namespace)?.roleRef;
        const roles = ref?.kind === 'Role' ? of('roles') : of('clusterroles');
        const found = roles.find(
          (r) => r.object.metadata.name === ref?.name && (r.object.metadata.namespace ?? namespace) === namespace,
        );
        assert.ok(found, object.metadata.name);
      }
    });

    it('lies in the first namespaces', () => {
      const namespaces = new Set(policy.flatMap(({ object }) => object.metadata.namespace ?? []));
      assert.deepEqual([...namespaces].sort(), [words.namespaces.public, words.namespaces.system].sort());
    });

    const allows = (role: string, verb: string, resource: string, group = ''): boolean =>
      new CompiledRole(rulesOf(clusterRole(role)?.object)).allows(questionOf(ask(verb, resource, 'a', 'x', group)));

    it('gives view, edit and admin the rules that they gather', () => {
      const rights = [
        ['get', 'pods', ''],
        ['get', 'secrets', ''],
        ['create', 'pods', ''],
        ['create', 'roles', words.groups.rbac],
      ] as const;
      const of = (role: string): boolean[] =>
        rights.map(([verb, resource, group]) => allows(role, verb, resource, group));
      assert.deepEqual(of('view'), [true, false, false, false]);
      assert.deepEqual(of('edit'), [true, true, true, false]);
      assert.deepEqual(of('admin'), [true, true, true, true]);
    });

    it('lets nobody who edits write endpoints, or quotas and namespaces', () => {
      for (const role of ['edit', 'admin']) {
        for (const resource of ['endpoints', 'resourcequotas', 'namespaces']) {
          assert.equal(allows(role, 'update', resource), false, `${role} ${resource}`);
        }
      }
    });

    it('speaks its own words only', () => {
      const text = JSON.stringify(policy);
      if (name === 'kubernetes') assert.doesNotMatch(text, /platform|nodeagent/i);
      else assert.doesNotMatch(text, /kube|k8s/i);
    });
  });
}
