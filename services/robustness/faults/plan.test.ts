import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { randomOf } from '../random/random.js';
import { FAULTS, faultsFor } from './fault-table.js';
import { plan } from './plan.js';

const take = (count: number, isInPairs: boolean, seed = 1): (readonly string[])[] => {
  const planned = plan(faultsFor(3), isInPairs, randomOf(seed));
  return Array.from({ length: count }, () => planned.next().value);
};

describe('plan()', () => {
  const all = faultsFor(3);

  it('gives each fault its turn before one has a second', () => {
    for (const seed of [1, 2, 3]) {
      const names = take(2 * all.length, false, seed).flat();
      assert.deepEqual([...names.slice(0, all.length)].sort(), [...all].sort());
      assert.deepEqual([...names.slice(all.length)].sort(), [...all].sort());
    }
  });

  it('makes pairs of different groups', () => {
    for (const pair of take(200, true)) {
      const groups = pair.map((name) => FAULTS.get(name)?.group);
      assert.equal(new Set(groups).size, 2, pair.join());
    }
  });

  it('is the same for the same seed', () => {
    assert.deepEqual(take(50, true, 9), take(50, true, 9));
    assert.notDeepEqual(take(50, true, 9), take(50, true, 10));
  });
});

describe('faultsFor()', () => {
  it('leaves out what needs more members', () => {
    assert.ok(!faultsFor(1).includes('move-leader') && faultsFor(3).includes('move-leader'));
  });

  it('knows no fault that the guide does not tell of', () => {
    const guide = readFileSync('docs/robustness.md', 'utf8');
    for (const name of faultsFor(3)) {
      const forms = [name, name.replace(/(?:client|store)-link$/, '…-link')];
      assert.ok(forms.some((form) => guide.includes(`\`${form}\``)), name); // prettier-ignore
    }
  });
});
