import assert from 'node:assert/strict';
import { hasReason } from '../../machinery/meta/status.js';
import { collectionId, decodeContinueToken, encodeContinueToken, INCONSISTENT } from './continue-token.js';

describe('decodeContinueToken()', () => {
  it('reads what was encoded', () => {
    for (const token of [
      { revision: 7, start: 'ns/name', of: 'x' },
      { revision: INCONSISTENT, start: 'ns/ü\0', of: 'x' },
    ]) {
      assert.deepEqual(decodeContinueToken(encodeContinueToken(token), 'x'), token);
    }
  });

  it('refuses what was made for another list', () =>
    assert.throws(
      () => decodeContinueToken(encodeContinueToken({ revision: 7, start: 'ns/name', of: 'x' }), 'y'),
      (err: Error) => hasReason(err, 'BadRequest') && err.message.includes('another collection'),
    ));

  const b64 = (text: string): string => Buffer.from(text).toString('base64url');
  const foreign: readonly [string, string][] = [
    ['noise', 'garbage'],
    ['no JSON', b64('{')],
    ['another form', b64('{"v":1,"rv":1,"start":"a","of":"x"}')],
    ['no revision', b64('{"v":2,"start":"a","of":"x"}')],
    ['revision 0', b64('{"v":2,"rv":0,"start":"a","of":"x"}')],
    ['a fraction', b64('{"v":2,"rv":1.5,"start":"a","of":"x"}')],
    ['no start', b64('{"v":2,"rv":1,"start":"","of":"x"}')],
    ['no list', b64('{"v":2,"rv":1,"start":"a"}')],
    ['null', b64('null')],
    ['far too much', b64(JSON.stringify({ v: 2, rv: 1, start: 'x'.repeat(5000), of: 'x' }))],
  ];
  for (const [what, text] of foreign) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => decodeContinueToken(text, 'x'),
        (err) => hasReason(err, 'BadRequest'),
      );
    });
  }
});

describe('collectionId()', () => {
  it('tells lists apart, and is short', () => {
    const ids = [
      collectionId('/registry/core/pods/', '', ''),
      collectionId('/registry/core/pods/', 'a', ''),
      collectionId('/registry/core/pods/', '', 'a'),
      collectionId('/registry/core/pods/', 'b', ''),
      collectionId('/registry/core/secrets/', 'a', ''),
      collectionId('/registry/core/pods/', 'a', 'x=y'.repeat(10_000)),
    ];
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.every((id) => id.length === 22));
  });
});
