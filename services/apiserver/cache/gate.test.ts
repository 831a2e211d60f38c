import assert from 'node:assert/strict';
import { hasReason } from '../../machinery/meta/status.js';
import { revision, StoreError, type KeyValueStore, type Revision } from '../../storage/store.js';
import { ConsistentReadGate } from './gate.js';
import { FeedScene } from './testing/scene.js';

/** A store whose answers to `head()` come when the test says so. */
class Asked {
  readonly questions: { readonly answer: (head: number) => void; readonly fail: (err: Error) => void }[] = [];
  readonly store = {
    head: () =>
      new Promise<Revision>((resolve, reject) => {
        this.questions.push({ answer: (head) => resolve(revision(head)), fail: reject });
      }),
  } as Pick<KeyValueStore, 'head'> as KeyValueStore; // the gate asks nothing else
}

/** Who never leaves. */
const NOBODY = { signal: new AbortController().signal };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('ConsistentReadGate', function () {
  this.timeout(15_000);
  let s: FeedScene;
  beforeEach(async () => {
    s = await FeedScene.open();
    await s.start();
  });
  afterEach(() => s.close());

  it('lets a read through when the feed has reached the head', async () => {
    const gate = new ConsistentReadGate(s.store, s.feed);
    for (let i = 0; i < 20; i++) {
      const written = await s.put('a', String(i));
      await gate.fresh(NOBODY);
      assert.ok(s.feed.revision >= written);
    }
  });

  it('asks one question for all who come while another is under way', async () => {
    const asked = new Asked();
    const gate = new ConsistentReadGate(asked.store, s.feed);
    const first = gate.fresh(NOBODY);
    const late = [gate.fresh(NOBODY), gate.fresh(NOBODY), gate.fresh(NOBODY)];
    assert.equal(asked.questions.length, 1);
    asked.questions[0]?.answer(s.feed.revision);
    await first;
    await turn();
    assert.equal(asked.questions.length, 2);
    asked.questions[1]?.answer(s.feed.revision);
    await Promise.all(late);
  });

  it('lets go whoever leaves, and goes on for the others', async () => {
    const asked = new Asked();
    const gate = new ConsistentReadGate(asked.store, s.feed);
    const asker = new AbortController();
    const reads = [gate.fresh(asker), gate.fresh(asker)];
    asker.abort(new Error('gone'));
    for (const read of reads) await assert.rejects(read, /gone/);
    assert.equal(asked.questions.length, 1);
    const stays = gate.fresh(NOBODY);
    asked.questions[0]?.answer(s.feed.revision);
    await turn();
    asked.questions[1]?.answer(s.feed.revision);
    await stays;
  });

  it('asks for no signal where the answer comes soon', async () => {
    const asked = new Asked();
    const gate = new ConsistentReadGate(asked.store, s.feed);
    const read = gate.fresh({
      get signal(): AbortSignal {
        return assert.fail('nobody has to be watched');
      },
    });
    asked.questions[0]?.answer(s.feed.revision);
    await read;
  });

  it('does not let a read through on an answer to a question from before it came', async () => {
    const asked = new Asked();
    const gate = new ConsistentReadGate(asked.store, s.feed);
    const first = gate.fresh(NOBODY);
    let through = false;
    const late = gate.fresh(NOBODY).then(() => (through = true));
    asked.questions[0]?.answer(s.feed.revision);
    await first;
    await turn();
    assert.equal(through, false);
    asked.questions[1]?.answer(s.feed.revision);
    await late;
  });

  it('waits for a feed that is behind', async () => {
    const asked = new Asked();
    const gate = new ConsistentReadGate(asked.store, s.feed);
    const read = gate.fresh(NOBODY);
    asked.questions[0]?.answer(s.feed.revision + 1);
    await s.put('a');
    await read;
  });

  it('gives up with 504 and Retry-After when the feed does not get there', async () => {
    const asked = new Asked();
    const gate = new ConsistentReadGate(asked.store, s.feed);
    const read = gate.fresh(NOBODY);
    asked.questions[0]?.answer(s.feed.revision + 1000);
    await assert.rejects(read, (err) => hasReason(err, 'Timeout'));
    await assert.rejects(read, { details: { retryAfterSeconds: 1 } });
  });

  it('gives up when the store does not answer, and asks again for the next', async () => {
    const asked = new Asked();
    const gate = new ConsistentReadGate(asked.store, s.feed);
    const read = gate.fresh(NOBODY);
    asked.questions[0]?.fail(new StoreError('unavailable', 'Nobody answered'));
    await assert.rejects(read, (err) => hasReason(err, 'Timeout'));
    const next = gate.fresh(NOBODY);
    asked.questions[1]?.answer(s.feed.revision);
    await next;
    assert.equal(gate.timeouts, 1);
  });
});
