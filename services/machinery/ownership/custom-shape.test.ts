import assert from 'node:assert/strict';
import { readSchema, type SchemaJson } from '../structural/read-schema.js';
import { customShape } from './custom-shape.js';
import { ATOMIC, DEDUCED, SCALAR, type Shape } from './shape-forms.js';

const read = (schema: SchemaJson) => readSchema(schema, (name) => `x-platform-${name}`);
const text = { type: 'string' };
const x = (name: string, value: unknown) => ({ [`x-platform-${name}`]: value });

/** The shape of a member `a` of that schema. */
function shapeOf(schema: SchemaJson): Shape | undefined {
  return customShape(read({ type: 'object', properties: { a: schema } }), () => new Map())
    .fields()
    .get('a');
}

describe('customShape()', () => {
  const simple: readonly (readonly [schema: SchemaJson, shape: Shape])[] = [
    [text, SCALAR],
    [x('int-or-string', true), SCALAR],
    [x('preserve-unknown-fields', true), DEDUCED],
    [{ type: 'object', ...x('preserve-unknown-fields', true) }, DEDUCED],
    [{ type: 'object', additionalProperties: true }, DEDUCED],
    [{ type: 'object', ...x('map-type', 'atomic'), properties: { b: text } }, ATOMIC],
    [
      { type: 'object', additionalProperties: text },
      { kind: 'map', values: SCALAR },
    ],
    [{ type: 'array', items: text }, ATOMIC],
    [{ type: 'array', items: text, ...x('list-type', 'atomic') }, ATOMIC],
    [{ type: 'array', items: text, ...x('list-type', 'set') }, { kind: 'list-set' }],
  ];
  for (const [schema, shape] of simple) {
    it(JSON.stringify(schema), () => assert.deepEqual(shapeOf(schema), shape));
  }

  it('has members with owners, and owners of members that it does not know where those are kept', () => {
    const known = shapeOf({ type: 'object', properties: { b: text } });
    assert.ok(known?.kind === 'struct' && known.others === undefined);
    assert.deepEqual([...known.fields()], [['b', SCALAR]]);
    const open = shapeOf({ type: 'object', properties: { b: text }, ...x('preserve-unknown-fields', true) });
    assert.ok(open?.kind === 'struct');
    assert.equal(open.others, DEDUCED);
  });

  it('tells items of maps apart by their keys, an absent one by its default', () => {
    const items = { type: 'object', properties: { n: text, p: { type: 'string', default: 'TCP' } } };
    const shape = shapeOf({ type: 'array', items, ...x('list-type', 'map'), ...x('list-map-keys', ['n', 'p']) });
    assert.ok(shape?.kind === 'list-map');
    assert.deepEqual(shape.keys, [
      { name: 'n', zero: null },
      { name: 'p', default: 'TCP', zero: null },
    ]);
  });
});
