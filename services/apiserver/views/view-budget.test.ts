import assert from 'node:assert/strict';
import { GenerationBudget, Generations } from '../cache/generations.js';
import { VIEW_LIMITS } from './view-budget.js';

const MB = 1 << 20;

describe('the bound of what is kept of views', () => {
  let nowMs = 0;
  let due: (() => void)[] = [];
  const kept = (): Generations<object, number> => {
    const later = (act: () => void): void => void due.push(act);
    return new Generations((bytes) => bytes, new GenerationBudget(VIEW_LIMITS, { now: () => nowMs, later }));
  };

  it('is 16 MB a generation', () => {
    const sizes = kept();
    const [first, second, third, fourth] = [{}, {}, {}, {}];
    sizes.set(first, 8 * MB);
    sizes.set(second, 8 * MB); // full, and no turn
    sizes.set(third, 16 * MB);
    assert.equal(sizes.get(first), 8 * MB); // which makes it young, and the third old
    sizes.set(fourth, 9 * MB);
    assert.deepEqual([sizes.get(second), sizes.get(third)], [undefined, undefined]);
  });

  it('is two minutes for what nobody asks for', () => {
    const sizes = kept();
    const key = {};
    sizes.set(key, 1);
    for (nowMs = 60_000; nowMs <= 120_000; nowMs += 60_000) for (const act of due.splice(0)) act();
    assert.equal(sizes.get(key), undefined);
  });

  beforeEach(() => {
    nowMs = 0;
    due = [];
  });
});
