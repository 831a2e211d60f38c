import assert from 'node:assert/strict';
import { formatTime, now } from './time.js';

describe('formatTime()', () => {
  it('cuts to the second', () => assert.equal(formatTime(1_700_000_000_999), '2023-11-14T22:13:20Z'));
});

describe('now()', () => {
  it('is the current second', () => {
    const before = formatTime(Date.now());
    const at = now();
    assert.ok(before <= at && at <= formatTime(Date.now()));
  });
});
