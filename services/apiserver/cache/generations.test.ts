import assert from 'node:assert/strict';
import { GenerationBudget, Generations } from './generations.js';

const TURN_MS = 60_000;

describe('Generations', () => {
  let nowMs: number;
  let due: { readonly act: () => void; readonly atMs: number } | undefined;
  let budget: GenerationBudget;
  const sizes = (value: string): number => value.length;
  const keys = Array.from({ length: 6 }, (_, i) => ({ i }));
  const held = (kept: Generations<object, string>): string =>
    keys.map((key) => (kept.get(key) === undefined ? '-' : String(key.i))).join('');
  const fill = (kept: Generations<object, string>, from: number, to: number, bytes = 1): void => {
    for (const key of keys.slice(from, to)) kept.set(key, 'x'.repeat(bytes));
  };
  /** Lets time go by, with all that becomes due in it. */
  const pass = (ms: number): void => {
    const endMs = nowMs + ms;
    while (due !== undefined && due.atMs <= endMs) {
      const { act, atMs } = due;
      due = undefined;
      nowMs = atMs;
      act();
    }
    nowMs = endMs;
  };

  const limited = (maxBytes: number): GenerationBudget =>
    new GenerationBudget(
      { maxBytes, turnMs: TURN_MS },
      {
        now: () => nowMs,
        later: (act, ms) => {
          assert.equal(due, undefined, 'one timer at a time');
          due = { act, atMs: nowMs + ms };
        },
      },
    );

  beforeEach(() => {
    nowMs = 5;
    due = undefined;
    budget = limited(2);
  });

  it('gives back what it holds', () => {
    const kept = new Generations(sizes, budget);
    fill(kept, 0, 2);
    assert.equal(held(kept), '01----');
  });

  it('keeps one generation beside the newest', () => {
    const kept = new Generations(sizes, budget);
    fill(kept, 0, 4);
    assert.deepEqual([kept.get(keys[2] ?? {}), kept.get(keys[3] ?? {})], ['x', 'x']);
    assert.equal(kept.get(keys[0] ?? {}), 'x');
  });

  it('forgets what is older', () => {
    const kept = new Generations(sizes, budget);
    fill(kept, 0, 5);
    assert.equal(held(kept).slice(0, 2), '--');
  });

  it('keeps what is asked for, though others come', () => {
    const kept = new Generations(sizes, limited(3));
    fill(kept, 0, 3);
    for (let i = 1; i < 6; i++) {
      assert.equal(kept.get(keys[0] ?? {}), 'x');
      kept.set({}, 'xx');
    }
    assert.equal(held(kept), '0-----');
  });

  it('counts bytes, and once what takes the place of another', () => {
    const kept = new Generations(sizes, limited(10));
    for (let i = 0; i < 5; i++) kept.set(keys[0] ?? {}, 'x'.repeat(4));
    fill(kept, 1, 2, 6);
    fill(kept, 2, 3, 10); // a turn, the first one
    assert.equal(kept.get(keys[0] ?? {}), 'xxxx');
  });

  it('has the room again of what another took the place of', () => {
    const kept = new Generations(sizes, limited(10));
    fill(kept, 0, 1, 4);
    fill(kept, 1, 2, 3);
    fill(kept, 0, 1, 3);
    fill(kept, 2, 3, 4); // full, and no turn
    fill(kept, 3, 4, 10); // a turn, the first one
    assert.equal(kept.get(keys[1] ?? {}), 'xxx');
  });

  it('has the room again of what was deleted', () => {
    const kept = new Generations(sizes, limited(10));
    fill(kept, 0, 1);
    fill(kept, 1, 2, 6);
    kept.delete(keys[1] ?? {});
    fill(kept, 2, 3, 6); // no turn
    fill(kept, 3, 4, 10); // a turn, the first one
    assert.equal(kept.get(keys[0] ?? {}), 'x');
  });

  it('gives back the room of what is deleted, young or old', () => {
    const kept = new Generations(sizes, budget);
    fill(kept, 0, 2);
    kept.delete(keys[0] ?? {});
    fill(kept, 2, 3);
    assert.equal(due?.atMs, 5 + TURN_MS);
    fill(kept, 3, 4); // a turn
    kept.delete(keys[1] ?? {});
    assert.equal(kept.get(keys[0] ?? {}), undefined);
    assert.equal(kept.get(keys[1] ?? {}), undefined);
    assert.equal(kept.get(keys[3] ?? {}), 'x');
  });

  it('shares its bound with others of the same budget', () => {
    const [one, other] = [new Generations(sizes, budget), new Generations(sizes, budget)];
    fill(one, 0, 2);
    fill(other, 2, 4);
    fill(other, 4, 5);
    assert.equal(one.get(keys[0] ?? {}), undefined);
    assert.equal(other.get(keys[4] ?? {}), 'x');
  });

  it('forgets after two turns of time at most what nobody asks for, also when nothing comes', () => {
    const kept = new Generations(sizes, limited(100));
    fill(kept, 0, 2);
    pass(TURN_MS);
    assert.equal(kept.get(keys[0] ?? {}), 'x'); // asked for: it stays for another turn
    pass(TURN_MS);
    assert.equal(kept.get(keys[1] ?? {}), undefined);
    pass(TURN_MS);
    assert.equal(held(kept), '------');
  });

  it('waits for nothing once it is empty, and begins again', () => {
    const kept = new Generations(sizes, limited(100));
    fill(kept, 0, 1);
    pass(10 * TURN_MS);
    assert.equal(due, undefined);
    fill(kept, 0, 1);
    pass(TURN_MS / 2);
    assert.equal(held(kept), '0-----');
    pass(10 * TURN_MS);
    assert.deepEqual([held(kept), due], ['------', undefined]);
  });

  it('counts the time of a generation from its beginning, also when the one before was full', () => {
    const kept = new Generations(sizes, budget);
    fill(kept, 0, 2);
    pass(TURN_MS - 1);
    fill(kept, 2, 3); // a turn
    pass(2);
    assert.equal(kept.get(keys[1] ?? {}), 'x');
  });
});
