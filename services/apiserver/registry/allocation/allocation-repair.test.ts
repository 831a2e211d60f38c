import assert from 'node:assert/strict';
import { encodeObject } from '../../../machinery/codec/encode.js';
import {
  allocationIndexes,
  repairAllocations,
  type AllocationRepairOptions,
  type Repaired,
} from './allocation-repair.js';
import { allocating, AllocatingScene, never } from './testing/allocating.js';
import { createObject } from '../testing/writes.js';

describe('repairAllocations()', () => {
  let scene: AllocatingScene;
  let warnings: unknown[];
  beforeEach(async () => {
    scene = await AllocatingScene.open('embedded');
    warnings = [];
  });
  afterEach(() => scene.close());

  const repair = (store: AllocationRepairOptions['store'] = scene.store): Promise<Repaired> =>
    repairAllocations(
      {
        store,
        allocationKey: scene.allocationKey,
        reached: (at, timeoutMs) => scene.feed.waitFor(at, timeoutMs),
        log: { info: () => undefined, warn: (_message, keys) => warnings.push(keys) },
      },
      allocationIndexes([scene.stored]),
      never,
    );
  const restore = (name: string, allocations: string): Promise<void> =>
    scene.putRaw(scene.keyOf(name), encodeObject(allocating(name, allocations)));

  it('finds nothing to do after writes of this server', async () => {
    for (const name of ['a', 'b', 'c'])
      await createObject(scene.writer, scene.stored, allocating(name, `${name}/1,${name}/2`));
    await scene.change('a', 'a/3');
    await scene.remove('b');
    assert.deepEqual(await repair(), { written: 0, removed: 0, twice: 0 });
  });

  it('writes allocations of objects that came without', async () => {
    await restore('a', '1,2');
    assert.deepEqual(await repair(), { written: 2, removed: 0, twice: 0 });
    assert.deepEqual(await scene.allocations(), ['1: a', '2: a']);
  });

  it('removes allocations of objects that are gone, that have released them, and of no object', async () => {
    await createObject(scene.writer, scene.stored, allocating('a', '1,2'));
    await scene.putRaw(scene.allocationKey('3'), scene.keyOf('gone'));
    await scene.putRaw(scene.allocationKey('4'), 'no key at all');
    await restore('a', '1');
    assert.deepEqual(await repair(), { written: 0, removed: 3, twice: 0 });
    assert.deepEqual(await scene.allocations(), ['1: a']);
  });

  it('gives the allocation of an object that is gone to the one that has it', async () => {
    await scene.putRaw(scene.allocationKey('1'), scene.keyOf('gone'));
    await restore('a', '1');
    assert.deepEqual(await repair(), { written: 1, removed: 0, twice: 0 });
    assert.deepEqual(await scene.allocations(), ['1: a']);
  });

  it('tells what more than one object has, and leaves it to the one that holds it', async () => {
    await createObject(scene.writer, scene.stored, allocating('b', '1'));
    await restore('a', '1');
    assert.deepEqual(await repair(), { written: 0, removed: 0, twice: 1 });
    assert.deepEqual(warnings, [{ allocation: '1', objects: [scene.keyOf('a'), scene.keyOf('b')] }]);
    assert.deepEqual(await scene.allocations(), ['1: b']);
  });

  it('writes nothing for an object that goes meanwhile, and removes nothing of one that comes', async () => {
    await restore('goes', '1');
    await scene.putRaw(scene.allocationKey('2'), scene.keyOf('comes'));
    /** Nothing is written before both have happened. */
    let meanwhile: Promise<unknown> | undefined;
    const late: AllocationRepairOptions['store'] = {
      range: (prefix, o, signal) => scene.store.range(prefix, o, signal),
      transact: async (t, signal) => {
        meanwhile ??= Promise.all([
          scene.remove('goes'),
          createObject(scene.writer, scene.stored, allocating('comes', '2')),
        ]);
        await meanwhile;
        return scene.store.transact(t, signal);
      },
    };
    assert.deepEqual(await repair(late), { written: 0, removed: 0, twice: 0 });
    assert.deepEqual(await scene.allocations(), ['2: comes']);
  });

  it('goes through more allocations than one page has', async function () {
    this.timeout(20_000);
    for (let i = 0; i < 30; i++) {
      const allocations = Array.from({ length: 50 }, (_, n) => `port/${i * 50 + n}`).join();
      await restore(`n${i}`, allocations);
    }
    assert.deepEqual(await repair(), { written: 1_500, removed: 0, twice: 0 });
    for (let i = 0; i < 30; i++) await scene.putRaw(scene.keyOf(`n${i}`), undefined);
    assert.deepEqual(await repair(), { written: 0, removed: 1_500, twice: 0 });
    assert.deepEqual(await scene.allocations(), []);
  });
});
