import assert from 'node:assert/strict';
import { loadCatalog } from '../../../machinery/types/catalog.js';
import { featureGates } from '../../../machinery/features/feature-gates.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { FieldError } from '../../../machinery/meta/status.js';
import { validations } from '../../registry/validation/table.js';
import { FlowScene, ask, askPath, user } from '../testing/flow-scene.js';
import { firstObjects } from './bootstrap-objects.js';

const ACCOUNTS = 'system:serviceaccounts';
const account = (namespace: string, name: string) =>
  user(`system:serviceaccount:${namespace}:${name}`, ACCOUNTS, `${ACCOUNTS}:${namespace}`, 'system:authenticated');
const node = user('system:node:n', 'system:nodes', 'system:authenticated');

for (const [words, system, manager, scheduler, coordination] of [
  ['kubernetes', 'kube-system', 'kube-controller-manager', 'kube-scheduler', 'coordination.k8s.io'],
  ['platform', 'platform-system', 'platform-controller-manager', 'platform-scheduler', 'coordination.platform.io'],
] as const) {
  describe(`firstObjects() in the words of ${words}`, () => {
    const vocabularyOf = vocabulary(words);
    const all = firstObjects(vocabularyOf);
    const scene = new FlowScene(600);
    scene.put(...all.map(({ object }) => object));
    const managerUser = user(`system:${manager}`, 'system:authenticated');
    const schedulerUser = user(`system:${scheduler}`, 'system:authenticated');
    const anonymous = user('system:anonymous', 'system:unauthenticated');

    for (const [what, who, asked, schema, level] of [
      ['administrators', user('a', 'system:masters'), ask('list', 'pods'), 'exempt', 'exempt'],
      ['the health of the server', anonymous, askPath('get', '/readyz'), 'probes', 'exempt'],
      ['one health check', anonymous, askPath('get', '/readyz/etcd'), 'global-default', 'global-default'],
      ['a lease of the controller manager', managerUser, ask('update', 'leases', system, coordination), 'system-leader-election', 'leader-election'], // prettier-ignore
      ['a lease of the scheduler', schedulerUser, ask('get', 'leases', system, coordination), 'system-leader-election', 'leader-election'], // prettier-ignore
      ['a lease of a system account', account(system, 'x'), ask('create', 'leases', 'any', coordination), 'system-leader-election', 'leader-election'], // prettier-ignore
      ['endpoints of the controller manager', managerUser, ask('update', 'endpoints', 'n'), 'endpoint-controller', 'workload-high'], // prettier-ignore
      ['endpoints of their controller', account(system, 'endpoint-controller'), ask('create', 'endpoints', 'n'), 'endpoint-controller', 'workload-high'], // prettier-ignore
      ['a config map of a system account', account(system, 'x'), ask('update', 'configmaps', 'n'), 'workload-leader-election', 'leader-election'], // prettier-ignore
      ['the status of a node', node, ask('patch', 'nodes/status'), 'system-node-high', 'node-high'],
      ['a lease of a node', node, ask('update', 'leases', 'any', coordination), 'system-node-high', 'node-high'],
      ['pods of a node', node, ask('list', 'pods'), 'system-nodes', 'system'],
      ['the controller manager', managerUser, ask('list', 'pods'), manager, 'workload-high'],
      ['the scheduler', schedulerUser, ask('list', 'pods'), scheduler, 'workload-high'],
      ['a system account', account(system, 'x'), ask('list', 'pods'), `${system}-service-accounts`, 'workload-high'],
      ['any account', account('n', 'x'), ask('list', 'pods'), 'service-accounts', 'workload-low'],
      ['a user', user('alice', 'system:authenticated'), ask('list', 'pods'), 'global-default', 'global-default'],
      ['nobody', anonymous, ask('list', 'pods'), 'global-default', 'global-default'],
    ] as const) {
      it(`sorts ${what} to ${schema}`, () => {
        const found = scene.control.schemaFor(who, asked);
        assert.deepEqual([found.spec.name, found.level.spec.name], [schema, level]);
      });
    }

    it('gives the levels their seats', () => {
      const seats = new Map<string, number>();
      for (const { object } of all) {
        if (object.kind !== 'PriorityLevelConfiguration' || object.metadata.name === 'exempt') continue;
        const { limited } = object['spec'] as { limited: { assuredConcurrencyShares: number } };
        seats.set(object.metadata.name ?? '', limited.assuredConcurrencyShares);
      }
      assert.deepEqual(Object.fromEntries(seats), {
        'catch-all': 5,
        'global-default': 20,
        'leader-election': 10,
        'node-high': 40,
        system: 30,
        'workload-high': 40,
        'workload-low': 100,
      });
    });

    it('proposes nothing that would be refused', () => {
      const catalog = loadCatalog(vocabularyOf, featureGates(new Map()).gates);
      const validationOf = validations({ vocabulary: vocabularyOf, types: catalog.types, allowPrivileged: true });
      for (const { resource, object } of all) {
        const hub = catalog.resources.find((r) => r.resource === resource && r.version === 'v1beta2');
        assert.ok(hub);
        const problems: FieldError[] = [];
        validationOf(hub).object?.(object, problems, object.apiVersion);
        assert.deepEqual(problems, [], object.metadata.name);
      }
      assert.equal(all.length, 8 + 13);
    });
  });
}
