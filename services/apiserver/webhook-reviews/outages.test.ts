import assert from 'node:assert/strict';
import { Outages } from './outages.js';

describe('Outages', () => {
  it('tells of the first failure, and of those after it once a minute', () => {
    const told: object[] = [];
    let now = 0;
    const outages = new Outages('hook', { warn: (_, keys = {}) => void told.push(keys) }, () => now);
    const err = new Error('no');
    for (const at of [0, 1, 59_999, 60_000, 60_001]) {
      now = at;
      outages.failed(err);
    }
    assert.deepEqual(told, [
      { service: 'hook', failures: 1, err },
      { service: 'hook', failures: 3, err },
    ]);
  });
});
