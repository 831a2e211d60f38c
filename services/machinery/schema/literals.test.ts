import assert from 'node:assert/strict';
import fc from 'fast-check';
import { literalKey, MOST_LITERALS, noteLiterals } from './literals.js';

function noted(text: string): Readonly<Record<string, string>> {
  const notes = new Map<string, string>();
  noteLiterals(Buffer.from(text), notes);
  return Object.fromEntries(notes);
}

describe('noteLiterals()', () => {
  it('notes numbers with a fraction or an exponent by their place, as they are written', () => {
    const text = '{"a": 1.0, "b":[1,{"c.d":-1E+3 },\n[2,3,5e-1]], "\\u0065": {"x":1,"y":0.50}, "f":7}';
    assert.deepEqual(noted(text), {
      '["a"]': '1.0',
      '["b",1,"c.d"]': '-1E+3',
      '["b",2,2]': '5e-1',
      '["e","y"]': '0.50',
    });
    assert.deepEqual(noted('1e3'), { '[]': '1e3' });
  });

  it('finds none in strings, words and integers', () =>
    assert.deepEqual(noted('{"a.1e3":"1.0 \\" 1e3","b":[true,false,null,-12,"x\\\\",3]}'), {}));

  it('has a bound, in number and in length', () => {
    assert.equal(Object.keys(noted(`[${'1.0,'.repeat(MOST_LITERALS + 5)}1]`)).length, MOST_LITERALS);
    assert.ok((noted(`{"a":1.${'0'.repeat(100_000)}}`)['["a"]']?.length ?? 0) < 1_000);
  });

  it('notes what is there and nothing else, in any JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value: unknown = JSON.parse(text);
        for (const [key, literal] of Object.entries(noted(text))) {
          const at = (JSON.parse(key) as (string | number)[]).reduce<unknown>((v, step) => (v as never)[step], value);
          assert.equal(Number(literal), at);
        }
        const found = Object.keys(noted(text)).length;
        const outside = text.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d[\d.eE+-]*/g) ?? [];
        assert.equal(found, Math.min(MOST_LITERALS, outside.filter((n) => /[.eE]/.test(n)).length));
      }),
    );
  });

  it('makes a key of a way that is no other way’s', () => assert.notEqual(literalKey(['a', 'b']), literalKey(['a.b'])));
});
