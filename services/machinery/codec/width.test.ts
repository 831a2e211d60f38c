import assert from 'node:assert/strict';
import { StatusError } from '../meta/status.js';
import { MAX_MEMBERS, refuseWide } from './json.js';

const list = (length: number): unknown => Array.from({ length }, () => 1);
const map = (length: number): unknown => Object.fromEntries(Array.from({ length }, (_, i) => [`k${i}`, 1]));
const look = (value: unknown): void => refuseWide(value, JSON.stringify(value).length);

describe('refuseWide()', () => {
  it('takes lists and objects up to the bound, and any number of them', () => {
    look(list(MAX_MEMBERS));
    look({ data: map(MAX_MEMBERS), more: [map(MAX_MEMBERS), list(MAX_MEMBERS)] });
    look(null);
  });

  it('refuses one more, wherever it stands', () => {
    for (const wide of [list(MAX_MEMBERS + 1), map(MAX_MEMBERS + 1)]) {
      for (const value of [wide, { a: [null, { b: wide }] }]) {
        assert.throws(
          () => look(value),
          (err) => err instanceof StatusError && err.code === 413 && /more than 10000 members/.test(err.message),
        );
      }
    }
  });

  it('does not look at what is too short to be wide', () => {
    refuseWide(list(MAX_MEMBERS + 1), 2 * MAX_MEMBERS - 1);
  });
});
