import assert from 'node:assert/strict';

import { isStoreError } from '../store.js';
import { Reader, ReverseWriter } from './wire.js';

const corrupt = (err: unknown): boolean => isStoreError(err, 'corrupt');

/** A message whose field 1 is `n`, written by the writer. */
function message(n: number): Buffer {
  const w = new ReverseWriter();
  w.begin();
  w.uint(1, n);
  return w.finish();
}

describe('Reader', () => {
  for (const n of [0, 1, 127, 128, 300, 2 ** 28 - 1, 2 ** 28, 2 ** 31, 2 ** 32 + 5, 2 ** 49, Number.MAX_SAFE_INTEGER]) {
    it(`reads ${n} as the writer wrote it`, () => {
      const r = new Reader(message(n));
      assert.ok(r.next());
      assert.deepEqual([r.field, r.int(), r.next()], [1, n, false]);
    });
  }

  it('reads small negative numbers', () => {
    const minusOne = Buffer.from([8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    const r = new Reader(minusOne);
    r.next();
    assert.equal(r.int(), -1);
  });

  it('keeps all 63 bits of a lease', () => {
    const w = new ReverseWriter();
    w.begin();
    w.big(3, 9223372036854775807n);
    const r = new Reader(w.finish());
    r.next();
    assert.equal(r.bigint(), 9223372036854775807n);
  });

  it('refuses a number that it cannot hold exactly', () => {
    const wide = Buffer.from([8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    const r = new Reader(wide);
    r.next();
    assert.throws(() => r.int(), corrupt);
  });

  for (const [what, bytes] of [
    ['a length beyond the end', [0x0a, 0x05, 1, 2]],
    ['a number without an end', [0x08, 0xff, 0xff]],
    ['a fixed64 that is cut', [0x09, 1, 2, 3]],
    ['a group', [0x0b]],
  ] as const) {
    it(`refuses ${what}`, () => {
      const r = new Reader(Buffer.from(bytes));
      r.next();
      assert.throws(() => r.skip(), corrupt);
    });
  }

  it('skips fields of every wire type', () => {
    const r = new Reader(
      Buffer.from([0x08, 0x80, 0x01, 0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0x1a, 1, 7, 0x25, 0, 0, 0, 0, 0x28, 9]),
    );
    const fields: number[] = [];
    while (r.next()) {
      fields.push(r.field);
      if (r.field === 5) assert.equal(r.int(), 9);
      else r.skip();
    }
    assert.deepEqual(fields, [1, 2, 3, 4, 5]);
  });
});

describe('ReverseWriter', () => {
  it('grows for what is larger than its buffer', () => {
    const w = new ReverseWriter();
    const big = Buffer.alloc(3 << 20, 'x');
    for (const round of [1, 2]) {
      w.begin();
      w.bytes(2, big);
      w.text(1, 'key', 'prefix/');
      const r = new Reader(w.finish());
      r.next();
      assert.equal(r.text(), 'prefix/key');
      r.next();
      assert.ok(r.bytes().equals(big), `round ${round}`);
    }
  });

  it('begins anew after a message that was left half way', () => {
    const w = new ReverseWriter();
    w.begin();
    w.text(1, 'left');
    w.begin();
    w.uint(1, 5);
    assert.deepEqual([...w.finish()], [8, 5]);
  });
});
