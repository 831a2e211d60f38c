import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

import { revision, type Revision } from '../store.js';
import { area, type Scene, type StoreUnderTest } from './scene.js';

/** A store that a server stands behind. */
export interface InterruptibleStore extends StoreUnderTest {
  /** Kills the server and starts it again, while `store` stays open. Resolves when the server answers again. */
  interrupt(): Promise<void>;
}

/** The contract of a KeyValueStore whose server goes away and comes back. */
export function connectionLossContract(name: string, open: () => Promise<InterruptibleStore>): void {
  let last: InterruptibleStore | undefined;
  const remember = async (): Promise<InterruptibleStore> => (last = await open());
  const interrupt = async (): Promise<void> => {
    await last?.interrupt();
  };
  area(`${name} store when its server restarts`, remember, (s) => {
    connectionLoss(s, interrupt);
  });
}

/** Writes until it succeeds: a write that was lost on the way is sent again by the caller, never by the store. */
async function putUntilDone(s: Scene, name: string, value: string): Promise<Revision> {
  for (;;) {
    try {
      return await s.put(name, value);
    } catch (err) {
      if (s.signal.aborted) throw err;
      await delay(100, undefined, { signal: s.signal });
    }
  }
}

function connectionLoss(s: Scene, interrupt: () => Promise<void>): void {
  it('resumes a watch without gap or repeat', async () => {
    const from = revision((await s.head()) + 1);
    const { seen } = s.watch({ from });
    const before = await s.put('a', 'before');
    await seen.count(1);
    await interrupt();
    const later = await putUntilDone(s, 'a', 'after');
    await seen.reached(later);
    seen.assertOrdered();
    assert.deepEqual([seen.all[0]?.modRevision, seen.all.at(-1)?.modRevision], [before, later]);
    assert.deepEqual(seen.endings, []);
  });

  it('tells a watch that its store was lost and found again', async () => {
    const { seen } = s.watch({ from: revision((await s.head()) + 1) });
    await seen.reached(await s.put('a', '1'));
    await interrupt();
    await seen.until('the loss', () => seen.connections.includes(false));
    await seen.until('the return', () => seen.connections.at(-1) === true);
    await seen.reached(await putUntilDone(s, 'a', '2'));
  });

  it('delivers every write of many, across the loss, exactly once', async () => {
    const from = revision((await s.head()) + 1);
    const { seen } = s.watch({ from });
    const written: Revision[] = [];
    const write = async (writer: number): Promise<void> => {
      for (let i = 0; i < 60; i++) written.push(await putUntilDone(s, `w${writer}`, String(i)));
    };
    const writers = Promise.all([0, 1, 2, 3].map(write));
    await seen.count(20);
    await interrupt();
    await writers;
    const last = await putUntilDone(s, 'last', 'v');
    await seen.reached(last);
    seen.assertOrdered();
    const told = new Set(seen.all.map((e) => e.modRevision));
    assert.deepEqual(
      written.filter((at) => !told.has(at)),
      [],
    );
    const replay = s.watch({ from }).seen;
    await replay.reached(last);
    assert.deepEqual(seen.lines(s.prefix), replay.lines(s.prefix));
  });

  it('delivers what waits after the loss to a watch that was paused', async () => {
    const { seen, watch } = s.watch({ from: revision((await s.head()) + 1) });
    watch.pause();
    await s.put('a', 'before');
    await interrupt();
    const last = await putUntilDone(s, 'a', 'after');
    assert.equal(seen.all.length, 0);
    watch.resume();
    await seen.reached(last);
    seen.assertOrdered();
    assert.equal(seen.all[0]?.value.toString(), 'before');
  });

  it('does not end a watch that was opened while the server was away', async () => {
    const from = revision((await s.head()) + 1);
    const back = interrupt();
    const { seen } = s.watch({ from });
    await back;
    await seen.reached(await putUntilDone(s, 'a', '1'));
    assert.deepEqual(seen.endings, []);
  });
}
