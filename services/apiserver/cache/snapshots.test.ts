import assert from 'node:assert/strict';
import { OrderedObjects } from './ordered.js';
import { SnapshotBudget, Snapshots } from './snapshots.js';

const state = new OrderedObjects().snapshot();

describe('Snapshots', () => {
  let now: number;
  let timers: { readonly act: () => void; readonly atMs: number }[];
  let budget: SnapshotBudget;
  let one: Snapshots;
  let two: Snapshots;
  beforeEach(() => {
    now = 0;
    timers = [];
    budget = new SnapshotBudget(
      { maxBytes: 100, max: 3, retainMs: 1000 },
      { now: () => now, later: (act, ms) => void timers.push({ act, atMs: now + ms }) },
    );
    one = new Snapshots(budget);
    two = new Snapshots(budget);
  });
  const kept = (of: Snapshots): number[] => [1, 2, 3, 4, 5].filter((revision) => of.get(revision) !== undefined);
  const pass = (toMs: number): void => {
    now = toMs;
    for (const { act } of timers.splice(0, timers.filter((it) => it.atMs <= now).length)) act();
  };

  it('are given by the revision they were kept under', () => {
    one.keep(1, state);
    assert.equal(one.get(1), state);
    assert.deepEqual([one.get(2), two.get(1)], [undefined, undefined]);
  });

  it('are no more than so many of a resource, of which the oldest goes', () => {
    for (const revision of [1, 2, 3, 4]) one.keep(revision, state);
    two.keep(1, state);
    assert.deepEqual([kept(one), kept(two)], [[2, 3, 4], [1]]);
  });

  it('that are kept again count as new', () => {
    for (const revision of [1, 2, 3, 1, 4]) one.keep(revision, state);
    assert.deepEqual(kept(one), [1, 3, 4]);
  });

  it('go when they are too old, though nobody asks', () => {
    one.keep(1, state);
    pass(400);
    two.keep(2, state);
    pass(999);
    assert.deepEqual([kept(one), kept(two)], [[1], [2]]);
    pass(1000);
    assert.deepEqual([kept(one), kept(two)], [[], [2]]);
    pass(1400);
    assert.deepEqual([kept(one), kept(two), timers.length], [[], [], 0]);
    one.keep(3, state);
    assert.equal(timers.length, 1, 'and the next one is waited for again');
  });

  it('go, the oldest of all resources first, when what they hold on to is too much', () => {
    one.keep(1, state);
    two.keep(2, state);
    one.replaced(60);
    two.replaced(40);
    assert.deepEqual([budget.bytes, kept(one), kept(two)], [100, [1], [2]]);
    two.replaced(1);
    assert.deepEqual([budget.bytes, kept(one), kept(two)], [41, [], [2]]);
    one.replaced(500);
    assert.deepEqual([budget.bytes, kept(two)], [41, [2]], 'nobody holds on to what no snapshot shows');
  });

  it('free what was replaced before a newer one only with themselves', () => {
    one.keep(1, state);
    one.replaced(30);
    one.keep(2, state);
    one.replaced(30);
    assert.equal(budget.bytes, 60);
    one.replaced(50);
    assert.deepEqual([budget.bytes, kept(one)], [80, [2]]);
  });

  it('are forgotten all at once when the state is loaded anew', () => {
    one.keep(1, state);
    one.replaced(50);
    two.keep(2, state);
    one.clear();
    assert.deepEqual([budget.bytes, kept(one), kept(two)], [0, [], [2]]);
  });
});
