import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { DiscoveredResource } from '../client/discovery/discovery.js';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { DeleteOptions } from '../client/rest/client.js';
import type { AnyObject, Live, ResourceType } from '../client/rest/resource-type.js';
import type { Controller, ControllerDeps } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import type { ObjectMeta, OwnerReference } from '../machinery/types/generated/meta.v1.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { openGarbageCollector } from './garbage-collector.js';
import { endingOf, ownersOf } from './owner-graph.js';

const { configMaps, secrets, namespaces, events } = builtInTypes(vocabulary('platform'));
const never = new AbortController().signal;

const served = (type: ResourceType): DiscoveredResource => ({
  ...type,
  verbs: new Set(['get', 'list', 'watch', 'delete']),
  shortNames: [],
  categories: [],
  subresources: [],
  isPreferred: true,
});

const reference = (type: ResourceType, { metadata }: Live<AnyObject>, more: OwnerReference = {}): OwnerReference => ({
  apiVersion: type.group === '' ? type.version : `${type.group}/${type.version}`,
  kind: type.kind,
  name: metadata.name,
  uid: metadata.uid,
  ...more,
});
const ABSENT: OwnerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'never' };

describe('the garbage collector', () => {
  let cluster: FakeCluster;
  let controller: Controller;
  const open = async (deps: ControllerDeps = cluster.deps()): Promise<Controller> => {
    const opened = openGarbageCollector({ concurrentGcSyncs: 2 }, deps);
    for (const informer of opened.informers) await informer.synced(never);
    return opened;
  };
  beforeEach(async () => {
    cluster = new FakeCluster();
    cluster.mindsFinalizers = true;
    cluster.served = { resources: [configMaps, secrets, namespaces, events].map(served), failed: [] };
    controller = await open();
  });

  const put = (name: string, owners: readonly OwnerReference[] = [], more: Partial<ObjectMeta> = {}): Live<AnyObject> =>
    cluster.put(configMaps, { metadata: { name, namespace: 'ns', ownerReferences: owners, ...more } });
  const owned = (
    name: string,
    owner: Live<AnyObject>,
    blocks = true,
    more: Partial<ObjectMeta> = {},
  ): Live<AnyObject> => put(name, [reference(configMaps, owner, { blockOwnerDeletion: blocks })], more);
  const remove = (name: string, propagationPolicy: NonNullable<DeleteOptions['propagationPolicy']>): Promise<void> =>
    cluster.client.resource(configMaps).delete({ namespace: 'ns', name }, { propagationPolicy }, never);
  const settle = async (): Promise<void> => cluster.settle(controller);
  const left = (): readonly string[] => cluster.list(configMaps).map(({ metadata }) => metadata.name).sort(); // prettier-ignore
  const asked = (): readonly string[] => cluster.asked.filter((it) => it.includes(' configmaps '));
  const metadataOf = (name: string): ObjectMeta => cluster.get(configMaps, `ns/${name}`)?.metadata ?? assert.fail();

  it('asks for nothing as long as owners are there', async () => {
    owned('a', put('o'));
    owned('b', put('p'));
    await settle();
    assert.deepEqual(cluster.asked, []);
  });

  it('deletes what was owned by something that is gone, and what that owned', async () => {
    owned('b', owned('a', put('o')));
    put('free');
    await settle();
    await remove('o', 'Background');
    await settle();
    assert.deepEqual(left(), ['free']);
  });

  it('asks once for an owner that nobody has seen, and deletes by uid and state', async () => {
    put('a', [ABSENT]);
    put('b', [ABSENT]);
    await settle();
    assert.deepEqual(left(), []);
    assert.deepEqual(asked(), ['get configmaps ns/gone', 'delete configmaps ns/a', 'delete configmaps ns/b']); // prettier-ignore
  });

  it('does not ask for an owner that it has seen go', async () => {
    owned('a', put('o'));
    await settle();
    cluster.remove(configMaps, 'ns/o');
    await settle();
    assert.deepEqual(asked(), ['delete configmaps ns/a']);
  });

  it('takes an owner with another uid for one that is gone', async () => {
    put('o');
    put('a', [{ ...ABSENT, name: 'o' }]);
    await settle();
    assert.deepEqual(left(), ['o']);
  });

  it('leaves an object alone that has changed its mind by then', async () => {
    cluster.isLagging = true;
    put('a', [ABSENT]);
    cluster.catchUp();
    put('a', []);
    await settle();
    assert.deepEqual(left(), ['a']);
    put('b', [ABSENT]);
    cluster.catchUp();
    for (let i = 0; i < 5; i++) cluster.refuse(/^delete/, 'Conflict');
    const [key = ''] = cluster.queued;
    assert.ok(((await controller.reconcile(key, never))?.againInMs ?? 0) > 0);
    await settle();
    assert.deepEqual(left(), ['a']);
  });

  it('takes references to owners that are gone out of an object that another owner keeps', async () => {
    const o = put('o');
    put('a', [reference(configMaps, o), ABSENT]);
    await settle();
    assert.deepEqual(metadataOf('a').ownerReferences, [reference(configMaps, o)]);
    const patched = asked().filter((it) => it.startsWith('patch'));
    assert.deepEqual(patched, ['patch configmaps ns/a']);
  });

  it('deletes nothing whose owner is of a kind that it does not know, until it does', async () => {
    put('a', [{ ...ABSENT, apiVersion: 'example.com/v1', kind: 'Thing' }]);
    put('b', [{ ...ABSENT, kind: 'Secret' }, { ...ABSENT, apiVersion: 'example.com/v1', kind: 'Thing' }]); // prettier-ignore
    await settle();
    assert.deepEqual(left(), ['a', 'b']);
    const things = { ...served(configMaps), group: 'example.com', kind: 'Thing', resource: 'things' };
    cluster.served = { resources: [...cluster.served.resources, things], failed: [] };
    const stop = new AbortController();
    const running = controller.run?.(stop.signal);
    while (cluster.queued.size === 0) await new Promise(setImmediate);
    stop.abort();
    await running;
    await settle();
    assert.deepEqual(left(), []);
  });

  it('looks again at an owner of a type that it cannot follow', async () => {
    cluster.served = { resources: [served(configMaps), { ...served(secrets), verbs: new Set(['get']) }], failed: [] };
    controller = await open();
    const s = cluster.put(secrets, { metadata: { name: 's', namespace: 'ns' } });
    const { metadata } = put('a', [reference(secrets, s)]);
    const key = `examine/${metadata.uid}`;
    assert.ok(((await controller.reconcile(key, never))?.againInMs ?? 0) > 0);
    cluster.remove(secrets, 'ns/s');
    await settle();
    assert.deepEqual(left(), []);
  });

  it('judges again what changes between its look and its deletion', async () => {
    const deps = cluster.deps();
    const metadata: typeof deps.client.metadata = (type) => {
      const requests = deps.client.metadata(type);
      const get: typeof requests.get = async (name, signal) => {
        const object = await requests.get(name, signal).catch((err: unknown) => err as Error);
        if (name.name === 'gone') put('a');
        if (object instanceof Error) throw object;
        return object;
      };
      return { ...requests, get };
    };
    controller = await open({ ...deps, client: { ...deps.client, metadata } });
    put('a', [ABSENT]);
    await settle();
    assert.deepEqual(left(), ['a']);
  });

  describe('while a type that came later is not synced', () => {
    const waiting = new Map<string, () => void>();
    let stop: AbortController;
    let running: Promise<void> | undefined;
    const tick = async (): Promise<void> => {
      for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    };
    beforeEach(async () => {
      const deps = cluster.deps();
      cluster.served = { resources: [served(configMaps)], failed: [] };
      const metadataOfType: typeof deps.informers.metadataOf = (type) => {
        const informer = deps.informers.metadataOf(type);
        let isSynced = type.resource !== 'secrets';
        const synced = new Promise<void>((resolve) => waiting.set(type.resource, resolve)).then(() => void (isSynced = true)); // prettier-ignore
        return {
          type,
          store: informer.store,
          get isSynced() {
            return isSynced;
          },
          synced: () => (isSynced ? Promise.resolve() : synced),
          handle: (handler) => informer.handle(handler),
          index: (name, of) => informer.index(name, of),
        };
      };
      controller = await open({ ...deps, informers: { ...deps.informers, metadataOf: metadataOfType } });
      cluster.served = { resources: [served(configMaps), served(secrets)], failed: [] };
      stop = new AbortController();
      running = controller.run?.(stop.signal);
      await tick();
    });
    afterEach(async () => {
      stop.abort();
      await running;
    });
    const sync = async (): Promise<void> => {
      waiting.get('secrets')?.();
      await tick();
      await settle();
    };

    it('deletes nothing that one of that type may own', async () => {
      put('a', [{ ...ABSENT, kind: 'Secret' }]);
      await settle();
      assert.deepEqual(left(), ['a']);
      await sync();
      assert.deepEqual(left(), []);
    });

    for (const policy of ['Foreground', 'Orphan'] as const) {
      it(`lets nothing go that waits for dependents: ${policy}`, async () => {
        put('o');
        await remove('o', policy);
        await settle();
        assert.deepEqual(left(), ['o']);
        await sync();
        assert.deepEqual(left(), []);
      });
    }
  });

  it('fails, and deletes nothing, when the server does not tell whether an owner is there', async () => {
    put('a', [ABSENT]);
    cluster.refuse(/^get configmaps ns\/gone/, 'InternalError');
    await assert.rejects(settle(), { reason: 'InternalError' });
    assert.deepEqual(left(), ['a']);
  });

  it('says so when an owner is in another namespace, and takes it for one that is gone', async () => {
    const o = cluster.put(configMaps, { metadata: { name: 'o', namespace: 'other' } });
    put('a', [reference(configMaps, o)]);
    await settle();
    assert.deepEqual(left(), ['o']);
    assert.deepEqual(
      cluster.events.map(({ reason, message }) => `${reason}: ${message}`),
      [
        `OwnerRefInvalidNamespace: ownerRef [v1/ConfigMap, namespace: ns, name: o, uid: ${o.metadata.uid}] does not exist in namespace "ns"`,
      ],
    );
  });

  it('leaves an object without a namespace alone that says it is owned by one which has a namespace', async () => {
    const o = put('o');
    const gone = { ...ABSENT, kind: 'Namespace' };
    cluster.put(namespaces, { metadata: { name: 'n', ownerReferences: [reference(configMaps, o), gone] } });
    await settle();
    assert.equal(cluster.list(namespaces).length, 1);
    assert.deepEqual(
      cluster.events.map(({ reason }) => reason),
      ['OwnerRefInvalidNamespace'],
    );
  });

  it('lets events be', async () => {
    cluster.put(events, { metadata: { name: 'e', namespace: 'ns', ownerReferences: [ABSENT] } });
    await settle();
    assert.equal(cluster.list(events).length, 1);
  });

  describe('in the foreground', () => {
    it('deletes dependents first, and waits for those that block', async () => {
      const o = put('o');
      owned('a', o, true, { finalizers: ['example.com/mine'] });
      owned('b', o, false, { finalizers: ['example.com/mine'] });
      await settle();
      await remove('o', 'Foreground');
      await settle();
      assert.deepEqual(left(), ['a', 'b', 'o']);
      assert.ok(endingOf(cluster.get(configMaps, 'ns/a') ?? assert.fail()) === 'plain');
      assert.ok(endingOf(cluster.get(configMaps, 'ns/b') ?? assert.fail()) === 'plain');
      cluster.remove(configMaps, 'ns/a');
      await settle();
      assert.deepEqual(left(), ['b']);
    });

    it('goes on with dependents of dependents', async () => {
      const o = put('o');
      const a = owned('a', o);
      owned('b', a, true, { finalizers: ['example.com/mine'] });
      await settle();
      await remove('o', 'Foreground');
      await settle();
      assert.deepEqual(left(), ['a', 'b', 'o']);
      assert.deepEqual(metadataOf('a').finalizers, ['foregroundDeletion']);
      cluster.remove(configMaps, 'ns/b');
      await settle();
      assert.deepEqual(left(), []);
    });

    it('leaves a dependent to its other owner', async () => {
      const [o, p] = [put('o'), put('p')];
      put('a', [reference(configMaps, o, { blockOwnerDeletion: true }), reference(configMaps, p)]);
      await settle();
      await remove('o', 'Foreground');
      await settle();
      assert.deepEqual(left(), ['a', 'p']);
      assert.deepEqual(metadataOf('a').ownerReferences, [reference(configMaps, p)]);
    });

    it('deletes a dependent that comes while its owner waits', async () => {
      const o = put('o');
      owned('a', o, true, { finalizers: ['example.com/mine'] });
      await remove('o', 'Foreground');
      await settle();
      owned('b', o);
      await settle();
      assert.deepEqual(left(), ['a', 'o']);
      assert.equal(asked().filter((it) => it.endsWith(' ns/b')).length, 1);
    });

    for (const others of [[], ['b'], ['b', 'c']]) {
      it(`finishes a circle of which ${1 + others.length} are deleted so`, async () => {
        const c = put('c');
        const b = owned('b', c);
        owned('c', owned('a', b), true, { uid: c.metadata.uid });
        await settle();
        for (const name of ['a', ...others]) await remove(name, 'Foreground');
        await settle();
        assert.deepEqual(left(), []);
      });
    }
  });

  describe('orphaning', () => {
    it('leaves dependents as objects of their own', async () => {
      const [o, p] = [put('o'), put('p')];
      owned('a', o, true);
      put('b', [reference(configMaps, o), reference(configMaps, p)]);
      await settle();
      await remove('o', 'Orphan');
      await settle();
      assert.deepEqual(left(), ['a', 'b', 'p']);
      assert.equal(metadataOf('a').ownerReferences, undefined);
      assert.deepEqual(metadataOf('b').ownerReferences, [reference(configMaps, p)]);
      assert.equal(asked().filter((it) => it.startsWith('get')).length, 0);
    });

    it('keeps the owner until all dependents are free', async () => {
      const o = put('o');
      owned('a', o);
      await settle();
      await remove('o', 'Orphan');
      cluster.refuse(/^patch configmaps ns\/a/, 'InternalError');
      await assert.rejects(settle(), { reason: 'InternalError' });
      assert.deepEqual(metadataOf('o').finalizers, ['orphan']);
    });

    it('leaves a dependent alone that was made before, and that its informer has not shown yet', async () => {
      const o = put('o');
      await settle();
      cluster.isLagging = true;
      owned('late', o);
      cluster.isLagging = false;
      await remove('o', 'Orphan');
      await settle();
      cluster.catchUp();
      await settle();
      assert.deepEqual(left(), ['late']);
      assert.equal(metadataOf('late').ownerReferences, undefined);
    });

    it('takes one reference out of what there is by then, and no other', async () => {
      const [o, p] = [put('o'), put('p')];
      owned('a', o);
      await settle();
      cluster.isLagging = true;
      put('a', [reference(configMaps, o), reference(configMaps, p)]);
      cluster.isLagging = false;
      await remove('o', 'Orphan');
      await settle();
      assert.deepEqual(metadataOf('a').ownerReferences, [reference(configMaps, p)]);
    });

    it('keeps the owner when others overtake it again and again', async () => {
      owned('a', put('o'));
      await settle();
      await remove('o', 'Orphan');
      for (let i = 0; i < 5; i++) cluster.refuse(/^patch configmaps ns\/a/, 'Conflict');
      const [key = ''] = cluster.queued;
      assert.ok(((await controller.reconcile(key, never))?.againInMs ?? 0) > 0);
      assert.deepEqual(metadataOf('o').finalizers, ['orphan']);
      await settle();
      assert.deepEqual(left(), ['a']);
    });

    it('frees the dependents of one that goes because its owner went, when it wants that', async () => {
      const o = put('o');
      const a = owned('a', o, true, { finalizers: ['orphan'] });
      owned('b', a);
      await settle();
      await remove('o', 'Background');
      await settle();
      assert.deepEqual(left(), ['b']);
      assert.equal(metadataOf('b').ownerReferences, undefined);
    });

    it('waits as long as there may be dependents that it cannot see', async () => {
      cluster.served = { ...cluster.served, failed: ['example.com/v1'] };
      controller = await open();
      owned('a', put('o'));
      await remove('o', 'Orphan');
      await settle();
      assert.deepEqual(left(), ['a', 'o']);
    });
  });

  describe('with any owners, deletions, and informers that lag', () => {
    const COUNT = 6;
    const owner = fc.record({ of: fc.integer({ min: 0, max: COUNT }), blocks: fc.boolean() }); // the last is not there
    const owners = fc.uniqueArray(owner, { maxLength: 3, selector: ({ of }) => of });
    const policy = fc.constantFrom('Background', 'Foreground', 'Orphan');
    const action = fc.oneof(
      fc.record({ remove: fc.integer({ min: 0, max: COUNT - 1 }), policy }),
      fc.record({ work: fc.integer({ min: 0, max: 20 }) }),
      fc.constant({ catchUp: true } as const),
    );

    /** Judges each deletion by the state of the server. */
    class Judge extends FakeCluster {
      readonly policies = new Map<string, string>();

      override remove(type: ResourceType, key: string): void {
        const { uid } = this.get(type, key)?.metadata ?? assert.fail(key);
        const references = this.list(type).flatMap((it) => ownersOf(it).filter((r) => r.uid === uid && it.metadata.uid !== uid)); // prettier-ignore
        const how = this.policies.get(uid);
        if (how === 'Orphan') assert.deepEqual(references, [], 'it has dependents still');
        if (how === 'Foreground')
          assert.ok(!references.some((it) => it.blockOwnerDeletion === true), 'it is waited for');
        super.remove(type, key);
      }

      /** The collector's own deletions. */
      judged(deps: ControllerDeps): ControllerDeps {
        const metadata: typeof deps.client.metadata = (type) => {
          const requests = deps.client.metadata(type);
          return {
            ...requests,
            delete: (name, o, signal) => {
              const object = this.get(type, `${name.namespace ?? ''}/${name.name}`);
              if (object === undefined) return requests.delete(name, o, signal); // informers show it still
              const here = new Map(this.list(type).map((it) => [it.metadata.uid, it]));
              const kept = ownersOf(object).map(({ uid = '' }) => here.get(uid)).filter((it) => it !== undefined); // prettier-ignore
              assert.ok(kept.every((it) => endingOf(it) === 'foreground'), 'an owner keeps it'); // prettier-ignore
              assert.ok(ownersOf(object).length > 0, 'it has no owner');
              this.policies.set(object.metadata.uid, o.propagationPolicy ?? '');
              return requests.delete(name, o, signal);
            },
          };
        };
        return { ...deps, client: { ...deps.client, metadata } };
      }
    }

    it('deletes nothing that is owned, leaves nothing that is not, and ends all deletions', async () => {
      const objects = fc.array(owners, { minLength: COUNT, maxLength: COUNT });
      await fc.assert(
        fc.asyncProperty(objects, fc.array(action, { maxLength: 40 }), async (all, actions) => {
          const judge = new Judge();
          cluster = judge;
          cluster.mindsFinalizers = true;
          cluster.served = { resources: [served(configMaps)], failed: [] };
          controller = await open(judge.judged(cluster.deps()));
          all.forEach((its, i) => {
            const references = its.map(({ of, blocks }) => ({ ...ABSENT, name: `o${of}`, uid: `u${of}`, blockOwnerDeletion: blocks })); // prettier-ignore
            put(`o${i}`, references, { uid: `u${i}` });
          });
          cluster.isLagging = true;
          for (const it of actions) {
            if ('remove' in it) {
              const present = cluster.get(configMaps, `ns/o${it.remove}`);
              if (present === undefined) continue;
              judge.policies.set(present.metadata.uid, it.policy);
              await remove(present.metadata.name, it.policy);
            } else if ('work' in it) {
              const key = [...cluster.queued][it.work];
              if (key === undefined) continue;
              cluster.queued.delete(key);
              if ((await controller.reconcile(key, never)) !== undefined) cluster.queued.add(key);
            } else cluster.catchUp();
          }
          cluster.isLagging = false;
          cluster.catchUp();
          await settle();
          const here = new Set(cluster.list(configMaps).map(({ metadata }) => metadata.uid));
          for (const object of cluster.list(configMaps)) {
            assert.equal(object.metadata.deletionTimestamp, undefined, 'its deletion does not end');
            const its = ownersOf(object);
            assert.ok(its.length === 0 || its.some(({ uid = '' }) => here.has(uid)), 'nothing owns it');
          }
        }),
        { numRuns: 300 },
      );
    });
  });
});
