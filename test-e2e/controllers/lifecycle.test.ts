import assert from 'node:assert/strict';
import { openEtcdStore } from '../../services/storage/etcd/store.js';
import type { KeyValueStore } from '../../services/storage/store.js';
import { inParallel } from '../../services/machinery/loop/in-parallel.js';
import type { Document } from '../api/tools/document.js';
import { leastBody, WITH_STATUS } from '../api/tools/least.js';
import { configMap, created, eventually, newNamespace, ok, pod } from '../api/tools/objects.js';
import { TestServer } from '../api/tools/server.js';
import { stopped } from '../support/platform.js';
import { startControllers, type ControllerProcess } from './tools/controller-process.js';
import { optionsOf } from './tools/processes.js';

const PATIENCE_MS = 120_000;
const AT_ONCE = 20;
/** Of these there are few types, and they limit what else may be made. */
const LAST = ['resourcequotas', 'limitranges'];
const OBJECTS = 1_000;
const NAMESPACES = 200;

interface Type {
  readonly group: string;
  readonly resource: string;
  readonly path: string;
}

describe('the life of resources', function () {
  this.timeout(300_000);
  let server: TestServer;
  let store: KeyValueStore;
  let process: ControllerProcess;

  before(async () => {
    server = await TestServer.start({ store: 'etcd' });
    store = await openEtcdStore({ endpoints: [server.etcd?.url ?? ''], log: quiet });
    process = await startControllers(server, optionsOf(server, 'resource-lifecycle'));
  });
  after(async () => {
    await stopped(process);
    await store.close();
    await server.close();
  });

  const make = async (path: string, body: object): Promise<Document> => created(await server.client.post(path, body));
  const isGone = async (path: string): Promise<true | undefined> =>
    (await server.client.get(path)).code === 404 ? true : undefined;
  const goes = (path: string): Promise<true> => eventually(() => isGone(path), PATIENCE_MS);
  const remove = async (path: string, propagationPolicy = 'Background'): Promise<void> => {
    ok(await server.client.delete(path, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy }));
  };

  /** The types whose objects lie in namespaces, each once. */
  async function typesIn(namespace: string): Promise<readonly Type[]> {
    const { groups } = ok(await server.client.get('/apis')) as unknown as { groups: { preferredVersion: { groupVersion: string } }[] }; // prettier-ignore
    const versions = ['/api/v1', ...groups.map(({ preferredVersion: { groupVersion } }) => `/apis/${groupVersion}`)];
    const types: Type[] = [];
    for (const version of versions) {
      const [, , group = ''] = version.startsWith('/apis/') ? version.split('/') : [];
      const { resources } = ok(await server.client.get(version)) as unknown as { resources: { name: string; namespaced: boolean; verbs: string[] }[] }; // prettier-ignore
      for (const { name, namespaced, verbs } of resources) {
        const isOne = namespaced && !name.includes('/') && verbs.includes('create') && verbs.includes('list');
        if (isOne) types.push({ group, resource: name, path: `${version}/namespaces/${namespace}/${name}` });
      }
    }
    return types.sort((one, other) => LAST.indexOf(one.resource) - LAST.indexOf(other.resource));
  }

  /** Keys of the store that are in a namespace, or whose values tell of what is. */
  async function leftOf(namespace: string): Promise<readonly string[]> {
    const { kvs } = await store.range('/registry/', {}, new AbortController().signal);
    const isOf = ({ key, value }: { key: string; value: Buffer }): boolean =>
      `${key}/`.includes(`/${namespace}/`) || value.includes(`/${namespace}/`);
    return kvs.filter(isOf).map(({ key }) => key);
  }

  it(`leaves nothing in the store of a namespace with ${OBJECTS} objects of every type`, async () => {
    const namespace = await newNamespace(server.client);
    const types = await typesIn(namespace);
    const each = Math.ceil(OBJECTS / types.length);
    for (const type of types) {
      const names = Array.from({ length: each }, (_, i) => `o-${i}`);
      const body = leastBody(type, namespace);
      const prefix = type.resource === 'events' && type.group !== '' ? 'new-' : ''; // the same objects as those of the core
      await inParallel(names, AT_ONCE, async (name) => {
        await make(type.path, { ...body, metadata: { name: `${prefix}${name}`, namespace } });
      });
    }
    assert.ok(types.length >= 27, types.map(({ resource }) => resource).join());
    assert.ok((await leftOf(namespace)).length >= OBJECTS);
    await remove(`/api/v1/namespaces/${namespace}`);
    await goes(`/api/v1/namespaces/${namespace}`);
    assert.deepEqual(await leftOf(namespace), []);
  });

  it(`lets ${NAMESPACES} namespaces go that are deleted at once`, async () => {
    const names = Array.from({ length: NAMESPACES }, (_, i) => `many-${i}`);
    await inParallel(names, AT_ONCE, async (name) => {
      await make('/api/v1/namespaces', { metadata: { name } });
      await make(`/api/v1/namespaces/${name}/configmaps`, configMap('a'));
    });
    await inParallel(names, AT_ONCE, (name) => remove(`/api/v1/namespaces/${name}`));
    for (const name of names) await goes(`/api/v1/namespaces/${name}`);
    const { kvs } = await store.range('/registry/', {}, new AbortController().signal);
    assert.deepEqual(kvs.filter(({ key }) => key.includes('many-')), []); // prettier-ignore
  });

  const mapsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
  const ownedBy = ({ metadata: { name, uid } }: Document): object => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true }); // prettier-ignore
  /** Three that own one another in a circle. @param others Owners of the first that are not in it. */
  async function circle(namespace: string, others: readonly Document[] = []): Promise<void> {
    const maps = mapsIn(namespace);
    const a = await make(maps, configMap('a'));
    const b = await make(maps, configMap('b', { metadata: { ownerReferences: [ownedBy(a)] } }));
    const c = await make(maps, configMap('c', { metadata: { ownerReferences: [ownedBy(b)] } }));
    const ownerReferences = [c, ...others].map(ownedBy);
    ok(await server.client.patch(`${maps}/a`, { metadata: { ownerReferences } }));
  }

  for (const policy of ['Foreground', 'Background']) {
    it(`deletes all that own one another in a circle with any of them: ${policy}`, async () => {
      const namespace = await newNamespace(server.client);
      await circle(namespace);
      await remove(`${mapsIn(namespace)}/b`, policy);
      for (const name of ['a', 'b', 'c']) await goes(`${mapsIn(namespace)}/${name}`);
    });

    it(`leaves the one of a circle that another owner keeps: ${policy}`, async () => {
      const namespace = await newNamespace(server.client);
      const outside = await make(mapsIn(namespace), configMap('outside'));
      await circle(namespace, [outside]);
      await remove(`${mapsIn(namespace)}/b`, policy);
      for (const name of ['b', 'c']) await goes(`${mapsIn(namespace)}/${name}`);
      await eventually(async () => {
        const { metadata } = ok(await server.client.get(`${mapsIn(namespace)}/a`));
        return (metadata['ownerReferences'] as readonly unknown[]).length === 1 ? true : undefined;
      }, PATIENCE_MS);
      const { metadata } = ok(await server.client.get(`${mapsIn(namespace)}/a`));
      assert.deepEqual(metadata['ownerReferences'], [ownedBy(outside)]);
    });
  }

  it('keeps claims and volumes for as long as they are used', async () => {
    const namespace = await newNamespace(server.client);
    const all = `/api/v1/namespaces/${namespace}`;
    const claim = `${all}/persistentvolumeclaims/used`;
    await make(`${all}/persistentvolumeclaims`, { metadata: { name: 'used' }, ...WITH_STATUS['persistentvolumeclaims']?.body }); // prettier-ignore
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'used' } }];
    await make(`${all}/pods`, pod('user', { nodeName: 'n', volumes, containers: [{ name: 'c', image: 'i' }] }));
    const volume = '/api/v1/persistentvolumes/bound';
    const made = await make('/api/v1/persistentvolumes', { metadata: { name: 'bound' }, ...WITH_STATUS['persistentvolumes']?.body }); // prettier-ignore
    ok(await server.client.put(`${volume}/status`, { ...made, status: { phase: 'Bound' } }));
    await remove(claim);
    await remove(volume);
    // Others that are deleted after them go: these were looked at, too.
    await make(`${all}/persistentvolumeclaims`, { metadata: { name: 'unused' }, ...WITH_STATUS['persistentvolumeclaims']?.body }); // prettier-ignore
    await make('/api/v1/persistentvolumes', { metadata: { name: 'free' }, ...WITH_STATUS['persistentvolumes']?.body });
    await remove(`${all}/persistentvolumeclaims/unused`);
    await remove('/api/v1/persistentvolumes/free');
    await goes(`${all}/persistentvolumeclaims/unused`);
    await goes('/api/v1/persistentvolumes/free');
    for (const path of [claim, volume]) {
      assert.notEqual(ok(await server.client.get(path)).metadata.deletionTimestamp, undefined);
    }
    ok(await server.client.delete(`${all}/pods/user`, { gracePeriodSeconds: 0 }));
    const present = ok(await server.client.get(volume));
    ok(await server.client.put(`${volume}/status`, { ...present, status: { phase: 'Released' } }));
    await goes(claim);
    await goes(volume);
  });
});

const ignore = (): void => undefined;
const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };
