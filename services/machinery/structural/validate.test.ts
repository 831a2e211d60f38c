import assert from 'node:assert/strict';
import { embeddedProblems } from './embedded.js';
import { duplicateItems } from './list-keys.js';
import { readSchema, type SchemaJson } from './read-schema.js';
import { validate } from './validate.js';

const read = (schema: SchemaJson) => readSchema(schema, (name) => `x-platform-${name}`);
const inA = (schema: SchemaJson): SchemaJson => ({ type: 'object', properties: { a: schema } });
const told = (problems: readonly { field: string; message: string }[]): string[] =>
  problems.map(({ field, message }) => `${field}: ${message}`);

describe('validate()', () => {
  const text = { type: 'string' };
  const cases: readonly (readonly [schema: SchemaJson, value: unknown, ...problems: string[]])[] = [
    [text, 'x'],
    [text, 1, 'a: Invalid value: "integer": a in body must be of type string: "integer"'],
    [text, null, 'a: Invalid value: "null": a in body must be of type string: "null"'],
    [{ ...text, nullable: true }, null],
    [{ type: 'integer' }, 1.5, 'a: Invalid value: "number": a in body must be of type integer: "number"'],
    [{ type: 'number' }, 1],
    [
      { 'x-platform-int-or-string': true },
      true,
      'a: Invalid value: "boolean": a in body must be of type integer,string: "boolean"',
    ],
    [{ ...text, enum: ['b', 'c'] }, 'a', 'a: Unsupported value: "a": supported values: "b", "c"'],
    [{ ...text, maxLength: 1 }, '😀'],
    [{ ...text, maxLength: 1 }, 'ab', 'a: Too long: must have at most 1 bytes'],
    [{ ...text, minLength: 2 }, '😀', 'a: Invalid value: "😀": a in body should be at least 2 chars long'],
    [{ ...text, pattern: '^a$' }, 'b', `a: Invalid value: "b": a in body should match '^a$'`],
    [{ ...text, pattern: '(' }, 'b', `a: Invalid value: "b": a in body should match '('`],
    [{ ...text, format: 'ipv4' }, 'b', 'a: Invalid value: "b": a in body must be of type ipv4: "b"'],
    [{ ...text, format: 'nobody-knows' }, 'b'],
    [{ ...text, format: 'date' }, 1, 'a: Invalid value: "int64": a in body must be of type date: "int64"'],
    [{ type: 'integer', minimum: 2 }, 1, 'a: Invalid value: 1: a in body should be greater than or equal to 2'],
    [
      { type: 'integer', minimum: 1, exclusiveMinimum: true },
      1,
      'a: Invalid value: 1: a in body should be greater than 1',
    ],
    [{ type: 'integer', maximum: 2 }, 3, 'a: Invalid value: 3: a in body should be less than or equal to 2'],
    [
      { type: 'integer', maximum: 3, exclusiveMaximum: true },
      3,
      'a: Invalid value: 3: a in body should be less than 3',
    ],
    [{ type: 'number', multipleOf: 0.1 }, 0.3],
    [{ type: 'integer', multipleOf: 2 }, 3, 'a: Invalid value: 3: a in body should be a multiple of 2'],
    [
      { type: 'integer', format: 'int32' },
      2 ** 31,
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in a',
    ],
    [{ type: 'array', items: text, minItems: 1 }, [], 'a: Invalid value: 0: a in body should have at least 1 items'],
    [{ type: 'array', items: text, maxItems: 1 }, ['a', 'b'], 'a: Too many: 2: must have at most 1 items'],
    [
      { type: 'array', items: text },
      ['a', 1],
      'a[1]: Invalid value: "integer": a[1] in body must be of type string: "integer"',
    ],
    [
      { type: 'object', additionalProperties: text },
      { 'b.c': 1 },
      'a.b.c: Invalid value: "integer": a.b.c in body must be of type string: "integer"',
    ],
    [
      { type: 'object', additionalProperties: false },
      { b: 1 },
      'a: Invalid value: "b": a.b in body is a forbidden property',
    ],
    [{ type: 'object', minProperties: 1 }, {}, 'a: Invalid value: 0: a in body should have at least 1 properties'],
    [{ type: 'object', maxProperties: 0 }, { b: 1 }, 'a: Too many: 1: must have at most 0 items'],
    [{ type: 'object', required: ['b'] }, {}, 'a.b: Required value'],
    [
      { ...text, anyOf: [{ enum: ['x'] }, { enum: ['y'] }] },
      'z',
      '<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)',
      'a: Unsupported value: "z": supported values: "x"',
    ],
    [
      { ...text, oneOf: [{ minLength: 1 }, { minLength: 0 }] },
      'z',
      '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
    [
      { ...text, oneOf: [{ minLength: 2 }] },
      'z',
      '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found none valid',
      'a: Invalid value: "z": a in body should be at least 2 chars long',
    ],
    [
      { ...text, allOf: [{ minLength: 2 }, { maxLength: 2 }] },
      'z',
      'a: Invalid value: "z": a in body should be at least 2 chars long',
      '<nil>: Invalid value: "": "a" must validate all the schemas (allOf)',
    ],
    [{ ...text, not: { minLength: 1 } }, 'z', '<nil>: Invalid value: "": "a" must not validate the schema (not)'],
  ];
  for (const [schema, value, ...problems] of cases) {
    it(`${JSON.stringify(value)} for ${JSON.stringify(schema)}`, () => {
      assert.deepEqual(told(validate({ a: value }, read(inA(schema)))), problems);
    });
  }

  it('tells of what has changed alone, items of maps being told apart by their keys', () => {
    const schema = read(
      inA({
        type: 'array',
        'x-platform-list-type': 'map',
        'x-platform-list-map-keys': ['name'],
        items: { type: 'object', properties: { name: text, size: { type: 'integer', maximum: 1 } } },
      }),
    );
    const before = {
      a: [
        { name: 'x', size: 5 },
        { name: 'y', size: 1 },
      ],
    };
    const after = {
      a: [
        { name: 'y', size: 7 },
        { name: 'x', size: 5 },
      ],
    };
    assert.deepEqual(
      validate(after, schema, before).map(({ field }) => field),
      ['a[0].size'],
    );
  });

  it('tells of a thousand problems at most', () => {
    const many = Array.from({ length: 5_000 }, () => 1);
    assert.equal(validate({ a: many }, read(inA({ type: 'array', items: text }))).length, 1_000);
  });

  it('is done in time that is linear in the text, whatever the pattern', () => {
    const [problem] = validate({ a: `${'a'.repeat(50_000)}!` }, read(inA({ ...text, pattern: '^(a+)+$' })));
    assert.equal(problem?.reason, 'FieldValueInvalid');
  });
});

describe('duplicateItems()', () => {
  const ofMap = inA({
    type: 'array',
    'x-platform-list-type': 'map',
    'x-platform-list-map-keys': ['name', 'port'],
    items: { type: 'object' },
  });
  const cases: readonly (readonly [schema: SchemaJson, value: unknown, ...problems: string[]])[] = [
    [
      inA({ type: 'array', 'x-platform-list-type': 'set', items: {} }),
      ['x', 'y', 'x', 'x'],
      'a[2]: Duplicate value: "x"',
    ],
    [
      inA({ type: 'array', 'x-platform-list-type': 'set', items: {} }),
      [
        { b: 1, c: 2 },
        { c: 2, b: 1 },
      ],
      'a[1]: Duplicate value: {"c":2,"b":1}',
    ],
    [inA({ type: 'array', 'x-platform-list-type': 'atomic', items: {} }), ['x', 'x']],
    [
      ofMap,
      [
        { name: 'x', port: 1 },
        { name: 'x', port: 2 },
      ],
    ],
    [
      ofMap,
      [
        { name: 'x', port: 1 },
        { port: 1, name: 'x', more: true },
      ],
      'a[1]: Duplicate value: {"name":"x","port":1}',
    ],
    [ofMap, [{ name: 'x' }, {}, { name: 'x' }], 'a[2]: Duplicate value: {"name":"x"}'],
    [ofMap, [{}, 'x'], 'a[1]: Invalid value: "x": must be an object for an array of list-type map'],
  ];
  for (const [schema, value, ...problems] of cases) {
    it(`${JSON.stringify(value)} in ${JSON.stringify(schema)}`, () => {
      assert.deepEqual(told(duplicateItems({ a: value }, read(schema))), problems);
      assert.deepEqual(duplicateItems({ a: value }, read(schema), { a: value }), []);
    });
  }
});

describe('embeddedProblems()', () => {
  const schema = read(inA({ type: 'object', 'x-platform-embedded-resource': true }));
  const cases: readonly (readonly [value: unknown, ...problems: string[]])[] = [
    [{ apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 'b' } } }],
    [{}, 'a.apiVersion: Required value', 'a.kind: Required value'],
    [
      { apiVersion: '', kind: 1 },
      'a.apiVersion: Invalid value: "": must not be empty',
      'a.kind: Invalid value: 1: must be a string',
    ],
    [
      { apiVersion: 'a/b/c', kind: 'Pod' },
      'a.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    ],
  ];
  for (const [value, ...problems] of cases) {
    it(JSON.stringify(value), () => {
      assert.deepEqual(told(embeddedProblems({ a: value }, schema)), problems);
    });
  }

  it('are told of kinds and metadata with the place of the object', () => {
    const [kind, labels] = embeddedProblems(
      { a: { apiVersion: 'v1', kind: 'a b', metadata: { labels: { 'x y': '' } } } },
      schema,
    );
    assert.deepEqual([kind?.field, labels?.field], ['a.kind', 'a.metadata.labels']);
  });
});
