import assert from 'node:assert/strict';
import { StatusError } from '../meta/status.js';
import { BODY_LIMITS, parseJson } from './json.js';

const refusal = (bytes: Buffer, limits = BODY_LIMITS): StatusError => {
  try {
    parseJson(bytes, limits);
  } catch (err) {
    assert.ok(err instanceof StatusError);
    return err;
  }
  throw new Error('was not refused');
};
const nested = (depth: number): Buffer => Buffer.from('['.repeat(depth) + ']'.repeat(depth));

describe('parseJson()', () => {
  it('reads objects, lists and text beyond ASCII', () => {
    assert.deepEqual(parseJson(Buffer.from('{"a":[1,"ü",null]}')), { a: [1, 'ü', null] });
  });

  it('keeps a member named __proto__ as data', () => {
    const value = parseJson(Buffer.from('{"__proto__":{"x":1}}')) as object;
    assert.deepEqual(Object.keys(value), ['__proto__']);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
  });

  it('refuses invalid UTF-8', () => {
    const err = refusal(Buffer.from([0x22, 0xc3, 0x28, 0x22]));
    assert.equal(err.code, 400);
    assert.match(err.message, /invalid UTF-8/);
  });

  it('refuses a byte order mark', () => {
    assert.equal(refusal(Buffer.from('\ufeff{}')).code, 400);
  });

  it('names the end of input as clients know it', () => {
    assert.equal(refusal(Buffer.from('{"a":')).message, 'json parse error: unexpected end of JSON input');
    assert.equal(refusal(Buffer.alloc(0)).message, 'json parse error: unexpected end of JSON input');
  });

  it('refuses broken JSON with 400 and without quoting the whole body', () => {
    const err = refusal(Buffer.from(`{"a":${'x'.repeat(100_000)}}`));
    assert.equal(err.code, 400);
    assert.ok(err.message.length < 200, err.message);
  });

  it('refuses a body over the limit with 413', () => {
    assert.equal(refusal(Buffer.from('"12345"'), { ...BODY_LIMITS, maxBytes: 6 }).code, 413);
  });

  it('allows 1000 levels and refuses one more', () => {
    assert.ok(Array.isArray(parseJson(nested(1000))));
    assert.match(refusal(nested(1001)).message, /exceeded max depth 1000/);
    assert.match(refusal(nested(1_500_000)).message, /exceeded max depth 1000/);
  });

  it('does not take brackets in strings for nesting', () => {
    const text = '["' + '[{'.repeat(3000) + '\\"' + '[{'.repeat(3000) + '"]';
    assert.equal((parseJson(Buffer.from(text)) as string[]).length, 1);
  });

  it('does not take many brackets side by side for nesting', () => {
    assert.equal((parseJson(Buffer.from(`[${'[],'.repeat(5000)}[]]`)) as unknown[]).length, 5001);
  });
});
