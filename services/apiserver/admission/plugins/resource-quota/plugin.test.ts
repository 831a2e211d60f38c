import assert from 'node:assert/strict';
import { AdmissionObjects } from '../../objects.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { VerbScene, type Reply } from '../../../verbs/testing/scene.js';
import type { LimitedResource } from './limited.js';
import { resourceQuota } from './plugin.js';

const NS = '/api/v1/namespaces/ns';
const MERGE = 'application/merge-patch+json';
const never = new AbortController().signal;

interface Quota extends ApiObject {
  status: { hard?: Record<string, string>; used?: Record<string, string> };
}

describe('ResourceQuota', () => {
  let scene: VerbScene;
  let limited: LimitedResource[];
  /** How often the plugin has waited for the cache. */
  let waits: number;
  beforeEach(async () => {
    limited = [];
    waits = 0;
    scene = await VerbScene.open((core) => {
      const reader = {
        getStored: core.reader.getStored.bind(core.reader),
        whenFresh: () => {
          waits++;
          return core.reader.whenFresh();
        },
      };
      const objects = new AdmissionObjects(core.resources, reader);
      return [resourceQuota({ ...core, objects, signal: never, limited })];
    });
  });
  afterEach(() => scene.close());

  const configMap = (name: string, more: object = {}): object => ({ metadata: { name, ...more } });
  const create = (resource: string, object: object, query = ''): Promise<Reply> =>
    scene.request('POST', `${NS}/${resource}${query}`, object);
  const quotaNow = async (name = 'q'): Promise<Quota> =>
    (await scene.request('GET', `${NS}/resourcequotas/${name}`)).body as unknown as Quota;
  const used = async (name = 'q'): Promise<Record<string, string> | undefined> => (await quotaNow(name)).status.used;
  /** Until the plugin's cache has it. */
  const quota = async (hard: object, name = 'q', more: object = {}): Promise<void> => {
    assert.equal((await create('resourcequotas', { metadata: { name }, spec: { hard, ...more } })).code, 201);
    await scene.core.reader.whenFresh();
  };
  const pod = (name: string, requests: object = {}, spec: object = {}): object => ({
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests } }], ...spec },
  });
  const message = ({ code, body }: Reply): string => `${code} ${body.message ?? ''}`;

  it('counts what is created, and shows its limits in its status', async () => {
    await quota({ configmaps: '2', 'count/configmaps': '5', secrets: '1' });
    assert.equal((await create('configmaps', configMap('a'))).code, 201);
    assert.deepEqual((await quotaNow()).status, {
      hard: { configmaps: '2', 'count/configmaps': '5', secrets: '1' },
      used: { configmaps: '1', 'count/configmaps': '1', secrets: '0' },
    });
  });

  it('refuses what there is no room for, in words that name the quota and the amounts', async () => {
    await quota({ configmaps: '1' });
    await create('configmaps', configMap('a'));
    assert.equal(
      message(await create('configmaps', configMap('b'))),
      '403 configmaps "b" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
    );
    assert.deepEqual(await used(), { configmaps: '1' });
    assert.equal((await scene.request('GET', `${NS}/configmaps/b`)).code, 404);
  });

  it('counts what was there before it', async () => {
    await create('configmaps', configMap('a'));
    await create('configmaps', configMap('b'));
    await quota({ configmaps: '2' });
    assert.match(message(await create('configmaps', configMap('c'))), /^403 .*used: configmaps=2/);
  });

  it('believes its status where that says something', async () => {
    await quota({ configmaps: '5' });
    await scene.request('PATCH', `${NS}/resourcequotas/q/status`, { status: { used: { configmaps: '4' } } }, MERGE);
    await create('configmaps', configMap('a'));
    assert.match(message(await create('configmaps', configMap('b'))), /used: configmaps=5/);
  });

  it('says nothing of names that count nothing', async () => {
    await quota({ configmaps: '2', 'count/widgets.example.com': '1', 'requests.storage': '1Gi' });
    await create('configmaps', configMap('a'));
    assert.deepEqual(await used(), { configmaps: '1', 'requests.storage': '0' });
  });

  it('gives back what is deleted', async () => {
    await quota({ configmaps: '1' });
    await create('configmaps', configMap('a'));
    await scene.request('DELETE', `${NS}/configmaps/a`);
    assert.deepEqual(await used(), { configmaps: '0' });
    assert.equal((await create('configmaps', configMap('b'))).code, 201);
  });

  it('gives back what waits for finalizers when it is gone, not before', async () => {
    await quota({ configmaps: '1' });
    await create('configmaps', configMap('a', { finalizers: ['example.com/f'] }));
    await scene.request('DELETE', `${NS}/configmaps/a`);
    assert.deepEqual(await used(), { configmaps: '1' });
    await scene.request('PATCH', `${NS}/configmaps/a`, { metadata: { finalizers: null } }, MERGE);
    assert.deepEqual(await used(), { configmaps: '0' });
  });

  it('gives back what a pod used when it is over, and still counts that it is there', async () => {
    await quota({ pods: '1', 'count/pods': '2', 'requests.cpu': '1' });
    await create('pods', pod('a', { cpu: '750m' }));
    assert.deepEqual(await used(), { pods: '1', 'count/pods': '1', 'requests.cpu': '750m' });
    await scene.request('PATCH', `${NS}/pods/a/status`, { status: { phase: 'Succeeded' } }, MERGE);
    assert.deepEqual(await used(), { pods: '0', 'count/pods': '1', 'requests.cpu': '0' });
  });

  it('never refuses a status, whatever it counts by it', async () => {
    await quota({ pods: '1' });
    await create('pods', pod('a'));
    await scene.request('PATCH', `${NS}/pods/a/status`, { status: { phase: 'Failed' } }, MERGE);
    await create('pods', pod('b'));
    const back = await scene.request('PATCH', `${NS}/pods/a/status`, { status: { phase: 'Running' } }, MERGE);
    assert.equal(back.code, 200);
    assert.deepEqual(await used(), { pods: '2' });
  });

  it('counts the difference that an update makes, and refuses it where that is too much', async () => {
    await quota({ 'services.nodeports': '2', services: '5' });
    const ports = [{ port: 1, name: 'a' }];
    await create('services', { metadata: { name: 's' }, spec: { type: 'ClusterIP', ports } });
    assert.deepEqual(await used(), { 'services.nodeports': '0', services: '1' });
    const more = (n: number): object => ({
      spec: { type: 'NodePort', ports: Array.from({ length: n }, (_, i) => ({ port: i + 1, name: `p${i}` })) },
    });
    assert.match(
      message(await scene.request('PATCH', `${NS}/services/s`, more(3), MERGE)),
      /^403 .*requested: services.nodeports=3, used: services.nodeports=0, limited: services.nodeports=2$/,
    );
    assert.equal((await scene.request('PATCH', `${NS}/services/s`, more(2), MERGE)).code, 200);
    assert.deepEqual(await used(), { 'services.nodeports': '2', services: '1' });
    await scene.request('PATCH', `${NS}/services/s`, { spec: { type: 'ClusterIP', ports } }, MERGE);
    assert.deepEqual(await used(), { 'services.nodeports': '0', services: '1' });
  });

  it('lets pass what uses less than before, however much is used', async () => {
    await quota({ 'services.nodeports': '5' });
    const ports = (n: number): object => ({
      type: 'NodePort',
      ports: Array.from({ length: n }, (_, i) => ({ port: i + 1, name: `p${i}` })),
    });
    await create('services', { metadata: { name: 's' }, spec: ports(5) });
    await scene.request('PATCH', `${NS}/resourcequotas/q`, { spec: { hard: { 'services.nodeports': '1' } } }, MERGE);
    await scene.core.reader.whenFresh();
    assert.equal((await scene.request('PATCH', `${NS}/services/s`, { spec: ports(4) }, MERGE)).code, 200);
    assert.deepEqual(await used(), { 'services.nodeports': '4' });
  });

  it('never counts less than nothing', async () => {
    await create('configmaps', configMap('a'));
    await quota({ configmaps: '5' });
    await scene.request('PATCH', `${NS}/resourcequotas/q/status`, { status: { used: { configmaps: '0' } } }, MERGE);
    await scene.core.reader.whenFresh();
    await scene.request('DELETE', `${NS}/configmaps/a`);
    assert.deepEqual(await used(), { configmaps: '0' });
  });

  it('waits for the cache before it counts what is there, and only then', async () => {
    await quota({ configmaps: '5' });
    waits = 0;
    await create('configmaps', configMap('a'));
    await create('configmaps', configMap('b'));
    assert.equal(waits, 1);
  });

  it('is left alone by what changes nothing of it', async () => {
    await quota({ configmaps: '5', pods: '5' });
    await create('configmaps', configMap('a'));
    await create('pods', pod('p'));
    const before = (await quotaNow()).metadata.resourceVersion;
    await scene.request('PATCH', `${NS}/configmaps/a`, { data: { a: 'b' } }, MERGE);
    await scene.request('PATCH', `${NS}/pods/p/status`, { status: { phase: 'Running' } }, MERGE);
    await create('secrets', configMap('s'));
    await create('configmaps', configMap('dry'), '?dryRun=All');
    assert.equal((await quotaNow()).metadata.resourceVersion, before);
  });

  it('refuses a dry run of what it would refuse', async () => {
    await quota({ configmaps: '0' });
    assert.match(message(await create('configmaps', configMap('a'), '?dryRun=All')), /^403 .*exceeded quota: q/);
  });

  it('makes new pods say what it limits', async () => {
    await quota({ 'limits.cpu': '1', 'requests.memory': '1Gi' });
    assert.equal(
      message(await create('pods', pod('a'))),
      '403 pods "a" is forbidden: failed quota: q: must specify limits.cpu for: c; requests.memory for: c',
    );
  });

  it('counts the pods of its scopes alone', async () => {
    await quota({ pods: '0' }, 'q', { scopes: ['BestEffort'] });
    assert.match(message(await create('pods', pod('a'))), /exceeded quota: q/);
    assert.equal((await create('pods', pod('b', { cpu: '1' }))).code, 201);
  });

  it('asks the pods of its scopes alone what they use', async () => {
    await quota({ 'limits.cpu': '1' }, 'q', { scopes: ['NotBestEffort'] });
    assert.equal((await create('pods', pod('a'))).code, 201);
    assert.match(message(await create('pods', pod('b', { memory: '1' }))), /must specify limits.cpu for: c$/);
  });

  it('counts nothing that is outside of its namespace, or in none', async () => {
    await quota({ configmaps: '0', 'count/namespaces': '0' });
    assert.equal((await scene.request('POST', '/api/v1/namespaces/other/configmaps', configMap('a'))).code, 201);
    assert.equal((await scene.request('POST', '/api/v1/namespaces', configMap('n'))).code, 201);
  });

  it('does not count events, which go by themselves', async () => {
    await quota({ 'count/events': '0' });
    const event = { metadata: { name: 'e' }, involvedObject: { namespace: 'ns' } };
    assert.equal((await create('events', event)).code, 201);
  });

  it('charges all quotas or none', async () => {
    await quota({ configmaps: '5' }, 'a');
    await quota({ configmaps: '1' }, 'b');
    await create('configmaps', configMap('x'));
    assert.match(message(await create('configmaps', configMap('y'))), /exceeded quota: b/);
    assert.deepEqual([await used('a'), await used('b')], [{ configmaps: '1' }, { configmaps: '1' }]);
  });

  it('is not charged for what is refused by the store', async () => {
    await quota({ configmaps: '5' });
    await create('configmaps', configMap('a'));
    assert.equal((await create('configmaps', configMap('a'))).code, 409);
    assert.deepEqual(await used(), { configmaps: '1' });
  });

  it('follows its own limits as they change', async () => {
    await quota({ configmaps: '1' });
    await create('configmaps', configMap('a'));
    await scene.request(
      'PATCH',
      `${NS}/resourcequotas/q`,
      { spec: { hard: { configmaps: '2', secrets: '3' } } },
      MERGE,
    );
    await scene.core.reader.whenFresh();
    assert.equal((await create('configmaps', configMap('b'))).code, 201);
    assert.deepEqual((await quotaNow()).status, {
      hard: { configmaps: '2', secrets: '3' },
      used: { configmaps: '2', secrets: '0' },
    });
  });

  it('keeps who owns its fields, and its generation', async () => {
    await quota({ configmaps: '1' });
    const { metadata: before } = await quotaNow();
    await create('configmaps', configMap('a'));
    const { metadata: after } = await quotaNow();
    assert.deepEqual({ ...after, resourceVersion: '' }, { ...before, resourceVersion: '' });
  });

  describe('when another server writes at the same time', () => {
    /** Another server takes the place that is left. */
    const takenElsewhere = async (hard: string, nowUsed: string): Promise<void> => {
      const present = await quotaNow();
      const status = { hard: { configmaps: hard }, used: { configmaps: nowUsed } };
      await scene.elsewhere('core/resourcequotas/ns/q', { ...present, status });
    };

    it('charges what the other one has left', async () => {
      await quota({ configmaps: '3' });
      await create('configmaps', configMap('a'));
      scene.races.beforeNext(() => takenElsewhere('3', '2'));
      assert.equal((await create('configmaps', configMap('b'))).code, 201);
      assert.deepEqual(await used(), { configmaps: '3' });
    });

    it('refuses when the other one has taken the last place', async () => {
      await quota({ configmaps: '2' });
      await create('configmaps', configMap('a'));
      scene.races.beforeNext(() => takenElsewhere('2', '2'));
      assert.match(message(await create('configmaps', configMap('b'))), /^403 .*used: configmaps=2/);
      assert.equal((await scene.request('GET', `${NS}/configmaps/b`)).code, 404);
    });

    it('asks the store before it refuses', async () => {
      await quota({ configmaps: '1' });
      await create('configmaps', configMap('a'));
      // The other server's deletion is in the store, and not yet in the cache when the next request is decided.
      scene.races.beforeRead = () => takenElsewhere('1', '0');
      const outcome = await create('configmaps', configMap('b'));
      assert.equal(outcome.code, 201, outcome.body.message);
      assert.deepEqual(await used(), { configmaps: '1' });
    });

    it('lets pass what a quota counted that is gone', async () => {
      await quota({ configmaps: '1' });
      await create('configmaps', configMap('a'));
      scene.races.beforeRead = () => scene.elsewhere('core/resourcequotas/ns/q', undefined);
      assert.equal((await create('configmaps', configMap('b'))).code, 201);
    });

    it('does not decide about the object again for the quota alone', async () => {
      await quota({ configmaps: '9' });
      let admitted = 0;
      scene.plugin.validate = () => {
        admitted++;
      };
      scene.races.beforeNext(
        () => takenElsewhere('9', '3'),
        () => takenElsewhere('9', '5'),
      );
      assert.equal((await create('configmaps', configMap('a'))).code, 201);
      assert.deepEqual([admitted, await used()], [1, { configmaps: '6' }]);
    });

    it('does not lose the race for the object over the one for the quota', async () => {
      await quota({ configmaps: '9' });
      const other = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'ns' } };
      scene.races.beforeNext(async () => {
        await takenElsewhere('9', '3');
        await scene.elsewhere('core/configmaps/ns/a', other);
      });
      assert.equal((await create('configmaps', configMap('a'))).code, 409);
      assert.deepEqual(await used(), { configmaps: '3' });
    });
  });

  describe('of resources that may be used only where a quota limits them', () => {
    const only = (resource: string, ...matchContains: string[]): LimitedResource => ({
      apiGroup: '',
      resource,
      matchContains,
      matchScopes: [],
    });

    it('refuses them where there is no quota', async () => {
      limited.push(only('pods', 'requests.cpu', '.memory'));
      assert.equal(
        message(await create('pods', pod('a', { cpu: '1', memory: '1Gi' }))),
        '403 pods "a" is forbidden: insufficient quota to consume: requests.cpu,requests.memory',
      );
      assert.equal((await create('pods', pod('b', { 'ephemeral-storage': '1' }))).code, 201);
      assert.equal((await create('pods', pod('z', { cpu: '0' }))).code, 201);
      assert.equal((await create('configmaps', configMap('c'))).code, 201);
    });

    it('refuses what the quota says nothing of', async () => {
      limited.push(only('pods', '.memory', 'requests.cpu'));
      await quota({ 'requests.cpu': '5', pods: '5' });
      assert.match(message(await create('pods', pod('a', { cpu: '1', memory: '1Gi' }))), /consume: requests.memory$/);
      assert.equal((await create('pods', pod('b', { cpu: '1' }))).code, 201);
    });

    it('does not ask again on updates of what was let in', async () => {
      await create('pods', pod('a', { cpu: '1' }));
      limited.push(only('pods', 'requests.cpu'));
      const reply = await scene.request('PATCH', `${NS}/pods/a/status`, { status: { phase: 'Running' } }, MERGE);
      assert.equal(reply.code, 200);
    });

    it('refuses scopes that no quota has', async () => {
      const scope = { scopeName: 'PriorityClass', operator: 'In', values: ['high', 'higher'] };
      limited.push({ ...only('pods'), matchScopes: [scope] });
      const high = pod('a', {}, { priorityClassName: 'high' });
      assert.equal(
        message(await create('pods', high)),
        '403 pods "a" is forbidden: insufficient quota to match these scopes: [{PriorityClass In [high higher]}]',
      );
      assert.equal((await create('pods', pod('b'))).code, 201);
      const others = { ...scope, values: ['higher', 'high'] };
      await quota({ pods: '5' }, 'q', { scopeSelector: { matchExpressions: [others] } });
      assert.equal((await create('pods', high)).code, 201);
    });

    it('knows the resource by its group', async () => {
      limited.push({ ...only('configmaps', 'configmaps'), apiGroup: 'example.com' });
      assert.equal((await create('configmaps', configMap('c'))).code, 201);
    });
  });

  it('gives out each of its places once to many at the same time', async () => {
    await quota({ configmaps: '10' });
    await create('configmaps', configMap('first'));
    const before = scene.races.transactions;
    const replies = await Promise.all(Array.from({ length: 40 }, (_, i) => create('configmaps', configMap(`c${i}`))));
    const codes = replies.map(({ code }) => code);
    assert.deepEqual([codes.filter((c) => c === 201).length, codes.filter((c) => c === 403).length], [9, 31]);
    assert.deepEqual(await used(), { configmaps: '10' });
    // They took turns: none of them lost a race.
    assert.equal(scene.races.transactions - before, 9);
  });

  it('counts services with the addresses that are chosen for them', async () => {
    await quota({ services: '1' });
    const service = (name: string): object => ({ metadata: { name }, spec: { ports: [{ port: 1 }] } });
    assert.equal((await create('services', service('a'))).code, 201);
    assert.match(message(await create('services', service('b'))), /exceeded quota/);
    await scene.request('DELETE', `${NS}/services/a`);
    assert.deepEqual(await used(), { services: '0' });
  });
});
