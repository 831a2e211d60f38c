import assert from 'node:assert/strict';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { VerbScene, type Reply } from '../../../verbs/testing/scene.js';
import { AdmissionObjects } from '../../objects.js';
import { namespaceLifecycle } from './lifecycle.js';

const NAMESPACE = 'core/namespaces/ns';
const PATH = '/api/v1/namespaces/ns/configmaps';
const MERGE = 'application/merge-patch+json';

describe('namespaceLifecycle(), while its namespace changes', () => {
  let scene: VerbScene;
  beforeEach(async () => {
    scene = await VerbScene.open((core) => [
      namespaceLifecycle({ vocabulary: vocabulary('platform'), objects: new AdmissionObjects(core.resources, core.reader) }), // prettier-ignore
    ]);
    assert.equal((await scene.request('POST', '/api/v1/namespaces', { metadata: { name: 'ns' } })).code, 201);
    await scene.core.reader.whenFresh();
  });
  afterEach(() => scene.close());

  const create = (name: string, query = ''): Promise<Reply> =>
    scene.request('POST', `${PATH}${query}`, { metadata: { name } });
  const namespace = (phase: string, labels: object = {}): ApiObject =>
    ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'ns', labels },
      spec: {},
      status: { phase },
    }) as ApiObject;
  const names = async (): Promise<readonly (string | undefined)[]> =>
    (await scene.request('GET', PATH)).body.items.map(({ metadata }) => metadata.name);

  it('refuses what was admitted before it began to go', async () => {
    scene.races.beforeNext(() => scene.elsewhere(NAMESPACE, namespace('Terminating')));
    const { code, body } = await create('late');
    assert.equal(code, 403);
    const why = 'unable to create new content in namespace ns because it is being terminated';
    assert.equal(body.message, `configmaps "late" is forbidden: ${why}`);
    assert.deepEqual((body['details'] as { causes: { reason: string }[] }).causes.map(({ reason }) => reason), ['NamespaceTerminating']); // prettier-ignore
    assert.deepEqual(await names(), []);
  });

  it('refuses what was admitted before it was gone', async () => {
    scene.races.beforeNext(() => scene.elsewhere(NAMESPACE, undefined));
    const { code, body } = await create('late');
    assert.deepEqual([code, body.message], [404, 'namespaces "ns" not found']);
    assert.deepEqual(await names(), []);
  });

  it('refuses what an apply or a PUT would create then', async () => {
    for (const [method, type] of [
      ['PATCH', 'application/apply-patch+yaml'],
      ['PUT', 'application/json'],
    ] as const) {
      // prettier-ignore
      await scene.elsewhere(NAMESPACE, namespace('Active'));
      await scene.core.reader.whenFresh();
      scene.races.beforeNext(() => scene.elsewhere(NAMESPACE, namespace('Terminating')));
      const body = { apiVersion: 'coordination.platform.io/v1', kind: 'Lease', metadata: { name: 'late' } };
      const path = `/apis/coordination.platform.io/v1/namespaces/ns/leases/late${method === 'PATCH' ? '?fieldManager=x' : ''}`;
      assert.equal((await scene.request(method, path, body, type)).code, 403, method);
    }
  });

  it('minds no change that leaves it active', async () => {
    scene.races.beforeNext(
      () => scene.elsewhere(NAMESPACE, namespace('Active', { a: '1' })),
      () => scene.elsewhere(NAMESPACE, namespace('Active', { a: '2' })),
    );
    const { transactions } = scene.races;
    assert.equal((await create('a')).code, 201);
    assert.equal(scene.races.transactions - transactions, 3);
  });

  it('writes nothing for a rehearsal, and refuses it as well', async () => {
    assert.equal((await create('a', '?dryRun=All')).code, 201);
    await scene.elsewhere(NAMESPACE, namespace('Terminating'));
    assert.equal((await create('a', '?dryRun=All')).code, 403);
    assert.deepEqual(await names(), []);
  });

  it('lets what is there change and go while it goes', async () => {
    assert.equal((await create('a')).code, 201);
    scene.races.beforeNext(() => scene.elsewhere(NAMESPACE, namespace('Terminating')));
    const changed = await scene.request('PATCH', `${PATH}/a`, { data: { x: '1' } }, MERGE);
    assert.equal(changed.code, 200);
    assert.equal((await scene.request('DELETE', `${PATH}/a`)).code, 200);
  });

  it('lets many be created at once, each in one transaction, and leaves the namespace as it is', async () => {
    const before = (await scene.request('GET', '/api/v1/namespaces/ns')).body.metadata.resourceVersion;
    const { transactions } = scene.races;
    const codes = await Promise.all(Array.from({ length: 30 }, async (_, i) => (await create(`c${i}`)).code));
    assert.deepEqual([...new Set(codes)], [201]);
    assert.equal(scene.races.transactions - transactions, 30);
    assert.equal((await scene.request('GET', '/api/v1/namespaces/ns')).body.metadata.resourceVersion, before);
  });
});
