import assert from 'node:assert/strict';
import { StatusError } from './status.js';
import { parseResourceVersion } from './resource-version.js';

describe('parseResourceVersion()', () => {
  it('reads unset, zero and decimal numbers of 64 bits', () => {
    const cases = { '': undefined, '0': 0, '42': 42, '007': 7, '18446744073709551615': 2 ** 64 };
    for (const [text, value] of Object.entries(cases)) assert.equal(parseResourceVersion(text), value);
  });

  for (const text of ['abc', '-1', '+1', '1.5', '1e3', ' 1', '0x1', '18446744073709551616', '9'.repeat(1_000_000)]) {
    it(`refuses ${text.slice(0, 24)}`, () => {
      assert.throws(
        () => parseResourceVersion(text),
        (err) => err instanceof StatusError && err.code === 400 && err.message.length < 200,
      );
    });
  }
});
