import assert from 'node:assert/strict';
import { hasReason } from '../../machinery/meta/status.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import { VerbScene } from '../verbs/testing/scene.js';
import type { StoredResource } from './resources.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { WriteDecision, Written } from './writer.js';
import { changeObject, createObject } from './testing/writes.js';

const PATH = 'core/configmaps/ns/a';
const map = (x: string): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'ns' },
  data: { x },
});
const dataOf = (object: { parse: () => unknown }): unknown => (object.parse() as ApiObject)['data'];

describe('Writer', function () {
  this.timeout(20_000);
  let scene: VerbScene;
  let stored: StoredResource;
  beforeEach(async () => {
    scene = await VerbScene.open();
    const found = scene.core.resources.stored('', 'configmaps');
    assert.ok(found);
    stored = found;
  });
  afterEach(() => scene.close());

  const change = (decide: (x: unknown) => WriteDecision): ReturnType<typeof changeObject> =>
    changeObject(scene.core.writer, stored, 'a', (current) => decide(dataOf(current)));
  const put = (x: string): WriteDecision => ({ do: 'put', object: map(x) });

  it('decides again with what somebody quicker has written', async () => {
    await createObject(scene.core.writer, stored, map('1'));
    const seen: unknown[] = [];
    scene.races.beforeNext(
      () => scene.elsewhere(PATH, map('2')),
      () => scene.elsewhere(PATH, map('3')),
    );
    const { object, removed } = await change((x) => {
      seen.push(x);
      return put('mine');
    });
    assert.deepEqual([seen, dataOf(object), removed], [[{ x: '1' }, { x: '2' }, { x: '3' }], { x: 'mine' }, false]);
  });

  it('gives up when somebody is always quicker', async () => {
    await createObject(scene.core.writer, stored, map('0'));
    const { transactions } = scene.races;
    let n = 0;
    scene.races.beforeNext(...Array.from({ length: 40 }, () => () => scene.elsewhere(PATH, map(String(++n)))));
    await assert.rejects(
      change(() => put('mine')),
      (err) => hasReason(err, 'Conflict'),
    );
    assert.equal(scene.races.transactions - transactions, 32);
  });

  it('says that what went meanwhile is gone', async () => {
    await createObject(scene.core.writer, stored, map('1'));
    scene.races.beforeNext(() => scene.elsewhere(PATH, undefined));
    await assert.rejects(
      change(() => put('mine')),
      (err) => hasReason(err, 'NotFound'),
    );
  });

  it('looks in the store before it says that something is not there, or refuses it', async () => {
    await scene.elsewhere(PATH, map('theirs')); // the cache may not know yet
    const { object } = await change(() => put('mine'));
    assert.deepEqual(dataOf(object), { x: 'mine' });
    const asked: unknown[] = [];
    scene.races.beforeRead = () => scene.elsewhere(PATH, map('newer'));
    await assert.rejects(
      change((x) => {
        asked.push(x);
        throw new Error('no');
      }),
      /no/,
    );
    assert.deepEqual(asked, [{ x: 'mine' }, { x: 'newer' }], 'of what the cache says, and of what the store says');
  });

  it('judges once what the store has as the cache has it', async () => {
    await createObject(scene.core.writer, stored, map('1'));
    let asked = 0;
    const refuse = (): never => {
      asked++;
      throw new Error('no');
    };
    await assert.rejects(change(refuse), /no/);
    assert.equal(asked, 1);
  });

  it('removes only what it has judged', async () => {
    await createObject(scene.core.writer, stored, map('1'));
    const seen: unknown[] = [];
    scene.races.beforeNext(() => scene.elsewhere(PATH, map('2')));
    const { object, removed } = await change((x) => {
      seen.push(x);
      return { do: 'delete' };
    });
    assert.deepEqual([seen, dataOf(object), removed], [[{ x: '1' }, { x: '2' }], { x: '2' }, true]);
  });

  it('writes nothing where nothing changes, and only by the word of the store', async () => {
    const first = await createObject(scene.core.writer, stored, map('1'));
    const { transactions } = scene.races;
    const { object } = await change(() => put('1'));
    assert.equal(object.revision, first.revision);
    assert.equal(scene.races.transactions, transactions);
  });

  it('asks the store whether nothing changes, as the cache says', async () => {
    const first = await createObject(scene.core.writer, stored, map('1'));
    scene.races.beforeRead = () => scene.elsewhere(PATH, map('2'));
    const { object } = await change(() => put('1'));
    assert.deepEqual(dataOf(object), { x: '1' });
    assert.ok(object.revision > first.revision + 1, 'written over what came in between');
  });

  it('writes what nothing changes once more where the store has it in a form that is to be left', async () => {
    const first = await createObject(scene.core.writer, stored, map('1'));
    scene.races.marksNext = { stale: true };
    const { object } = await change(() => put('1'));
    assert.ok(object.revision > first.revision);
    assert.equal((await change(() => put('1'))).object.revision, object.revision);
  });

  it('creates what is not there, once', async () => {
    const both = await Promise.allSettled([1, 2].map((n) => createObject(scene.core.writer, stored, map(String(n)))));
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    await assert.rejects(createObject(scene.core.writer, stored, map('3')), (err) => hasReason(err, 'AlreadyExists'));
  });

  it('rehearses a create by the word of the store', async () => {
    const rehearse = (): Promise<unknown> => createObject(scene.core.writer, stored, map('1'), { dryRun: true });
    const { transactions } = scene.races;
    await rehearse();
    await scene.elsewhere(PATH, map('theirs'));
    await assert.rejects(rehearse(), (err) => hasReason(err, 'AlreadyExists'));
    assert.equal(scene.races.transactions, transactions);
  });

  it('rehearses a change of the newest state', async () => {
    await createObject(scene.core.writer, stored, map('1'));
    const { transactions } = scene.races;
    scene.races.beforeRead = () => scene.elsewhere(PATH, map('theirs'));
    const seen: unknown[] = [];
    const decide = (current: CachedObject): WriteDecision => {
      seen.push(dataOf(current));
      return put('mine');
    };
    const written = await changeObject(scene.core.writer, stored, 'a', decide, { dryRun: true });
    assert.deepEqual(seen, [{ x: '1' }, { x: 'theirs' }]);
    assert.deepEqual([dataOf(written.object), written.state?.['data']], [{ x: 'theirs' }, { x: 'mine' }]);
    assert.equal(scene.races.transactions, transactions);
  });

  it('makes what has gone meanwhile, and changes what has come, as the decision says', async () => {
    const makeOrChange = (): Promise<Written> =>
      scene.core.writer.write({ stored, namespace: 'ns', name: 'a' }, (current) =>
        put(current === undefined ? 'made' : 'changed'),
      );
    scene.races.beforeNext(() => scene.elsewhere(PATH, map('theirs')));
    const changed = await makeOrChange();
    assert.deepEqual([changed.created, changed.object && dataOf(changed.object)], [false, { x: 'changed' }]);
    scene.races.beforeNext(() => scene.elsewhere(PATH, undefined));
    await change(() => put('again')).catch(() => undefined);
    const made = await makeOrChange();
    assert.deepEqual([made.created, made.object && dataOf(made.object)], [true, { x: 'made' }]);
  });

  it('takes turns with itself: no write of one server is in the way of another', async () => {
    await createObject(scene.core.writer, stored, map('0'));
    const { transactions } = scene.races;
    await Promise.all(Array.from({ length: 20 }, () => change((x) => put(String(Number((x as { x: string }).x) + 1)))));
    const { object } = await change(() => ({ do: 'nothing' }));
    assert.deepEqual(dataOf(object), { x: '20' });
    assert.equal(scene.races.transactions - transactions, 20);
  });
});
