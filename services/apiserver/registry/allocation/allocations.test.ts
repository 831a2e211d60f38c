import assert from 'node:assert/strict';
import { hasReason } from '../../../machinery/meta/status.js';
import { AlreadyAllocated } from './allocations.js';
import { allocating, AllocatingScene } from './testing/allocating.js';
import { changeObject, createObject } from '../testing/writes.js';

const taken =
  (allocation: string, holder: string) =>
  (err: Error): boolean =>
    err instanceof AlreadyAllocated && err.allocation === allocation && err.holder === holder;

for (const store of ['embedded', 'etcd'] as const) {
  describe(`Writer with allocations (${store} store)`, function () {
    this.timeout(30_000);
    let scene: AllocatingScene;
    beforeEach(async () => {
      scene = await AllocatingScene.open(store);
    });
    afterEach(() => scene.close());
    const create = (name: string, allocations: string): Promise<unknown> =>
      createObject(scene.writer, scene.stored, allocating(name, allocations));

    it('writes the allocations of an object, and removes them with the object', async () => {
      await create('a', 'ip/1,port/1');
      assert.deepEqual(await scene.allocations(), ['ip/1: a', 'port/1: a']);
      await scene.remove('a');
      assert.deepEqual(await scene.allocations(), []);
    });

    it('writes neither object nor allocations when one of them is held', async () => {
      await create('a', 'port/2');
      await assert.rejects(create('b', 'port/1,port/2'), taken('port/2', scene.keyOf('a')));
      assert.deepEqual(await scene.allocations(), ['port/2: a']);
      assert.equal((await scene.store.get(scene.keyOf('b'), {}, new AbortController().signal)).kv, undefined);
    });

    it('says that the object is there when object and allocations are', async () => {
      await create('a', 'port/1');
      await assert.rejects(create('a', 'port/1'), (err) => hasReason(err, 'AlreadyExists'));
    });

    it('takes and releases allocations as the object changes', async () => {
      await create('a', '1,2');
      await scene.change('a', '2,3');
      assert.deepEqual(await scene.allocations(), ['2: a', '3: a']);
      await scene.change('a', '', { still: 'there' });
      assert.deepEqual(await scene.allocations(), []);
    });

    it('leaves allocations that are older than the last state of the object', async () => {
      await create('a', '1,2');
      await scene.change('a', '1,2', { another: 'state' });
      await scene.change('a', '2,3');
      await scene.change('a', '2,3', { another: 'state' });
      await scene.remove('a');
      assert.deepEqual(await scene.allocations(), []);
    });

    it('changes nothing when a new allocation is held', async () => {
      await create('a', '1');
      await create('b', '2');
      await assert.rejects(scene.change('b', '1'), taken('1', scene.keyOf('a')));
      assert.deepEqual(await scene.allocations(), ['1: a', '2: b']);
    });

    it('gives an allocation to one of many that want it at once', async () => {
      const all = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => create(`n${i}`, `own/${i},port/1`)));
      assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1);
      const allocations = await scene.allocations();
      assert.equal(allocations.length, 2);
      assert.equal(allocations[0]?.split(': ')[1], allocations[1]?.split(': ')[1]);
    });

    it('lets go only of what is its own', async () => {
      await create('a', '1,2');
      await scene.putRaw(scene.allocationKey('1'), scene.keyOf('another'));
      await scene.putRaw(scene.allocationKey('2'), undefined);
      await scene.remove('a');
      assert.deepEqual(await scene.allocations(), ['1: another']);
    });

    it('takes an allocation that names the object already', async () => {
      await scene.putRaw(scene.allocationKey('1'), scene.keyOf('a'));
      await create('a', '1');
      assert.deepEqual(await scene.allocations(), ['1: a']);
    });

    it('tells without writing whether allocations could be had', async () => {
      await create('a', '1');
      const head = await scene.store.head(new AbortController().signal);
      await assert.rejects(
        createObject(scene.writer, scene.stored, allocating('b', '1'), { dryRun: true }),
        taken('1', scene.keyOf('a')),
      );
      await createObject(scene.writer, scene.stored, allocating('b', '2'), { dryRun: true });
      await scene.settled();
      const both = { do: 'put', object: allocating('a', '1,2') } as const;
      const { state } = await changeObject(scene.writer, scene.stored, 'a', () => both, { dryRun: true });
      assert.equal(state, both.object);
      assert.equal(await scene.store.head(new AbortController().signal), head);
    });

    it('refuses more than fit into a transaction, and takes as many as do', async () => {
      const many = (count: number): string => Array.from({ length: count }, (_, i) => `port/${i}`).join();
      await assert.rejects(create('a', many(128)), (err) => hasReason(err, 'RequestEntityTooLarge'));
      await create('a', many(127));
      await scene.remove('a');
      assert.deepEqual(await scene.allocations(), []);
    });
  });
}
