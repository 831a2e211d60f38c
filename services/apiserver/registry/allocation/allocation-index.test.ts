import assert from 'node:assert/strict';
import { AllocationIndex } from './allocation-index.js';
import { allocating, AllocatingScene } from './testing/allocating.js';
import { createObject } from '../testing/writes.js';

describe('AllocationIndex', () => {
  let scene: AllocatingScene;
  let index: AllocationIndex;
  beforeEach(async () => {
    scene = await AllocatingScene.open('embedded');
    index = new AllocationIndex(scene.stored.cache, scene.stored.strategy.allocations ?? assert.fail());
  });
  afterEach(() => scene.close());

  const known = async (...allocations: string[]): Promise<string[]> => {
    await scene.settled();
    index.catchUp();
    return allocations.filter((allocation) => index.has(allocation));
  };

  it('follows objects as they come, change and go', async () => {
    await createObject(scene.writer, scene.stored, allocating('a', '1,2'));
    assert.deepEqual(await known('1', '2', '3'), ['1', '2']);
    await createObject(scene.writer, scene.stored, allocating('b', '3'));
    await scene.change('a', '2,4');
    assert.deepEqual(await known('1', '2', '3', '4'), ['2', '3', '4']);
    await scene.remove('a');
    assert.deepEqual(await known('1', '2', '3', '4'), ['3']);
    assert.deepEqual([...index.objects()].map(({ key, allocations }) => [key, allocations]), [[scene.keyOf('b'), ['3']]]); // prettier-ignore
  });

  it('knows what two have until both let go', async () => {
    await createObject(scene.writer, scene.stored, allocating('a', '1'));
    await scene.putRaw(scene.allocationKey('1'), undefined);
    await createObject(scene.writer, scene.stored, allocating('b', '1'));
    assert.deepEqual(await known('1'), ['1']);
    await scene.remove('a');
    assert.deepEqual(await known('1'), ['1']);
    await scene.remove('b');
    assert.deepEqual(await known('1'), []);
  });

  it('starts over when the history does not go back to where it was', async () => {
    await createObject(scene.writer, scene.stored, allocating('a', '1'));
    assert.deepEqual(await known('1'), ['1']);
    scene.stored.cache.load([], scene.feed.revision);
    assert.deepEqual(await known('1'), []);
  });
});
