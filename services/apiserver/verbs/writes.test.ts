import assert from 'node:assert/strict';
import type { ApiObject } from '../../machinery/meta/object.js';
import { forbidden } from '../../machinery/meta/status.js';
import type { Transaction } from '../../storage/store.js';
import type { ManagedFieldsEntry } from '../../machinery/ownership/managed-fields.js';
import type { AdmissionRequest } from '../admission/plugin.js';
import { JANE, VerbScene, type Reply } from './testing/scene.js';

const MERGE = 'application/merge-patch+json';
const SMP = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const NS = '/api/v1/namespaces/ns';
const MAPS = `${NS}/configmaps`;
const ENDPOINTS = `${NS}/endpoints`;

const map = (name: string, more: object = {}, metadata: object = {}): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'ns', ...metadata },
  ...more,
});
const endpoints = (name: string, metadata: object = {}): ApiObject => ({
  kind: 'Endpoints',
  apiVersion: 'v1',
  metadata: { name, namespace: 'ns', ...metadata },
});

const ownersOf = ({ managedFields }: ApiObject['metadata']): readonly ManagedFieldsEntry[] =>
  (managedFields ?? []) as readonly ManagedFieldsEntry[]; // the server made them
const dataOf = ({ body }: Reply): unknown => body['data'];
const says = ({ code, body }: Reply): readonly unknown[] => [code, body.reason];

describe('verbs that write', function () {
  this.timeout(20_000);
  let scene: VerbScene;
  beforeEach(async () => {
    scene = await VerbScene.open();
  });
  afterEach(() => scene.close());

  const post = (path: string, body: object): Promise<Reply> => scene.request('POST', path, body);
  const made = async (path: string, body: object): Promise<ApiObject> => {
    const reply = await post(path, body);
    assert.equal(reply.code, 201, JSON.stringify(reply.body));
    return reply.body;
  };

  describe('numbers that are written with a fraction or an exponent', () => {
    const CLAIMS = `${NS}/services`;
    /** The text of a service whose port is written so. */
    const service = (port: string, more = ''): string =>
      `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"${more}},"spec":{"clusterIP":"None","ports":[{"port":${port}}]}}`;
    const merge = (port: string): string => `{"spec":{"ports":[{"port":${port}}]}}`;

    for (const [port, code] of [
      ['1.0', 400],
      ['8e1', 400],
      ['80', 201],
    ] as const)
      // prettier-ignore
      it(`are no integers of a new object: ${port}`, async () => {
        const reply = await scene.request('POST', CLAIMS, service(port));
        assert.equal(reply.code, code, reply.body.message);
        if (code !== 400) return;
        const message = `cannot unmarshal number ${port} into Go struct field ServicePort.spec.ports.port of type int32`;
        assert.ok(reply.body.message?.endsWith(message), reply.body.message);
      });

    it('are none of an update or a merge patch, and integers of a strategic merge patch', async () => {
      assert.equal((await scene.request('POST', CLAIMS, service('80'))).code, 201);
      assert.equal((await scene.request('PUT', `${CLAIMS}/s`, service('81.0'))).code, 400);
      assert.equal((await scene.request('PATCH', `${CLAIMS}/s`, merge('8.1e1'), MERGE)).code, 400);
      assert.equal((await scene.request('PATCH', `${CLAIMS}/s`, merge('81'), MERGE)).code, 200);
      assert.equal((await scene.request('PATCH', `${CLAIMS}/s`, merge('81,"targetPort":8.0e1'), SMP)).code, 200);
      const { code } = await scene.request('DELETE', `${CLAIMS}/s`, '{"gracePeriodSeconds":1.0}');
      assert.equal(code, 400);
    });

    it('keep their form in a quantity', async () => {
      const quota =
        '{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q"},"spec":{"hard":{"cpu":1e3,"pods":10.0}}}';
      const { code, body } = await scene.request('POST', `${NS}/resourcequotas`, quota);
      assert.deepEqual([code, body['spec']], [201, { hard: { cpu: '1e3', pods: '10' } }]);
    });
  });

  describe('create', () => {
    it('gives the object what the server owns, and notes who wrote it', async () => {
      const { metadata } = await made(`${MAPS}?fieldManager=m`, map('a', { data: { x: '1' } }, { uid: 'mine' }));
      assert.notEqual(metadata.uid, 'mine');
      assert.deepEqual(
        ownersOf(metadata).map(({ manager, operation }) => [manager, operation]),
        [['m', 'Update']],
      );
    });

    it('shows admission who asks and what will be stored', async () => {
      const seen: unknown[] = [];
      scene.plugin.validate = ({ operation, user, object, dryRun }) => {
        seen.push([operation, user, object?.metadata.uid !== undefined, dryRun]);
      };
      await made(MAPS, map('a'));
      await made(`${MAPS}?dryRun=All`, map('b'));
      assert.deepEqual(seen, [
        ['CREATE', JANE, true, false],
        ['CREATE', JANE, true, true],
      ]);
    });

    it('stores nothing that admission refuses', async () => {
      scene.plugin.validate = () => {
        throw forbidden({ group: '', resource: 'configmaps' }, 'a', 'no');
      };
      assert.deepEqual(says(await post(MAPS, map('a'))), [403, 'Forbidden']);
      assert.deepEqual((await scene.request('GET', MAPS)).body.items, []);
    });

    it('makes another name when somebody has the first, eight at most', async () => {
      const taken: string[] = [];
      const take = async ({ operations }: Transaction): Promise<void> => {
        const [operation] = operations;
        const key = operation?.key ?? '';
        taken.push(key);
        await scene.elsewhere(key.slice(scene.core.keys.prefix.length), map(key.slice(key.lastIndexOf('/') + 1)));
      };
      const body = { metadata: { generateName: 'made-' } };
      scene.races.beforeNext(...Array.from({ length: 7 }, () => take));
      const { metadata } = await made(MAPS, body);
      assert.ok(!taken.some((key) => key.endsWith(`/${metadata.name ?? ''}`)));
      assert.equal(new Set(taken).size, 7);
      scene.races.beforeNext(...Array.from({ length: 8 }, () => take));
      const reply = await post(MAPS, body);
      assert.deepEqual(says(reply), [409, 'AlreadyExists']);
      assert.match(reply.body.message ?? '', /unique name/);
    });

    it('rehearses with the version that was read elsewhere, which a create refuses', async () => {
      const { resourceVersion } = (await made(`${MAPS}?dryRun=All`, map('a', {}, { resourceVersion: '5' }))).metadata;
      assert.equal(resourceVersion, undefined);
      assert.deepEqual(says(await post(MAPS, map('a', {}, { resourceVersion: '5' }))), [400, 'BadRequest']);
    });

    it('refuses a name that is taken, in a dry run as without', async () => {
      await made(MAPS, map('a'));
      assert.deepEqual(says(await post(MAPS, map('a'))), [409, 'AlreadyExists']);
      assert.deepEqual(says(await post(`${MAPS}?dryRun=All`, map('a'))), [409, 'AlreadyExists']);
    });
  });

  describe('update', () => {
    it('that creates asks for the right to create', async () => {
      assert.equal((await scene.request('PUT', `${ENDPOINTS}/a`, endpoints('a'))).code, 201);
      assert.deepEqual(scene.asked, ['create endpoints']);
      assert.equal((await scene.request('PUT', `${ENDPOINTS}/a`, endpoints('a', { labels: { a: 'b' } }))).code, 200);
      assert.deepEqual(scene.asked, ['create endpoints'], 'an update asks for no other right');
    });

    it('that creates is refused without that right, and nothing is there', async () => {
      scene.refused.add('create endpoints');
      assert.deepEqual(says(await scene.request('PUT', `${ENDPOINTS}/a`, endpoints('a'))), [403, 'Forbidden']);
      assert.equal((await scene.request('GET', `${ENDPOINTS}/a`)).code, 404);
    });

    it('does not create what is known by another state, or is made by POST alone', async () => {
      for (const known of [{ uid: 'u' }, { resourceVersion: '7' }]) {
        assert.deepEqual(says(await scene.request('PUT', `${ENDPOINTS}/a`, endpoints('a', known))), [409, 'Conflict']);
      }
      assert.deepEqual(says(await scene.request('PUT', `${MAPS}/a`, map('a'))), [404, 'NotFound']);
      assert.deepEqual(scene.asked, []);
    });

    it('changes what somebody made meanwhile', async () => {
      scene.races.beforeNext(() => scene.elsewhere('core/endpoints/ns/a', endpoints('a', { uid: 'theirs' })));
      const { code, body } = await scene.request('PUT', `${ENDPOINTS}/a`, endpoints('a', { labels: { a: 'b' } }));
      assert.deepEqual([code, body.metadata.uid, body.metadata.labels], [200, 'theirs', { a: 'b' }]);
    });

    it('by the version that was read is refused when somebody was quicker', async () => {
      const { metadata } = await made(MAPS, map('a', { data: { x: '1' } }));
      scene.races.beforeNext(() =>
        scene.elsewhere('core/configmaps/ns/a', map('a', { data: { x: 'theirs' } }, metadata)),
      );
      const reply = await scene.request('PUT', `${MAPS}/a`, map('a', { data: { x: 'mine' } }, metadata));
      assert.deepEqual(says(reply), [409, 'Conflict']);
      assert.deepEqual(dataOf(await scene.request('GET', `${MAPS}/a`)), { x: 'theirs' });
    });

    it('that does not say of what is refused', async () => {
      await made(MAPS, map('a'));
      const reply = await scene.request('PUT', `${MAPS}/a`, { data: { x: '1' } });
      assert.deepEqual(says(reply), [400, 'BadRequest']);
      assert.match(reply.body.message ?? '', /\(a based on URL\) was undeterminable: name must be provided$/);
    });

    it('that has the owners forgotten owns all that it sent', async () => {
      await made(`${MAPS}?fieldManager=one`, map('a', { data: { x: '1' } }));
      const body = map('a', { data: { x: '1', y: '2' } }, { managedFields: [{}] });
      const reply = await scene.request('PUT', `${MAPS}/a?fieldManager=two`, body);
      const owners = ownersOf(reply.body.metadata);
      assert.deepEqual(
        owners.map(({ manager, fieldsV1 }) => [manager, fieldsV1]),
        [['two', { 'f:data': { '.': {}, 'f:x': {}, 'f:y': {} } }]],
      );
      const none = await scene.request('PUT', `${MAPS}/a`, { ...body, metadata: { ...body.metadata } });
      assert.equal(none.body.metadata.managedFields, undefined, 'alone it leaves none');
    });
  });

  describe('patch', () => {
    it('is made of the newest state when somebody was quicker', async () => {
      const { metadata } = await made(MAPS, map('a', { data: { x: '1' } }));
      scene.races.beforeNext(() =>
        scene.elsewhere('core/configmaps/ns/a', map('a', { data: { theirs: '1' } }, metadata)),
      );
      const reply = await scene.request('PATCH', `${MAPS}/a`, { data: { mine: '1' } }, MERGE);
      assert.deepEqual(dataOf(reply), { mine: '1', theirs: '1' });
    });

    it('is admitted anew with the newest state', async () => {
      const { metadata } = await made(MAPS, map('a'));
      const seen: unknown[] = [];
      scene.plugin.validate = ({ oldObject }) => void seen.push(oldObject?.['data']);
      scene.races.beforeNext(() =>
        scene.elsewhere('core/configmaps/ns/a', map('a', { data: { theirs: '1' } }, metadata)),
      );
      assert.equal((await scene.request('PATCH', `${MAPS}/a`, { data: { mine: '1' } }, MERGE)).code, 200);
      assert.deepEqual(seen, [undefined, { theirs: '1' }]);
    });

    it('of what is gone is refused', async () => {
      await made(MAPS, map('a'));
      scene.races.beforeNext(() => scene.elsewhere('core/configmaps/ns/a', undefined));
      const reply = await scene.request('PATCH', `${MAPS}/a`, { data: { mine: '1' } }, MERGE);
      assert.deepEqual(says(reply), [404, 'NotFound']);
    });

    it('writes nothing when nothing changes', async () => {
      const { metadata } = await made(MAPS, map('a', { data: { x: '1' } }));
      const reply = await scene.request('PATCH', `${MAPS}/a`, { data: { x: '1' } }, MERGE);
      assert.equal(reply.body.metadata.resourceVersion, metadata.resourceVersion);
    });

    const OPERATIONS = 'application/json-patch+json';
    for (const [type, body] of [
      [MERGE, { metadata: null }],
      [MERGE, { metadata: { name: null } }],
      [MERGE, { metadata: { name: '' } }],
      [MERGE, { apiVersion: null }],
      [SMP, { metadata: null }],
      [SMP, { metadata: { $patch: 'delete' } }],
      [SMP, { metadata: { $patch: 'replace', labels: { a: 'b' } } }],
      [OPERATIONS, [{ op: 'remove', path: '/metadata' }]],
      [OPERATIONS, [{ op: 'remove', path: '/metadata/name' }]],
      [OPERATIONS, [{ op: 'remove', path: '/apiVersion' }]],
    ] as const)
      it(`that leaves no object of this name or version is refused: ${type} ${JSON.stringify(body)}`, async () => {
        await made(MAPS, map('a', { data: { x: '1' } }));
        assert.deepEqual(says(await scene.request('PATCH', `${MAPS}/a`, body, type)), [400, 'BadRequest']);
      });

    it('may leave it to the path what kind it is, and which namespace it is in', async () => {
      await made(MAPS, map('a'));
      for (const body of [{ kind: null }, { metadata: { namespace: null } }])
        assert.equal((await scene.request('PATCH', `${MAPS}/a`, body, MERGE)).code, 200, JSON.stringify(body));
      assert.equal((await scene.request('PATCH', `${MAPS}/a`, { apiVersion: null }, SMP)).code, 200);
    });

    it('of a part says nothing of owners', async () => {
      const pods = `${NS}/pods`;
      const { metadata } = await made(`${pods}?fieldManager=one`, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }); // prettier-ignore
      const body = { metadata: { managedFields: [{}] }, status: { message: 'm' } };
      const reply = await scene.request('PATCH', `${pods}/p/status?fieldManager=two`, body, MERGE);
      const owners = ownersOf(reply.body.metadata);
      assert.deepEqual(owners[0], ownersOf(metadata)[0]);
      assert.deepEqual(owners.map(({ manager, subresource }) => [manager, subresource]), [['one', undefined], ['two', 'status']]); // prettier-ignore
    });

    it('that takes the last finalizer of a deleted object removes it', async () => {
      await made(MAPS, map('a', {}, { finalizers: ['a.example.com/b'] }));
      assert.equal((await scene.request('DELETE', `${MAPS}/a`)).code, 200);
      const reply = await scene.request('PATCH', `${MAPS}/a`, { metadata: { finalizers: null } }, MERGE);
      assert.equal(reply.code, 200);
      assert.equal((await scene.request('GET', `${MAPS}/a`)).code, 404);
    });
  });

  describe('apply', () => {
    const apply = (name: string, data: object, query = ''): Promise<Reply> =>
      scene.request('PATCH', `${MAPS}/${name}?fieldManager=m${query}`, map(name, { data }), APPLY);

    it('of what is not there asks for the right to create', async () => {
      scene.refused.add('create configmaps');
      assert.deepEqual(says(await apply('a', { x: '1' })), [403, 'Forbidden']);
      scene.refused.clear();
      assert.equal((await apply('a', { x: '1' })).code, 201);
      assert.deepEqual(scene.asked, ['create configmaps', 'create configmaps']);
    });

    it('is merged into what somebody made meanwhile', async () => {
      scene.races.beforeNext(() =>
        scene.elsewhere('core/configmaps/ns/a', map('a', { data: { theirs: '1' } }, { uid: 'u' })),
      );
      const reply = await apply('a', { mine: '1' });
      assert.deepEqual([reply.code, dataOf(reply)], [200, { mine: '1', theirs: '1' }]);
    });

    it('has a conflict with who came in between', async () => {
      const { metadata } = await made(`${MAPS}?fieldManager=one`, map('a', { data: { x: '1' } }));
      scene.races.beforeNext(() =>
        scene.elsewhere('core/configmaps/ns/a', map('a', { data: { x: 'theirs' } }, metadata)),
      );
      assert.deepEqual(says(await apply('a', { x: 'mine' })), [409, 'Conflict']);
      assert.deepEqual(dataOf(await apply('a', { x: 'mine' }, '&force=true')), { x: 'mine' });
    });

    it('of a field that there is not is refused by its name', async () => {
      for (const how of ['', 'Ignore', 'Strict']) {
        const body = { ...map('a'), colour: 'red' };
        const reply = await scene.request('PATCH', `${MAPS}/a?fieldManager=m&fieldValidation=${how}`, body, APPLY);
        assert.deepEqual(says(reply), [400, 'BadRequest']);
        assert.match(reply.body.message ?? '', /\.colour: field not declared in schema/);
      }
    });
  });

  describe('delete', () => {
    it('by a state that somebody changed is refused, and by no state goes on', async () => {
      const { metadata } = await made(MAPS, map('a'));
      const change = (): Promise<void> =>
        scene.elsewhere('core/configmaps/ns/a', map('a', { data: { x: '1' } }, metadata));
      scene.races.beforeNext(change);
      const preconditions = { resourceVersion: metadata.resourceVersion };
      assert.deepEqual(says(await scene.request('DELETE', `${MAPS}/a`, { preconditions })), [409, 'Conflict']);
      scene.races.beforeNext(change);
      assert.equal((await scene.request('DELETE', `${MAPS}/a`)).code, 200);
    });

    it('asks admission about what is removed', async () => {
      const { metadata } = await made(MAPS, map('a'));
      scene.plugin.validate = ({ operation, object, oldObject }) => {
        assert.deepEqual([operation, object, oldObject?.metadata.uid], ['DELETE', undefined, metadata.uid]);
        throw forbidden({ group: '', resource: 'configmaps' }, 'a', 'no');
      };
      assert.deepEqual(says(await scene.request('DELETE', `${MAPS}/a`)), [403, 'Forbidden']);
    });

    it('of a dry run stores nothing', async () => {
      await made(MAPS, map('a', {}, { finalizers: ['a.example.com/b'] }));
      const { transactions } = scene.races;
      const reply = await scene.request('DELETE', `${MAPS}/a?dryRun=All`);
      assert.ok(reply.body.metadata.deletionTimestamp);
      assert.equal(scene.races.transactions, transactions);
    });
  });

  describe('deletecollection', () => {
    it('does not mind that an object has gone meanwhile', async () => {
      for (const name of ['a', 'b', 'c']) await made(MAPS, map(name));
      scene.races.beforeNext(() => scene.elsewhere('core/configmaps/ns/b', undefined));
      const reply = await scene.request('DELETE', MAPS);
      assert.deepEqual([reply.code, reply.body.items.map(({ metadata }) => metadata.name)], [200, ['a', 'b', 'c']]);
      assert.deepEqual((await scene.request('GET', MAPS)).body.items, []);
    });

    it('minds every other failure', async () => {
      for (const name of ['a', 'b']) await made(MAPS, map(name));
      scene.plugin.validate = ({ name }) => {
        if (name === 'b') throw forbidden({ group: '', resource: 'configmaps' }, name, 'no');
      };
      assert.deepEqual(says(await scene.request('DELETE', MAPS)), [403, 'Forbidden']);
      assert.deepEqual(
        (await scene.request('GET', MAPS)).body.items.map(({ metadata }) => metadata.name),
        ['b'],
      );
    });

    it('deletes what is selected and nothing else', async () => {
      await made(MAPS, map('a', {}, { labels: { go: 'yes' } }));
      await made(MAPS, map('b'));
      await made('/api/v1/namespaces/other/configmaps', { metadata: { name: 'c', labels: { go: 'yes' } } });
      assert.equal((await scene.request('DELETE', `${MAPS}?labelSelector=go%3Dyes`)).code, 200);
      const { items } = (await scene.request('GET', '/api/v1/configmaps')).body;
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name),
        ['b', 'c'],
      );
    });
  });

  describe('sub-resources with a kind of their own', () => {
    interface Shown {
      readonly phase: string;
      readonly operation: string;
      readonly subresource: string;
      readonly kinds: readonly (string | undefined)[];
      readonly spec: unknown;
    }
    let shown: Shown[];
    beforeEach(() => {
      shown = [];
      const see =
        (phase: string) =>
        ({ operation, subresource, object, oldObject }: AdmissionRequest): void => {
          shown.push({ phase, operation, subresource, kinds: [oldObject?.kind, object?.kind], spec: object?.['spec'] });
        };
      scene.plugin.mutate = see('mutate');
      scene.plugin.validate = see('validate');
    });
    const CONTROLLERS = `${NS}/replicationcontrollers`;
    const template = {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image: 'i', resources: {} }] },
    };
    const controller = {
      metadata: { name: 'a' },
      spec: { replicas: 1, selector: { a: 'b' }, template },
    };

    it('shows admission a Scale as a Scale, and takes what it makes of it', async () => {
      await made(CONTROLLERS, controller);
      shown.length = 0;
      const see = scene.plugin.mutate;
      scene.plugin.mutate = async (request, phase) => {
        await see(request, phase);
        if (request.object !== undefined) request.object['spec'] = { replicas: 3 };
      };
      const { body } = await scene.request('PATCH', `${CONTROLLERS}/a/scale`, { spec: { replicas: 2 } }, MERGE);
      assert.deepEqual([body.kind, body['spec']], ['Scale', { replicas: 3 }]);
      const as = { operation: 'UPDATE', subresource: 'scale', kinds: ['Scale', 'Scale'] };
      assert.deepEqual(shown, [
        { phase: 'mutate', ...as, spec: { replicas: 2 } },
        { phase: 'validate', ...as, spec: { replicas: 3 } },
      ]);
      const stored = (await scene.request('GET', `${CONTROLLERS}/a`)).body['spec'] as { replicas: number };
      assert.equal(stored.replicas, 3);
    });

    it('shows admission a binding as one that is created, and stores nothing that it refuses', async () => {
      await made(`${NS}/pods`, { metadata: { name: 'p' }, spec: template.spec });
      shown.length = 0;
      const binding = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } };
      const see = scene.plugin.validate;
      scene.plugin.validate = () => {
        throw forbidden({ group: '', resource: 'pods' }, 'p', 'no');
      };
      assert.deepEqual(says(await post(`${NS}/pods/p/binding`, binding)), [403, 'Forbidden']);
      scene.plugin.validate = see;
      assert.equal((await post(`${NS}/pods/p/binding`, binding)).code, 201);
      const as = { operation: 'CREATE', subresource: 'binding', kinds: [undefined, 'Binding'], spec: undefined };
      assert.deepEqual(shown, [
        { phase: 'mutate', ...as },
        { phase: 'mutate', ...as },
        { phase: 'validate', ...as },
      ]);
      const { nodeName } = (await scene.request('GET', `${NS}/pods/p`)).body['spec'] as { nodeName?: string };
      assert.equal(nodeName, 'n');
    });

    it('shows admission a binding that names its pod as no sub-resource', async () => {
      await made(`${NS}/pods`, { metadata: { name: 'q' }, spec: template.spec });
      shown.length = 0;
      const binding = { metadata: { name: 'q' }, target: { kind: 'Node', name: 'n' } };
      assert.equal((await post(`${NS}/bindings`, binding)).code, 201);
      const as = { operation: 'CREATE', subresource: '', kinds: [undefined, 'Binding'], spec: undefined };
      assert.deepEqual(shown, [
        { phase: 'mutate', ...as },
        { phase: 'validate', ...as },
      ]);
    });
  });
});
