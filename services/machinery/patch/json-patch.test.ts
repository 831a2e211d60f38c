import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createPatch } from 'rfc6902';
import type { Json } from '../meta/object.js';
import { StatusError } from '../meta/status.js';
import { done } from '../work/work.js';
import { applyJsonPatch as applying } from './json-patch.js';

const applyJsonPatch = (document: Json, patch: unknown): Json => done(applying(document, patch));

const apply = (document: string, patch: string): string =>
  JSON.stringify(applyJsonPatch(JSON.parse(document) as Json, JSON.parse(patch)));
const refusal = (document: string, patch: string): StatusError => {
  try {
    apply(document, patch);
  } catch (err) {
    assert.ok(err instanceof StatusError, String(err));
    return err;
  }
  throw new Error('was not refused');
};
const frozen = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
};

const CASES: readonly (readonly [document: string, patch: string, result: string])[] = [
  ['{"a":1}', '[]', '{"a":1}'],
  ['{"a":1}', '[{"op":"add","path":"/b","value":2}]', '{"a":1,"b":2}'],
  ['{"a":1}', '[{"op":"add","path":"/a","value":null}]', '{"a":null}'],
  ['{"a":[1,3]}', '[{"op":"add","path":"/a/1","value":2}]', '{"a":[1,2,3]}'],
  ['{"a":[1]}', '[{"op":"add","path":"/a/-","value":2}]', '{"a":[1,2]}'],
  ['{"a":[1]}', '[{"op":"add","path":"/a/1","value":2}]', '{"a":[1,2]}'],
  ['{"a":1}', '[{"op":"add","path":"","value":[]}]', '[]'],
  ['{"a":[1,2]}', '[{"op":"remove","path":"/a/0"}]', '{"a":[2]}'],
  ['{"a":null}', '[{"op":"remove","path":"/a"}]', '{}'],
  ['{"a":[1,2]}', '[{"op":"replace","path":"/a/0","value":9}]', '{"a":[9,2]}'],
  ['{"a/b":{"~":1}}', '[{"op":"replace","path":"/a~1b/~0","value":2}]', '{"a/b":{"~":2}}'],
  ['{"":1}', '[{"op":"replace","path":"/","value":2}]', '{"":2}'],
  ['{"a":{"b":1},"c":{}}', '[{"op":"move","from":"/a/b","path":"/c/d"}]', '{"a":{},"c":{"d":1}}'],
  ['{"a":[1,2,3]}', '[{"op":"move","from":"/a/0","path":"/a/2"}]', '{"a":[2,3,1]}'],
  ['{"a":1}', '[{"op":"move","from":"/a","path":"/a"}]', '{"a":1}'],
  [
    '{"a":{"b":1}}',
    '[{"op":"copy","from":"/a","path":"/c"},{"op":"add","path":"/c/b","value":2}]',
    '{"a":{"b":1},"c":{"b":2}}',
  ],
  [
    '{"a":{"b":1}}',
    '[{"op":"add","path":"/a/x","value":1},{"op":"copy","from":"/a","path":"/c"},{"op":"remove","path":"/a/x"}]',
    '{"a":{"b":1},"c":{"b":1,"x":1}}',
  ],
  ['{"a":1}', '[{"op":"copy","from":"","path":"/b"}]', '{"a":1,"b":{"a":1}}'],
  ['{"a":{"x":1,"y":[2]}}', '[{"op":"test","path":"/a","value":{"y":[2],"x":1}}]', '{"a":{"x":1,"y":[2]}}'],
  ['{}', '[{"op":"test","path":"/a","value":null}]', '{}'],
];

const NOT_APPLICABLE: readonly (readonly [document: string, patch: string])[] = [
  ['{}', '[{"op":"add","path":"/a/b","value":1}]'],
  ['{"a":[]}', '[{"op":"add","path":"/a/1","value":1}]'],
  ['{"a":[1]}', '[{"op":"add","path":"/a/01","value":1}]'],
  ['{"a":[1]}', '[{"op":"add","path":"/a/x","value":1}]'],
  ['{"a":[1]}', '[{"op":"add","path":"/a/-1","value":1}]'],
  ['{"a":"text"}', '[{"op":"add","path":"/a/length","value":1}]'],
  ['{}', '[{"op":"remove","path":"/a"}]'],
  ['{}', '[{"op":"remove","path":""}]'],
  ['{"a":[1]}', '[{"op":"remove","path":"/a/x"}]'],
  ['{"a":[1]}', '[{"op":"remove","path":"/a/-"}]'],
  ['{}', '[{"op":"replace","path":"/a","value":1}]'],
  ['{"a":[1]}', '[{"op":"replace","path":"/a/1","value":1}]'],
  ['{}', '[{"op":"move","from":"/a","path":"/b"}]'],
  ['{"a":{"b":{}}}', '[{"op":"move","from":"/a","path":"/a/b/c"}]'],
  ['{}', '[{"op":"copy","from":"/a","path":"/b"}]'],
  ['{"a":1}', '[{"op":"test","path":"/a","value":2}]'],
  ['{"a":1}', '[{"op":"test","path":"/a","value":"1"}]'],
  ['{"a":{"b":1}}', '[{"op":"test","path":"/a","value":{"b":1,"c":2}}]'],
  ['{}', '[{"op":"add","path":"/toString/x","value":1}]'],
  ['{}', '[{"op":"add","path":"/__proto__/x","value":1}]'],
  ['{}', '[{"op":"add","path":"/constructor/prototype/x","value":1}]'],
  ['{}', '[{"op":"replace","path":"/constructor","value":1}]'],
  ['{}', '[{"op":"copy","from":"/__proto__","path":"/a"}]'],
];

const NO_PATCH: readonly string[] = [
  '{}',
  'null',
  '[1]',
  '[null]',
  '[{}]',
  '[{"op":"toString","path":""}]',
  '[{"op":"add","value":1}]',
  '[{"op":"add","path":"/a"}]',
  '[{"op":"add","path":"a","value":1}]',
  '[{"op":"add","path":1,"value":1}]',
  '[{"op":"move","path":"/a"}]',
  '[{"op":"copy","path":"/a","from":["a"]}]',
];

describe('applyJsonPatch()', () => {
  for (const [document, patch, result] of CASES) {
    it(`of ${patch} makes ${result} of ${document}`, () => assert.equal(apply(document, patch), result));
  }

  for (const [document, patch] of NOT_APPLICABLE) {
    it(`refuses ${patch} for ${document} with 422`, () => {
      const err = refusal(document, patch);
      assert.equal(err.code, 422);
      assert.equal(err.message, 'the server rejected our request due to an error in our request');
      assert.equal(err.details?.causes?.[0]?.field, '[0]');
    });
  }

  for (const patch of NO_PATCH) {
    it(`refuses ${patch} with 400`, () => assert.equal(refusal('{"a":1}', patch).code, 400));
  }

  it('names the operation that does not apply and why', () => {
    const err = refusal('{}', '[{"op":"add","path":"/a","value":1},{"op":"remove","path":"/b"}]');
    assert.deepEqual(err.details?.causes, [
      { reason: 'FieldValueInvalid', message: 'doc is missing path: "/b"', field: '[1]' },
    ]);
  });

  it('takes __proto__ and constructor for members like any other', () => {
    assert.equal(apply('{}', '[{"op":"add","path":"/__proto__","value":{"p":1}}]'), '{"__proto__":{"p":1}}');
    const patch = '[{"op":"add","path":"/__proto__/q","value":2},{"op":"test","path":"/__proto__/p","value":1}]';
    assert.equal(apply('{"__proto__":{"p":1}}', patch), '{"__proto__":{"p":1,"q":2}}');
    assert.equal(
      apply('{"constructor":"x"}', '[{"op":"test","path":"/constructor","value":"x"}]'),
      '{"constructor":"x"}',
    );
    assert.equal('p' in {} || 'q' in {} || Reflect.has(Reflect.get({}, 'toString') as object, 'x'), false);
  });

  it('changes neither document nor patch', () => {
    const document = frozen({ a: { b: [1] }, c: { d: 1 } });
    const patch = frozen([
      { op: 'add', path: '/a/b/-', value: { x: 1 } },
      { op: 'add', path: '/a/b/1/y', value: 2 },
    ]);
    const result = applyJsonPatch(document, patch) as typeof document;
    assert.deepEqual(result, { a: { b: [1, { x: 1, y: 2 }] }, c: { d: 1 } });
    assert.equal(result.c, document.c);
  });

  it('takes 10,000 operations and refuses one more with 413', () => {
    const operations = (n: number): string => JSON.stringify(Array(n).fill({ op: 'add', path: '/a/-', value: 1 }));
    assert.equal((JSON.parse(apply('{"a":[]}', operations(10_000))) as { a: unknown[] }).a.length, 10_000);
    assert.equal(refusal('{"a":[]}', operations(10_001)).code, 413);
  });

  it('copies a list once however often it is changed, for copies are counted', () => {
    const many = (op: string, path: string): string =>
      JSON.stringify(Array(10_000).fill({ op, path, ...(op === 'remove' ? {} : { value: 1 }) }));
    const list = JSON.stringify({ a: { b: Array(20_000).fill(0) } });
    assert.match(apply(list, many('replace', '/a/b/0')), /^{"a":{"b":\[1,0,/);
    assert.match(apply(list, many('replace', '/a/b/19999')), /,0,1\]}}$/);
    const huge = JSON.stringify(Array(700_000).fill(0));
    assert.equal(refusal(huge, many('remove', '/0')).code, 422);
    assert.equal(refusal(huge, many('add', '/0')).code, 422);
  });

  it('can be put aside after each operation, read and applied', () => {
    const work = applying({}, Array(3).fill({ op: 'add', path: '/a', value: 1 }));
    let parts = 0;
    while (work.next().done !== true) parts++;
    assert.equal(parts, 6);
  });

  it('counts copies of any size together', () => {
    const document = JSON.stringify({ a: 'x'.repeat(1024 * 1024) });
    const copies = (n: number): string =>
      JSON.stringify(Array.from({ length: n }, (_, i) => ({ op: 'copy', from: '/a', path: `/b${i}` })));
    assert.equal(Object.keys(JSON.parse(apply(document, copies(2))) as object).length, 3);
    assert.equal(refusal(document, copies(3)).code, 422);
  });

  it('refuses copies that grow without bound', () => {
    const patch = JSON.stringify(Array(40).fill({ op: 'copy', from: '', path: '/a/-' }));
    const err = refusal('{"a":["some text"]}', patch);
    assert.equal(err.code, 422);
    assert.match(
      err.details?.causes?.[0]?.message ?? '',
      /accumulated size increase of copy is \d+, exceeding the limit/,
    );
  });

  it('refuses paths of more than 1000 steps', () => {
    assert.equal(refusal('{}', JSON.stringify([{ op: 'remove', path: '/a'.repeat(1001) }])).code, 400);
  });

  it('of a difference gives the other value', () => {
    // The library that makes the patches leaves members of these names out, so they are not among the keys.
    const key = fc.string({ maxLength: 3 }).filter((k) => !['__proto__', 'constructor', 'prototype'].includes(k));
    const json = fc.letrec<{ node: Json }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(fc.integer(), fc.boolean(), fc.string({ maxLength: 3 }), fc.constant(null)),
        fc.array(tie('node'), { maxLength: 4 }),
        fc.dictionary(key, tie('node'), { maxKeys: 4, noNullPrototype: true }),
      ),
    })).node;
    fc.assert(
      fc.property(json, json, (from, to) => {
        const patch = createPatch(from, to);
        assert.deepEqual(applyJsonPatch(frozen(from), frozen(patch)), to);
      }),
      { numRuns: 500 },
    );
  });
});
