import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json, JsonObject } from '../meta/object.js';
import { StatusError } from '../meta/status.js';
import { applyMergePatch } from './merge-patch.js';

const isObject = (v: unknown): v is JsonObject => typeof v === 'object' && v !== null && !Array.isArray(v);

/** The smallest patch from one value to another, written the plain way. */
function diff(from: Json | undefined, to: Json): Json {
  if (!isObject(to)) return to;
  const source = isObject(from) ? from : {};
  const entries: [string, Json][] = [];
  for (const key of Object.keys(source)) if (!Object.hasOwn(to, key)) entries.push([key, null]);
  for (const [key, value] of Object.entries(to)) {
    const before = Object.hasOwn(source, key) ? source[key] : undefined;
    if (before === undefined || JSON.stringify(before) !== JSON.stringify(value))
      entries.push([key, diff(before, value!)]);
  }
  return Object.fromEntries(entries);
}

/** No nulls in objects, for a patch cannot write them. */
const json = fc.letrec<{ node: Json }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(fc.integer(), fc.boolean(), fc.string({ maxLength: 3 })),
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', '1'), tie('node'), {
      noNullPrototype: true,
    }),
  ),
})).node;
const frozen = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
};

describe('applyMergePatch()', () => {
  const cases: readonly (readonly [target: string, patch: string, result: string])[] = [
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
    ['{"a":1}', '{"__proto__":{"x":1},"constructor":null}', '{"a":1,"__proto__":{"x":1}}'],
    ['{"__proto__":{"x":1}}', '{"__proto__":null}', '{}'],
  ];
  for (const [target, patch, result] of cases) {
    it(`of ${patch} makes ${result} of ${target}`, () => {
      assert.equal(JSON.stringify(applyMergePatch(JSON.parse(target) as Json, JSON.parse(patch) as Json)), result);
    });
  }

  it('shares what it does not change, and gives the target when nothing changes', () => {
    const target = frozen({ a: { b: 1 }, c: { d: [1] } });
    const result = applyMergePatch(target, { a: { b: 2 } }) as JsonObject;
    assert.equal(result['c'], target.c);
    assert.notEqual(result['a'], target.a);
    assert.equal(applyMergePatch(target, { a: { b: 1 }, x: null }), target);
  });

  it('pollutes no prototype', () => {
    applyMergePatch({}, JSON.parse('{"__proto__":{"p":1},"constructor":{"prototype":{"p":1}}}') as Json);
    assert.equal('p' in {}, false);
  });

  it('refuses patches that nest too deep', () => {
    const deep = JSON.parse('{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)) as Json;
    assert.throws(
      () => applyMergePatch({}, deep),
      (err) => err instanceof StatusError && err.code === 400,
    );
  });

  it('of a difference gives the other value, and changes neither', () => {
    fc.assert(
      fc.property(json, json, (from, to) => {
        const result = applyMergePatch(frozen(from), frozen(diff(from, to)));
        assert.deepEqual(result, to);
      }),
      { numRuns: 500 },
    );
  });
});
