import assert from 'node:assert/strict';

import { Deadlines } from './deadlines.js';

/** Adds a deadline and tells how long it took to come. */
const expired = (deadlines: Deadlines, ms: number): Promise<number> => {
  const began = performance.now();
  return new Promise((resolve) => {
    deadlines.add({ expire: () => resolve(performance.now() - began) }, ms);
  });
};

describe('Deadlines', () => {
  it('come not before their time and little after', async () => {
    const deadlines = new Deadlines();
    for (const tookMs of await Promise.all([expired(deadlines, 20), expired(deadlines, 120)])) {
      assert.ok(tookMs >= 20 && tookMs < 1000, `took ${tookMs} ms`);
    }
    assert.ok((await expired(deadlines, 120)) >= 120);
  });

  it('do not come when they were removed', async () => {
    const deadlines = new Deadlines();
    let came = false;
    deadlines.remove(deadlines.add({ expire: () => (came = true) }, 10));
    await expired(deadlines, 100);
    assert.equal(came, false);
  });

  it('wait for more than one turn of the wheel', async () => {
    const deadlines = new Deadlines();
    let came = false;
    const entry = deadlines.add({ expire: () => (came = true) }, 256 * 50);
    await expired(deadlines, 100);
    assert.equal(came, false);
    deadlines.remove(entry);
  });

  it('let the next be added where one expires', async () => {
    const deadlines = new Deadlines();
    await new Promise<void>((resolve) => {
      deadlines.add({ expire: () => deadlines.add({ expire: resolve }, 10) }, 10);
    });
  });
});
