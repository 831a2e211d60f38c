import assert from 'node:assert/strict';
import { ClaimIndex } from './claims-index.js';
import { claiming, ClaimingScene } from './testing/claiming.js';
import { createObject } from './testing/writes.js';

describe('ClaimIndex', () => {
  let scene: ClaimingScene;
  let index: ClaimIndex;
  beforeEach(async () => {
    scene = await ClaimingScene.open('embedded');
    index = new ClaimIndex(scene.stored.cache, scene.stored.strategy.claims ?? assert.fail());
  });
  afterEach(() => scene.close());

  const known = async (...claims: string[]): Promise<string[]> => {
    await scene.settled();
    index.catchUp();
    return claims.filter((claim) => index.has(claim));
  };

  it('follows objects as they come, change and go', async () => {
    await createObject(scene.writer, scene.stored, claiming('a', '1,2'));
    assert.deepEqual(await known('1', '2', '3'), ['1', '2']);
    await createObject(scene.writer, scene.stored, claiming('b', '3'));
    await scene.change('a', '2,4');
    assert.deepEqual(await known('1', '2', '3', '4'), ['2', '3', '4']);
    await scene.remove('a');
    assert.deepEqual(await known('1', '2', '3', '4'), ['3']);
    assert.deepEqual([...index.claimants()].map(({ key, claims }) => [key, claims]), [[scene.keyOf('b'), ['3']]]); // prettier-ignore
  });

  it('knows what two have until both let go', async () => {
    await createObject(scene.writer, scene.stored, claiming('a', '1'));
    await scene.putRaw(scene.claimKey('1'), undefined);
    await createObject(scene.writer, scene.stored, claiming('b', '1'));
    assert.deepEqual(await known('1'), ['1']);
    await scene.remove('a');
    assert.deepEqual(await known('1'), ['1']);
    await scene.remove('b');
    assert.deepEqual(await known('1'), []);
  });

  it('starts over when the history does not go back to where it was', async () => {
    await createObject(scene.writer, scene.stored, claiming('a', '1'));
    assert.deepEqual(await known('1'), ['1']);
    scene.stored.cache.load([], scene.feed.revision);
    assert.deepEqual(await known('1'), []);
  });
});
