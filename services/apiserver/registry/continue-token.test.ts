import assert from 'node:assert/strict';
import { hasReason } from '../../machinery/meta/status.js';
import { decodeContinueToken, encodeContinueToken, INCONSISTENT } from './continue-token.js';

describe('decodeContinueToken()', () => {
  it('reads what was encoded', () => {
    for (const token of [
      { revision: 7, start: 'ns/name' },
      { revision: INCONSISTENT, start: 'ns/ü\0' },
    ]) {
      assert.deepEqual(decodeContinueToken(encodeContinueToken(token)), token);
    }
  });

  const b64 = (text: string): string => Buffer.from(text).toString('base64url');
  const foreign: readonly [string, string][] = [
    ['noise', 'garbage'],
    ['no JSON', b64('{')],
    ['another form', b64('{"v":2,"rv":1,"start":"a"}')],
    ['no revision', b64('{"v":1,"start":"a"}')],
    ['revision 0', b64('{"v":1,"rv":0,"start":"a"}')],
    ['a fraction', b64('{"v":1,"rv":1.5,"start":"a"}')],
    ['no start', b64('{"v":1,"rv":1,"start":""}')],
    ['null', b64('null')],
    ['far too much', b64(JSON.stringify({ v: 1, rv: 1, start: 'x'.repeat(5000) }))],
  ];
  for (const [what, text] of foreign) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => decodeContinueToken(text),
        (err) => hasReason(err, 'BadRequest'),
      );
    });
  }
});
