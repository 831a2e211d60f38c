import assert from 'node:assert/strict';

import { keySpace, prefixEnd, prefixRange, rangeFrom } from './keys.js';

describe('prefixEnd()', () => {
  for (const [prefix, end] of [
    [[0x61], [0x62]],
    [
      [0x61, 0x2f],
      [0x61, 0x30],
    ],
    [[0x61, 0xff], [0x62]],
    [[0xff, 0xff], [0]],
    [[], [0]],
  ] as const) {
    it(`of [${prefix.join()}] is [${end.join()}]`, () => {
      assert.deepEqual([...prefixEnd(Buffer.from(prefix))], [...end]);
    });
  }
});

describe('rangeFrom()', () => {
  it('never begins before the prefix', () => {
    assert.deepEqual(rangeFrom(keySpace(), '/b/', '/a'), prefixRange(keySpace(), '/b/'));
  });

  it('compares bytes, not UTF-16 units', () => {
    const { key } = rangeFrom(keySpace('/own'), '\uFFFD', '\u{1F600}');
    assert.equal(key.toString(), '/own\u{1F600}');
  });
});
