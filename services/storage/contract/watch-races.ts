import assert from 'node:assert/strict';

import { revision } from '../store.js';
import type { Observed, Scene } from './scene.js';

export function watchRaces(s: Scene): void {
  it('neither loses nor repeats any of 500 writes that race with its opening', async () => {
    const from = revision((await s.head()) + 1);
    const writes = Array.from({ length: 500 }, (_, i) => s.put(`k${i % 50}`, String(i)));
    const opened: Observed[] = [];
    for (const at of [0, 100, 250, 499]) {
      await writes[at];
      opened.push(s.watch({ from }));
    }
    const written = (await Promise.all(writes)).toSorted((a, b) => a - b);
    for (const { seen } of opened) {
      await seen.count(500);
      assert.deepEqual(
        seen.all.map((e) => e.modRevision),
        written,
      );
      seen.assertOrdered();
    }
  });

  it('begins exactly after the head that was read in the middle of writes', async () => {
    const writes = Array.from({ length: 300 }, (_, i) => s.put(`k${i}`, 'v'));
    const opened: { from: number; observed: Observed }[] = [];
    for (const at of [0, 50, 150, 299]) {
      await writes[at];
      const from = revision((await s.head()) + 1);
      opened.push({ from, observed: s.watch({ from }) });
    }
    const written = (await Promise.all(writes)).toSorted((a, b) => a - b);
    const last = await s.put('last', 'v');
    for (const { from, observed } of opened) {
      await observed.seen.reached(last);
      assert.deepEqual(
        observed.seen.all.map((e) => e.modRevision),
        [...written, last].filter((r) => r >= from),
      );
    }
  });

  it('passes from a long history to what is being written, without gap or repeat', async () => {
    const from = revision((await s.head()) + 1);
    for (let round = 0; round < 4; round++) await s.fill('k', 1000, 'x'.repeat(1000));
    let caughtUp = false;
    const written: number[] = [];
    const write = async (writer: number): Promise<void> => {
      for (let i = 0; i < 20 || !caughtUp; i++) written.push(await s.put(`w${writer}`, String(i)));
    };
    const writers = Promise.all([0, 1, 2, 3].map(write));
    await s.put('began', 'v');
    const { seen } = s.watch({ from });
    await seen.count(4020).finally(() => (caughtUp = true));
    await writers;
    await seen.reached(await s.put('last', 'v'));
    seen.assertOrdered();
    const live = seen.all.filter((e) => e.key.startsWith(s.key('w')));
    assert.deepEqual(
      live.map((e) => e.modRevision),
      written.toSorted((a, b) => a - b),
    );
    assert.equal(seen.all.length, 4000 + written.length + 2);
  });

  it('agrees with a range: the state at a revision plus what follows is the state at the end', async () => {
    await s.fill('k', 100, 'start');
    const write = async (writer: number): Promise<void> => {
      for (let i = 0; i < 40; i++) {
        const name = `k000${((writer * 7 + i * 3) % 90) + 10}`;
        await s.transact([], [i % 3 === 0 ? s.deleteOf(name) : s.putOf(name, `${writer}.${i}`)]);
      }
    };
    const writers = Promise.all([0, 1, 2, 3, 4].map(write));
    await s.put('began', 'v');
    const listed = await s.range();
    const { seen } = s.watch({ from: revision(listed.revision + 1) });
    await writers;
    await seen.reached(await s.put('last', 'v'));
    const state = new Map(listed.kvs.map((kv) => [kv.key, kv.value.toString()]));
    for (const e of seen.all) {
      if (e.type === 'put') state.set(e.key, e.value.toString());
      else assert.ok(state.delete(e.key), `${e.key} was deleted but not there`);
    }
    const end = (await s.range()).kvs.map((kv) => [kv.key, kv.value.toString()]);
    assert.deepEqual(Object.fromEntries(state), Object.fromEntries(end));
  });

  it('gives the value before each change under racing writers', async () => {
    const from = revision((await s.head()) + 1);
    const { seen } = s.watch({ from, withPrevious: true });
    await Promise.all(Array.from({ length: 100 }, (_, i) => s.put(`k${i % 3}`, String(i))));
    await seen.count(100);
    const last = new Map<string, string>();
    for (const e of seen.all) {
      assert.equal(e.previous?.toString(), last.get(e.key));
      last.set(e.key, e.value.toString());
    }
  });

  it('is cheap to open and close: 200 of them leave the others whole', async () => {
    const from = revision((await s.head()) + 1);
    const { seen } = s.watch({ from });
    for (let i = 0; i < 200; i++) {
      const { watch } = s.watch({ from });
      if (i % 2 === 0) await s.put('k', String(i));
      watch.close();
    }
    await seen.count(100);
    seen.assertOrdered();
  });
}
