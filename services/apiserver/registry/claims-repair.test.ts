import assert from 'node:assert/strict';
import { encodeObject } from '../../machinery/codec/encode.js';
import { claimIndexes, repairClaims, type ClaimRepairOptions, type Repaired } from './claims-repair.js';
import { claiming, ClaimingScene, never } from './testing/claiming.js';
import { createObject } from './testing/writes.js';

describe('repairClaims()', () => {
  let scene: ClaimingScene;
  let warnings: unknown[];
  beforeEach(async () => {
    scene = await ClaimingScene.open('embedded');
    warnings = [];
  });
  afterEach(() => scene.close());

  const repair = (store: ClaimRepairOptions['store'] = scene.store): Promise<Repaired> =>
    repairClaims(
      {
        store,
        claimKey: scene.claimKey,
        reached: (at, timeoutMs) => scene.feed.waitFor(at, timeoutMs),
        log: { info: () => undefined, warn: (_message, keys) => warnings.push(keys) },
      },
      claimIndexes([scene.stored]),
      never,
    );
  const restore = (name: string, claims: string): Promise<void> =>
    scene.putRaw(scene.keyOf(name), encodeObject(claiming(name, claims)));

  it('finds nothing to do after writes of this server', async () => {
    for (const name of ['a', 'b', 'c'])
      await createObject(scene.writer, scene.stored, claiming(name, `${name}/1,${name}/2`));
    await scene.change('a', 'a/3');
    await scene.remove('b');
    assert.deepEqual(await repair(), { written: 0, removed: 0, twice: 0 });
  });

  it('writes claims of objects that came without', async () => {
    await restore('a', '1,2');
    assert.deepEqual(await repair(), { written: 2, removed: 0, twice: 0 });
    assert.deepEqual(await scene.claims(), ['1: a', '2: a']);
  });

  it('removes claims of objects that are gone, that have let go, and of nobody', async () => {
    await createObject(scene.writer, scene.stored, claiming('a', '1,2'));
    await scene.putRaw(scene.claimKey('3'), scene.keyOf('gone'));
    await scene.putRaw(scene.claimKey('4'), 'no key at all');
    await restore('a', '1');
    assert.deepEqual(await repair(), { written: 0, removed: 3, twice: 0 });
    assert.deepEqual(await scene.claims(), ['1: a']);
  });

  it('gives what stands for an object that is gone to the one that has it', async () => {
    await scene.putRaw(scene.claimKey('1'), scene.keyOf('gone'));
    await restore('a', '1');
    assert.deepEqual(await repair(), { written: 1, removed: 0, twice: 0 });
    assert.deepEqual(await scene.claims(), ['1: a']);
  });

  it('tells what more than one object has, and leaves it to the one that holds it', async () => {
    await createObject(scene.writer, scene.stored, claiming('b', '1'));
    await restore('a', '1');
    assert.deepEqual(await repair(), { written: 0, removed: 0, twice: 1 });
    assert.deepEqual(warnings, [{ claim: '1', objects: [scene.keyOf('a'), scene.keyOf('b')] }]);
    assert.deepEqual(await scene.claims(), ['1: b']);
  });

  it('writes nothing for an object that goes meanwhile, and removes nothing of one that comes', async () => {
    await restore('goes', '1');
    await scene.putRaw(scene.claimKey('2'), scene.keyOf('comes'));
    /** Nothing is written before both have happened. */
    let meanwhile: Promise<unknown> | undefined;
    const late: ClaimRepairOptions['store'] = {
      range: (prefix, o, signal) => scene.store.range(prefix, o, signal),
      transact: async (t, signal) => {
        meanwhile ??= Promise.all([
          scene.remove('goes'),
          createObject(scene.writer, scene.stored, claiming('comes', '2')),
        ]);
        await meanwhile;
        return scene.store.transact(t, signal);
      },
    };
    assert.deepEqual(await repair(late), { written: 0, removed: 0, twice: 0 });
    assert.deepEqual(await scene.claims(), ['2: comes']);
  });

  it('goes through more claims than one page has', async function () {
    this.timeout(20_000);
    for (let i = 0; i < 30; i++) {
      const claims = Array.from({ length: 50 }, (_, n) => `port/${i * 50 + n}`).join();
      await restore(`n${i}`, claims);
    }
    assert.deepEqual(await repair(), { written: 1_500, removed: 0, twice: 0 });
    for (let i = 0; i < 30; i++) await scene.putRaw(scene.keyOf(`n${i}`), undefined);
    assert.deepEqual(await repair(), { written: 0, removed: 1_500, twice: 0 });
    assert.deepEqual(await scene.claims(), []);
  });
});
