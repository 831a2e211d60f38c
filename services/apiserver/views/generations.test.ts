import assert from 'node:assert/strict';
import { Generations } from './generations.js';

describe('Generations', () => {
  const keys = Array.from({ length: 6 }, (_, i) => ({ i }));
  const held = (kept: Generations<object, string>): string => keys.map((key) => kept.get(key) ?? '-').join('');
  const fill = (kept: Generations<object, string>, from: number, to: number): void => {
    for (const key of keys.slice(from, to)) kept.set(key, String(key.i), 1);
  };

  it('gives back what it holds', () => {
    const kept = new Generations<object, string>(2);
    fill(kept, 0, 2);
    assert.equal(held(kept), '01----');
  });

  it('keeps one generation beside the newest', () => {
    const kept = new Generations<object, string>(2);
    fill(kept, 0, 4);
    assert.equal(held(kept), '0123--');
  });

  it('forgets what is older', () => {
    const kept = new Generations<object, string>(2);
    fill(kept, 0, 5);
    assert.equal(held(kept), '--234-');
  });

  it('counts sizes', () => {
    const kept = new Generations<object, string>(10);
    for (const key of keys.slice(0, 3)) kept.set(key, String(key.i), 9);
    assert.equal(held(kept), '-12---');
  });
});
