import assert from 'node:assert/strict';
import { expression } from './expression.js';
import { jsonValue } from './json-values.js';
import { DYN } from './types.js';
import { equal } from './values.js';

const asked = (source: string, object: unknown): unknown =>
  expression(source, new Map([['object', DYN]])).evaluate({ object: jsonValue(object) }, 10_000).value;

describe('jsonValue()', () => {
  const object = { a: { b: [1, 2.5, 'x', null, true, { c: 'd' }] }, gone: undefined, 'k.l/m': 'n' };

  for (const source of [
    'object.a.b[0] == 1 && object.a.b[1] == 2.5 && object.a.b[2] == "x" && object.a.b[3] == null && object.a.b[4]',
    'object.a.b[5].c == "d" && object.a.b.size() == 6',
    'size(object) == 2 && !has(object.gone) && has(object.a) && !has(object.toString)',
    'object["k.l/m"] == "n" && "k.l/m" in object && !("x" in object)',
    'object.all(key, key == "a" || key == "k.l/m")',
    'object == object && object.a == {"b": [dyn(1), 2.5, "x", null, true, {"c": "d"}]} && object.a != {"b": []}',
    '!has(object.__proto__) && !("constructor" in object)',
    'type(object) == map',
  ]) {
    it(source, () => assert.equal(asked(source, object), true));
  }

  it('reads nothing that nobody asks for', () => {
    const trap = (): never => assert.fail('was read');
    const value = expression('object.cheap == 1', new Map([['object', DYN]]));
    const holder = { cheap: 1, dear: new Proxy({}, { ownKeys: trap, get: trap }) };
    assert.equal(value.evaluate({ object: jsonValue(holder) }, 100).value, true);
  });

  it('takes hostile names for names', () => {
    const hostile = JSON.parse('{"__proto__": {"x": 1}}') as object;
    assert.equal(asked('object["__proto__"].x == 1 && size(object) == 1', hostile), true);
    assert.ok(equal(jsonValue(hostile), jsonValue(hostile), { spend: () => undefined }));
  });
});
