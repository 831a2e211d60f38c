import assert from 'node:assert/strict';

import { NO_REVISION, revision } from '../store.js';
import { following, noise, type Scene } from './scene.js';

export function watches(s: Scene): void {
  it('delivers what was written since a past revision', async () => {
    const one = await s.put('a', 'one');
    const two = await s.put('a', 'two');
    const gone = await s.remove('a');
    const { seen } = s.watch({ from: one });
    await seen.count(3);
    assert.deepEqual(seen.lines(s.prefix), [`put a=one@${one}`, `put a=two@${two}`, `delete a@${gone}`]);
    seen.assertOrdered();
  });

  it('begins exactly at `from`', async () => {
    await s.put('a', 'one');
    const two = await s.put('a', 'two');
    const three = await s.put('a', 'three');
    const { seen } = s.watch({ from: two });
    await seen.count(2);
    assert.deepEqual(seen.lines(s.prefix), [`put a=two@${two}`, `put a=three@${three}`]);
  });

  it('delivers what is written from now on', async () => {
    const before = await s.put('a', 'before');
    const { seen } = s.watch({ from: following(before) });
    const one = await s.put('a', 'one');
    const two = await s.put('b', 'two');
    await seen.reached(two);
    assert.deepEqual(seen.lines(s.prefix), [`put a=one@${one}`, `put b=two@${two}`]);
  });

  it('goes on from history to what is written live', async () => {
    const first = await s.put('a', '0');
    for (let i = 1; i < 20; i++) await s.put('a', String(i));
    const { seen } = s.watch({ from: first });
    for (let i = 20; i < 40; i++) await s.put('a', String(i));
    await seen.count(40);
    assert.deepEqual(
      seen.all.map((e) => e.value.toString()),
      Array.from({ length: 40 }, (_, i) => String(i)),
    );
    seen.assertOrdered();
  });

  it('waits for a revision that is yet to come', async () => {
    const head = await s.head();
    const { seen } = s.watch({ from: revision(head + 3) });
    await s.put('a', 'one');
    await s.put('a', 'two');
    const three = await s.put('a', 'three');
    await seen.reached(three);
    assert.deepEqual(seen.lines(s.prefix), [`put a=three@${three}`]);
  });

  it('delivers all changes of a transaction in one batch, in the order of its operations', async () => {
    const from = following(await s.put('gone', 'v'));
    const { seen } = s.watch({ from });
    const { revision: at } = await s.transact([], [s.putOf('b', '1'), s.deleteOf('gone'), s.putOf('a', '2')]);
    await seen.count(3);
    assert.deepEqual(seen.lines(s.prefix), [`put b=1@${at}`, `delete gone@${at}`, `put a=2@${at}`]);
    assert.equal(seen.batches.length, 1);
  });

  it('delivers all changes of a past transaction in one batch', async () => {
    const at = await s.fill('k', 100, 'v');
    const { seen } = s.watch({ from: at });
    await seen.count(100);
    assert.equal(seen.batches.filter((b) => b.some((e) => e.modRevision === at)).length, 1);
  });

  it('sees its prefix and none of its neighbours', async () => {
    const names = ['a', 'a.', 'a/', 'a/1', 'a0', 'a0/1', 'ab/1', 'a/2', 'b'];
    const from = following(await s.head());
    const { seen: live } = s.watch({ from, under: 'a/' });
    const { seen: witness } = s.watch({ from });
    for (const name of names) await s.put(name, 'v');
    await s.transact([], [s.putOf('a0', 'w'), s.putOf('a/3', 'w'), s.deleteOf('ab/1')]);
    const { seen: past } = s.watch({ from, under: 'a/' });
    await Promise.all([live.count(4), past.count(4), witness.count(names.length + 3)]);
    const expected = ['a/', 'a/1', 'a/2', 'a/3'];
    assert.deepEqual(
      live.all.map((e) => e.key.slice(s.prefix.length)),
      expected,
    );
    assert.deepEqual(
      past.all.map((e) => e.key.slice(s.prefix.length)),
      expected,
    );
  });

  it('tells when a key was made and when it was written', async () => {
    const made = await s.put('a', '1');
    const written = await s.put('a', '2');
    const gone = await s.remove('a');
    const again = await s.put('a', '3');
    const { seen } = s.watch({ from: made });
    await seen.count(4);
    assert.deepEqual(
      seen.all.map((e) => [e.createRevision, e.modRevision]),
      [
        [made, made],
        [made, written],
        [NO_REVISION, gone],
        [again, again],
      ],
    );
  });

  it('delivers a delete with no value and the revision of the deletion', async () => {
    const made = await s.put('a', '1');
    const { seen } = s.watch({ from: following(made) });
    const gone = await s.remove('a');
    await seen.count(1);
    const [event] = seen.all;
    assert.deepEqual([event?.type, event?.value.length, event?.modRevision], ['delete', 0, gone]);
    assert.equal(event?.previous, undefined);
  });

  it('carries the value before each change when asked to, live and from history', async () => {
    const from = following(await s.head());
    const { seen: live } = s.watch({ from, withPrevious: true });
    await s.put('a', 'one');
    await s.put('a', 'two');
    await s.put('empty', '');
    await s.put('empty', 'full');
    await s.remove('a');
    await s.put('a', 'again');
    const { seen: past } = s.watch({ from, withPrevious: true });
    await Promise.all([live.count(6), past.count(6)]);
    const expected = [undefined, 'one', undefined, '', 'two', undefined];
    assert.deepEqual(
      live.all.map((e) => e.previous?.toString()),
      expected,
    );
    assert.deepEqual(
      past.all.map((e) => e.previous?.toString()),
      expected,
    );
  });

  it('carries no value before the change when not asked to', async () => {
    const from = await s.put('a', 'one');
    const { seen } = s.watch({ from });
    await s.put('a', 'two');
    await seen.count(2);
    assert.ok(seen.all.every((e) => e.previous === undefined));
  });

  it('delivers the same to each of several watchers', async () => {
    const from = following(await s.head());
    const first = s.watch({ from }).seen;
    const second = s.watch({ from }).seen;
    for (let i = 0; i < 30; i++) await s.put(`k${i % 7}`, String(i));
    const late = s.watch({ from }).seen;
    await Promise.all([first, second, late].map((seen) => seen.count(30)));
    assert.deepEqual(first.lines(s.prefix), second.lines(s.prefix));
    assert.deepEqual(first.lines(s.prefix), late.lines(s.prefix));
    late.assertOrdered();
  });

  it('is silent about transactions that changed nothing', async () => {
    const from = following(await s.put('a', '1'));
    const { seen } = s.watch({ from });
    await s.remove('missing');
    await s.transact([s.unchanged('a')], [s.putOf('a', '2')]);
    const last = await s.put('b', '1');
    await seen.reached(last);
    assert.deepEqual(seen.lines(s.prefix), [`put b=1@${last}`]);
  });

  it('delivers values of 1 MB, live and from history', async () => {
    const from = following(await s.head());
    const values = Array.from({ length: 6 }, () => noise(1_000_000));
    const { seen: live } = s.watch({ from });
    for (const [i, value] of values.entries()) await s.put(`big${i}`, value);
    const { seen: past } = s.watch({ from });
    await Promise.all([live.count(6), past.count(6)]);
    for (const seen of [live, past]) assert.ok(seen.all.every((e, i) => e.value.equals(values[i]!)));
  });

  it('delivers thousands of changes from history', async () => {
    const from = following(await s.head());
    await s.fill('k', 3000, 'x'.repeat(200));
    const { seen } = s.watch({ from });
    await seen.count(3000);
    assert.equal(seen.all.length, 3000);
    seen.assertOrdered();
  });
}
