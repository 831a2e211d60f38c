import assert from 'node:assert/strict';
import { CelTypeError } from '../check.js';
import { expression, LIBRARIES } from '../expression.js';
import { Functions } from '../functions.js';
import { CelSyntaxError } from '../lexer.js';
import { DYN, typeText } from '../types.js';
import { CelMap } from '../values.js';
import { PATCHES, patchTypes } from './patches.js';

const ENVIRONMENT = { functions: new Functions([...LIBRARIES, PATCHES]), types: patchTypes };
const compiled = (source: string) => expression(source, new Map([['x', DYN]]), ENVIRONMENT);
const asked = (source: string) => compiled(source).evaluate({ x: 3n }, 10_000).value;

describe('values of named types', () => {
  for (const source of [
    'Object{spec: Object.spec{replicas: 3}}.spec.replicas == x',
    'Object{spec: Object.spec{replicas: 3}} == Object{spec: Object.spec{replicas: 1 + 2}}',
    'Object{namespace: "a", ?gone: optional.none(), ?here: optional.of(1)}.here == 1',
    '!has(Object{?gone: optional.none()}.gone)',
    '[Object.spec.containers{name: "c", image: "i",}][0].name == "c"',
    'JSONPatch{op: "add", path: "/spec", value: {"a": 1}}.op == "add"',
    '!has(JSONPatch{op: "remove", path: "/spec"}.value)',
    'jsonpatch.escapeKey("k8s.io/my~label") == "k8s.io~1my~0label"',
    'Object{}.?existing.hasValue() == false',
  ]) {
    it(source, () => assert.equal(asked(source), true));
  }

  it('know their types', () => {
    assert.equal(typeText(compiled('Object{}').type), 'Object');
    assert.equal(typeText(compiled('[JSONPatch{op: "test"}]').type), 'list(JSONPatch)');
    const value = asked('Object.spec{}');
    assert.ok(value instanceof CelMap && value.typeName === 'Object.spec');
  });

  for (const [source, why] of [
    ['Invalid{}', "undeclared reference to 'Invalid'"],
    ['JSONPatch{op: 1}', "expected type of field 'op' is 'string' but provided type is 'int'"],
    ['JSONPatch{ip: "x"}', "undefined field 'ip'"],
    ['JSONPatch{op: "add", value: Other{}}', "undeclared reference to 'Other'"],
    ['Object{?a: 1}', "expected type 'optional_type(dyn)'"],
  ] as const) {
    it(`cannot be: ${source}`, () =>
      assert.throws(
        () => compiled(source),
        (err) => err instanceof CelTypeError && err.message.includes(why),
      ));
  }

  it('are no part of other expressions', () => {
    assert.throws(() => expression('Object{}', new Map()), CelTypeError);
    assert.throws(() => expression('jsonpatch.escapeKey("a")', new Map()), CelTypeError);
  });

  for (const source of ['x(1){}', 'Object{a 1}', 'Object{a: 1', 'Object{"a": 1}', 'x[0]{}']) {
    it(`are not written so: ${source}`, () => assert.throws(() => compiled(source), CelSyntaxError));
  }
});
