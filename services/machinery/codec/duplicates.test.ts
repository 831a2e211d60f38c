import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json } from '../meta/object.js';
import { duplicateMembers } from './json.js';

const duplicates = (text: string, max?: number): readonly string[] =>
  duplicateMembers(Buffer.from(text), JSON.parse(text) as Json, max);

describe('duplicateMembers()', () => {
  const cases: readonly (readonly [text: string, paths: readonly string[]])[] = [
    ['{}', []],
    ['null', []],
    ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}', []],
    ['{"a":":","b":"\\":\\"","c":"{\\"a\\":1,\\"a\\":2}"}', []],
    ['{"a":1,"a":1}', ['a']],
    ['{"a":1,"a":2,"a":3}', ['a']],
    ['{"spec":{"replicas":1,"replicas":2}}', ['spec.replicas']],
    ['{"spec":{"containers":[{"name":"a"},{"name":"b","name":"c"}]}}', ['spec.containers[1].name']],
    ['{"a":[[],[1,2,{"b":1,"b":2}]]}', ['a[1][2].b']],
    ['{"metadata":{"labels":{"x.y/z":"1","x.y/z":"2"}}}', ['metadata.labels.x.y/z']],
    ['{"a":{"b":1,"b":2},"a":{"c":1,"c":2}}', ['a.b', 'a', 'a.c']],
    ['{"\\u0061":1,"a":2}', ['a']],
    ['{"\\"":1,"\\"":2,"\\\\":1,"\\\\":2}', ['"', '\\']],
    ['{"é":1,"\\u00e9":2}', ['é']],
    ['{"__proto__":1,"__proto__":2,"constructor":1}', ['__proto__']],
    ['{"__proto__":{"a":1},"b":{"constructor":{"a":1}}}', []],
    ['[{"a":1,"a":2}]', ['[0].a']],
    ['{ "a" : 1 ,\n\t"a"\r: [ "a" , "a" ] }', ['a']],
    ['{"a":"b","c":["a","b"],"c":"a"}', ['c']],
  ];
  for (const [text, paths] of cases) {
    it(`finds ${JSON.stringify(paths)} in ${text}`, () => assert.deepEqual(duplicates(text), paths));
  }

  it('gives as many paths as are wanted', () => {
    assert.deepEqual(duplicates('{"a":1,"a":2,"b":1,"b":2,"c":1,"c":2}', 2), ['a', 'b']);
  });

  it('cuts off long paths', () => {
    const name = 'x'.repeat(1_000);
    assert.deepEqual(duplicates(`{"${name}":1,"${name}":2}`), [name.slice(0, 256)]);
    assert.deepEqual(duplicates(`{"${name}":{"a":1,"a":2}}`), [`${name.slice(0, 256)}...`]);
  });

  it('finds nothing in what a program wrote, however it is laid out', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, space) => {
        assert.deepEqual(duplicates(JSON.stringify(value, null, space)), []);
      }),
    );
  });

  it('finds a member that is there twice wherever it is put in', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.string(), (value, other, name) => {
        const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
        const text = `{"first":${JSON.stringify(other)},"x":[0,{${member},"y":1,${member}}]}`;
        assert.equal(duplicates(text).length, 1);
        assert.ok(duplicates(text)[0]?.startsWith(`x[1].${name.slice(0, 250)}`));
      }),
    );
  });
});
