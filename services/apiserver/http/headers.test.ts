import assert from 'node:assert/strict';
import { headersOf, removeHeaders } from './headers.js';

const isOurs = (name: string): boolean => name === 'who' || name.startsWith('who-');
const request = (...rawHeaders: string[]): Parameters<typeof headersOf>[0] => ({ headers: {}, rawHeaders });

describe('headersOf()', () => {
  for (const value of [' bob', 'bob ', '\tbob', 'bob\t', ' ', '\xff', 'bob\xc3']) {
    it(`refuses ${JSON.stringify(value)}`, () => {
      assert.throws(() => headersOf(request('Who', value), isOurs), { reason: 'BadRequest' });
    });
  }

  it('tells those apart that came under one name', () => {
    assert.deepEqual(headersOf(request('Who', 'a, b', 'Other', ' x ', 'wHO', '', 'WHO-Else', 'Zo\xc3\xab'), isOurs), [
      { name: 'who', value: 'a, b' },
      { name: 'who', value: '' },
      { name: 'who-else', value: 'Zoë' },
    ]);
  });
});

describe('removeHeaders()', () => {
  it('leaves the others, in both forms', () => {
    const req = { headers: { who: 'a', 'who-else': 'b', other: 'c' }, rawHeaders: ['WHO', 'a', 'Other', 'c', 'Who-Else', 'b'] }; // prettier-ignore
    removeHeaders(req, isOurs);
    assert.deepEqual(req, { headers: { other: 'c' }, rawHeaders: ['Other', 'c'] });
  });
});
