import assert from 'node:assert/strict';

import fc from 'fast-check';

import { isStoreError, revision } from '../store.js';
import {
  checkKey,
  currentKey,
  decodeChange,
  decodeCurrent,
  encodeChange,
  encodeCurrent,
  escapedKeyOf,
  historyKey,
  historySpan,
  logKey,
  pastVersions,
  revisionOfLog,
  spanOf,
  subOfLog,
  versionOf,
  versionsFrom,
  versionsSpan,
} from './records.js';

/** Text with the bytes that matter to an order: NUL, its escape, the neighbours of a slash. */
const key = fc.string({
  unit: fc.constantFrom('\0', '\u0001', '/', '0', 'a', 'é', '\uFFFD', '😀'),
  minLength: 1,
  maxLength: 6,
});
const rev = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const bytes = (text: string): Buffer => Buffer.from(text);
const sign = Math.sign;

describe('historyKey()', () => {
  it('keeps the order of keys, and has the newest version first', () => {
    fc.assert(
      fc.property(key, rev, key, rev, (a, ra, b, rb) => {
        const one = historyKey(a, { revision: revision(ra), sub: 7, deleted: false });
        const other = historyKey(b, { revision: revision(rb), sub: 7, deleted: false });
        const expected = Buffer.compare(bytes(a), bytes(b)) || sign(rb - ra);
        assert.equal(sign(Buffer.compare(one, other)), expected);
      }),
    );
  });

  it('can be read back', () => {
    fc.assert(
      fc.property(key, rev, fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.boolean(), (k, r, sub, deleted) => {
        const version = { revision: revision(r), sub, deleted };
        assert.deepEqual(versionOf(historyKey(k, version)), version);
      }),
    );
  });

  it('lies in the span of a prefix exactly when the key starts with it', () => {
    fc.assert(
      fc.property(key, key, rev, (prefix, k, r) => {
        const { start, end } = historySpan(prefix);
        const it = historyKey(k, { revision: revision(r), sub: 0, deleted: false });
        const within = Buffer.compare(start, it) <= 0 && Buffer.compare(it, end) < 0;
        assert.equal(within, k.startsWith(prefix));
      }),
    );
  });

  it('lies in the versions of its own key from its own revision on', () => {
    fc.assert(
      fc.property(key, key, rev, rev, (k, other, r, at) => {
        const it = historyKey(k, { revision: revision(r), sub: 3, deleted: true });
        const { start, end } = versionsSpan(other, at);
        const within = Buffer.compare(start, it) <= 0 && Buffer.compare(it, end) < 0;
        assert.equal(within, k === other && r <= at);
        const escaped = escapedKeyOf(it);
        assert.equal(Buffer.compare(versionsFrom(escaped, at), it) <= 0, r <= at);
        assert.ok(Buffer.compare(it, pastVersions(escaped)) < 0);
      }),
    );
  });
});

describe('logKey()', () => {
  it('orders by revision, then by place in it', () => {
    fc.assert(
      fc.property(rev, rev, fc.nat(), fc.nat(), (ra, rb, sa, sb) => {
        assert.equal(sign(Buffer.compare(logKey(ra, sa), logKey(rb, sb))), sign(ra - rb) || sign(sa - sb));
        assert.deepEqual([revisionOfLog(logKey(ra, sa)), subOfLog(logKey(ra, sa))], [ra, sa]);
      }),
    );
  });
});

describe('spanOf()', () => {
  it('ends at the first key that does not start so, also after bytes of FF', () => {
    const { start, end } = spanOf(Buffer.of(0x68, 0x00, 0xff, 0xff));
    assert.deepEqual([start, end], [Buffer.of(0x68, 0x00, 0xff, 0xff), Buffer.of(0x68, 0x01)]);
  });
});

describe('encodeChange() and encodeCurrent()', () => {
  it('can be read back', () => {
    fc.assert(
      fc.property(key, rev, rev, fc.uint8Array({ maxLength: 50 }), fc.boolean(), (k, made, before, value, put) => {
        const change = {
          type: put ? 'put' : 'delete',
          key: k,
          value: Buffer.from(value),
          revision: revision(9),
          sub: 4,
          createRevision: revision(made),
          previousRevision: revision(before),
          previousSub: 2 ** 32 - 1,
        } as const;
        assert.deepEqual(decodeChange(revision(9), 4, encodeChange(change)), change);
        const current = {
          modRevision: revision(before),
          sub: 1,
          createRevision: revision(made),
          lease: 2n ** 63n - 1n,
        };
        assert.deepEqual(decodeCurrent(encodeCurrent(current)), current);
      }),
    );
  });

  it('refuse a record that is cut or of an unknown type', () => {
    const corrupt = (err: unknown): boolean => isStoreError(err, 'corrupt');
    assert.throws(() => decodeChange(revision(2), 0, Buffer.alloc(5, 1)), corrupt);
    assert.throws(() => decodeChange(revision(2), 0, Buffer.alloc(40, 9)), corrupt);
    const cut = Buffer.alloc(23, 1); // says that its key has 257 bytes
    assert.throws(() => decodeChange(revision(2), 0, cut), corrupt);
  });
});

describe('checkKey()', () => {
  it('takes any text up to 1,024 bytes', () => {
    for (const k of ['a', '/', '\0', '😀'.repeat(256), 'x'.repeat(1024)]) checkKey(k);
  });

  it('refuses what does not fit in the table', () => {
    for (const k of ['x'.repeat(1025), '😀'.repeat(257), '\0'.repeat(1000)]) {
      assert.throws(
        () => checkKey(k),
        (err) => isStoreError(err, 'tooLarge'),
      );
    }
  });

  it('refuses an empty key, and half a character, which would be stored as another key', () => {
    assert.throws(() => checkKey(''), RangeError);
    assert.throws(() => checkKey('a\ud800'), RangeError);
    assert.ok(currentKey('a\ud800').equals(currentKey('a\ufffd')));
  });
});
