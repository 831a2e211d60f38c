import assert from 'node:assert/strict';

import { revision, type Revision, type StoreEvent, type StoreWatch } from '../store.js';
import { Recorder } from './recorder.js';
import { following, type Scene } from './scene.js';

/** Asks for progress until it has come up to `at`; a store may tell an older revision first. */
async function progressTo(seen: Recorder, watch: StoreWatch, at: Revision): Promise<void> {
  while ((seen.progressed.at(-1)?.revision ?? 0) < at) {
    const had = seen.progressed.length;
    watch.requestProgress();
    await seen.until('progress', () => seen.progressed.length > had);
  }
}

/** Calls `act` on the first batch. */
class Acting extends Recorder {
  act: () => void = () => undefined;

  override events(batch: readonly StoreEvent[]): void {
    const first = this.batches.length === 0;
    super.events(batch);
    if (first) this.act();
  }
}

export function watchFlow(s: Scene): void {
  it('stops at close()', async () => {
    const from = following(await s.head());
    const { seen, watch } = s.watch({ from });
    const witness = s.watch({ from }).seen;
    await s.put('a', 'one');
    await seen.count(1);
    watch.close();
    const last = await s.put('a', 'two');
    await witness.reached(last);
    assert.equal(seen.all.length, 1);
    assert.deepEqual(seen.endings, []);
  });

  it('may be closed twice', async () => {
    const { seen, watch } = s.watch({ from: following(await s.head()) });
    watch.close();
    watch.close();
    const witness = s.watch({ from: following(await s.head()) }).seen;
    await witness.reached(await s.put('a', '1'));
    assert.deepEqual([seen.all.length, seen.endings.length], [0, 0]);
  });

  it('stops when the handler closes it', async () => {
    const from = following(await s.head());
    for (const i of [1, 2, 3]) await s.put('a', String(i));
    const seen = new Acting();
    const { watch } = s.watch({ from }, seen);
    seen.act = () => {
      watch.close();
    };
    const witness = s.watch({ from }).seen;
    await seen.until('the first batch', () => seen.batches.length === 1);
    const last = await s.put('a', '4');
    await witness.reached(last);
    assert.equal(seen.batches.length, 1);
    assert.deepEqual(seen.endings, []);
  });

  it('ends with the error of a handler that throws, and with nothing after', async () => {
    const from = following(await s.head());
    const fault = new Error('cannot decode');
    const seen = new Acting();
    seen.act = () => {
      throw fault;
    };
    s.watch({ from }, seen);
    const witness = s.watch({ from }).seen;
    await s.put('a', 'one');
    await seen.until('the end', () => seen.endings.length > 0);
    await witness.reached(await s.put('a', 'two'));
    assert.equal(seen.batches.length, 1);
    assert.equal(seen.endings.length, 1);
    assert.equal(seen.endings[0]?.cause, fault);
  });

  it('goes on for others when one handler throws', async () => {
    const from = following(await s.head());
    const bad = new Acting();
    bad.act = () => {
      throw new Error('cannot decode');
    };
    s.watch({ from }, bad);
    const good = s.watch({ from }).seen;
    const results = await Promise.all([1, 2, 3].map((i) => s.put(`k${i}`, 'v')));
    await good.count(3);
    assert.deepEqual(
      good.all.map((e) => e.modRevision),
      results.toSorted((a, b) => a - b),
    );
  });

  it('tells progress when it is asked to and nothing happens', async () => {
    const head = await s.put('a', '1');
    const { seen, watch } = s.watch({ from: following(head) });
    await progressTo(seen, watch, head);
    assert.deepEqual(seen.all, []);
  });

  it('tells progress past writes outside of its prefix', async () => {
    const { seen, watch } = s.watch({ from: following(await s.head()), under: 'in/' });
    const last = await s.put('out/1', 'v');
    await progressTo(seen, watch, last);
    assert.deepEqual(seen.all, []);
  });

  it('tells progress only when everything up to it was delivered', async () => {
    const from = following(await s.head());
    const { seen, watch } = s.watch({ from });
    let last = from;
    for (let round = 0; round < 20; round++) {
      const writes = Array.from({ length: 10 }, (_, i) => s.put(`k${i}`, String(round)));
      watch.requestProgress();
      last = revision(Math.max(last, ...(await Promise.all(writes))));
    }
    await progressTo(seen, watch, last);
    assert.equal(seen.all.length, 200);
    for (const { revision: told, after: delivered } of seen.progressed) {
      const missing = seen.all.slice(delivered).filter((e) => e.modRevision <= told);
      assert.deepEqual(missing, [], `progress ${told} came before its events`);
    }
    const told = seen.progressed.map((p) => p.revision);
    assert.deepEqual(
      told,
      told.toSorted((a, b) => a - b),
    );
  });

  it('tells progress of a watch on history only when it has caught up', async () => {
    const from = following(await s.head());
    const last = await s.fill('k', 2000, 'x'.repeat(100));
    const { seen, watch } = s.watch({ from });
    watch.requestProgress();
    await progressTo(seen, watch, last);
    assert.equal(seen.all.length, 2000);
    for (const { revision: told, after: delivered } of seen.progressed) {
      assert.ok((seen.all[delivered]?.modRevision ?? Infinity) > told);
    }
  });

  it('delivers nothing while paused, and everything once resumed', async () => {
    const from = following(await s.head());
    const { seen, watch } = s.watch({ from });
    const witness = s.watch({ from }).seen;
    await s.put('a', '0');
    await seen.count(1);
    watch.pause();
    for (let i = 1; i <= 200; i++) await s.put('a', String(i));
    await witness.count(201);
    assert.equal(seen.all.length, 1);
    watch.resume();
    await seen.count(201);
    assert.deepEqual(seen.lines(s.prefix), witness.lines(s.prefix));
    seen.assertOrdered();
  });

  it('may be paused before the first delivery', async () => {
    const from = await s.put('a', 'one');
    const { seen, watch } = s.watch({ from });
    watch.pause();
    const witness = s.watch({ from }).seen;
    await witness.reached(await s.put('a', 'two'));
    assert.equal(seen.all.length, 0);
    watch.resume();
    await seen.count(2);
    assert.deepEqual(seen.lines(s.prefix), witness.lines(s.prefix));
  });

  it('may be paused by its handler at every batch', async () => {
    const from = following(await s.head());
    let writing = true;
    const stutter = new (class extends Recorder {
      watch: StoreWatch | undefined;
      override events(batch: readonly StoreEvent[]): void {
        super.events(batch);
        this.watch?.pause();
        setImmediate(() => this.watch?.resume());
      }
    })();
    stutter.watch = s.watch({ from }, stutter).watch;
    const write = async (writer: number): Promise<void> => {
      for (let i = 0; i < 50; i++) await s.put(`w${writer}`, String(i));
    };
    await Promise.all([0, 1, 2, 3].map(write)).finally(() => (writing = false));
    await stutter.count(200);
    assert.equal(writing, false);
    assert.equal(stutter.all.length, 200);
    stutter.assertOrdered();
  });

  it('tells no progress past what waits while it is paused', async () => {
    const from = following(await s.head());
    const { seen, watch } = s.watch({ from });
    watch.pause();
    const last = await s.put('a', '1');
    watch.requestProgress();
    const witness = s.watch({ from }).seen;
    await witness.reached(last);
    assert.ok(seen.progressed.every((p) => p.revision < last));
    watch.resume();
    await progressTo(seen, watch, last);
    assert.ok(seen.progressed.every((p) => p.revision < last || p.after === 1));
  });
}
