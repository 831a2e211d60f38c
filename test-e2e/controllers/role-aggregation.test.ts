import assert from 'node:assert/strict';
import { created, eventually, ok } from '../api/tools/objects.js';
import { TestServer } from '../api/tools/server.js';

const ROLES = '/apis/rbac.authorization.platform.io/v1/clusterroles';

describe('aggregated roles', function () {
  this.timeout(60_000);
  let server: TestServer;
  before(async () => {
    server = await TestServer.start({ store: 'embedded', controllers: true });
  });
  after(() => server.close());

  const role = (name: string, labels: object, resource: string): object => ({
    apiVersion: 'rbac.authorization.platform.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules: [{ verbs: ['get'], apiGroups: ['example.com'], resources: [resource] }],
  });
  const resourcesOf = async (name: string): Promise<readonly string[]> => {
    const { rules } = ok(await server.client.get(`${ROLES}/${name}`)) as unknown as {
      rules: { resources: string[] }[];
    };
    return rules.flatMap(({ resources }) => resources);
  };

  it('take in a role that is made for them, change with it, and let it go', async () => {
    const labels = { 'rbac.authorization.platform.io/aggregate-to-view': 'true' };
    created(await server.client.post(ROLES, role('more-to-view', labels, 'widgets')));
    for (const name of ['view', 'edit', 'admin']) {
      await eventually(async () => ((await resourcesOf(name)).includes('widgets') ? true : undefined), 30_000);
    }
    ok(await server.client.put(`${ROLES}/more-to-view`, role('more-to-view', labels, 'gadgets')));
    await eventually(async () => ((await resourcesOf('admin')).includes('gadgets') ? true : undefined), 30_000);
    ok(await server.client.delete(`${ROLES}/more-to-view`));
    await eventually(async () => ((await resourcesOf('view')).includes('gadgets') ? undefined : true), 30_000);
  });

  it('are applied: the controller owns their rules', async () => {
    const labels = { 'rbac.authorization.platform.io/aggregate-to-view': 'true' };
    created(await server.client.post(ROLES, role('owned-view', labels, 'widgets')));
    await eventually(async () => ((await resourcesOf('view')).includes('widgets') ? true : undefined), 30_000);
    const { metadata } = ok(await server.client.get(`${ROLES}/view`));
    const managers = (metadata['managedFields'] ?? []) as { manager: string; operation: string; fieldsV1: object }[];
    const own = managers.find(({ manager }) => manager === 'clusterrole-aggregation-controller');
    assert.equal(own?.operation, 'Apply');
    assert.deepEqual(own.fieldsV1, { 'f:rules': {} });
  });
});
