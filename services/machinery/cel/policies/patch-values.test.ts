import assert from 'node:assert/strict';
import type { Value } from '../values.js';
import { AN_OBJECT, ANYTHING, Composition, ExpressionError, OPERATIONS } from './composition.js';
import { appliedObject, patchOperations, PatchValueError } from './patch-values.js';

const composition = new Composition({ hasParams: false, hasAuthorizer: false });
const valueOf = (source: string, wanted = AN_OBJECT): Value =>
  composition.expression(source, wanted).evaluate({}, 10_000).value;

describe('appliedObject()', () => {
  it('makes JSON of what an expression gives', () => {
    const source =
      'Object{n: 1, u: 2u, d: 1.5, t: "x", b: true, z: null, y: b"hi", l: [1, 2], m: {"a": Object.m{c: 1}}, o: Object.o{?gone: optional.none()}, p: [Object.p{q: Object.p.q{}}]}';
    assert.deepEqual(appliedObject(valueOf(source)), {
      n: 1, u: 2, d: 1.5, t: 'x', b: true, z: null, y: 'aGk=', l: [1, 2], m: { a: { c: 1 } }, o: {}, p: [{ q: {} }],
    }); // prettier-ignore
  });

  for (const [source, why] of [
    ['Object{spec: Object.wrong{}}', 'expected "Object.spec"'],
    ['Object{spec: Object.spec{a: Object{}}}', 'expected "Object.spec.a"'],
    ['Object{list: [dyn(Object.list{}), Object.other{}]}', 'unexpected type name "Object.other"'],
    ['Object{when: timestamp("2020-01-01T00:00:00Z")}', 'has no form in JSON'],
    ['Object{m: {1: "a"}}', 'not string'],
  ] as const) {
    it(`does not take ${source}`, () =>
      assert.throws(
        () => appliedObject(valueOf(source)),
        (err) => err instanceof PatchValueError && err.message.includes(why),
      ));
  }

  it('takes hostile names for names', () => {
    const object = appliedObject(valueOf('Object{m: {"__proto__": "x"}}')) as { m: object };
    assert.deepEqual(Object.getOwnPropertyNames(object.m), ['__proto__']);
  });
});

describe('patchOperations()', () => {
  it('makes operations of what an expression gives', () => {
    const source =
      '[JSONPatch{op: "add", path: "/a", value: Object.a{b: 1}}, JSONPatch{op: "move", from: "/a", path: "/b"}, JSONPatch{op: "test", path: "/c", value: null}]';
    assert.deepEqual(patchOperations(valueOf(source, OPERATIONS)), [
      { op: 'add', path: '/a', value: { b: 1 } },
      { op: 'move', path: '/b', from: '/a' },
      { op: 'test', path: '/c', value: null },
    ]);
    assert.deepEqual(patchOperations(valueOf('[]', OPERATIONS)), []);
  });

  it('looks at the types inside of values', () => {
    const source = '[JSONPatch{op: "add", path: "/a", value: Object.a{b: Object.c{}}}]';
    assert.throws(() => patchOperations(valueOf(source, OPERATIONS)), PatchValueError);
  });
});

describe('Composition', () => {
  for (const [source, wanted] of [
    ['Object.spec{}', AN_OBJECT],
    ['object', AN_OBJECT],
    ['{"a": 1}', AN_OBJECT],
    ['[Object{}]', OPERATIONS],
    ['JSONPatch{op: "add"}', OPERATIONS],
    ['object', OPERATIONS],
  ] as const) {
    it(`wants something else than ${source}`, () =>
      assert.throws(() => composition.expression(source, wanted), ExpressionError));
  }

  it('has the types of patches for patches alone', () => {
    assert.throws(() => composition.expression('Object{}', ANYTHING), ExpressionError);
  });
});
