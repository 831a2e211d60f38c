import assert from 'node:assert/strict';
import { pathsOf } from './fields-tree.js';
import { ObjectWalker } from './object-walker.js';
import { ATOMIC, DEDUCED, objectShape, SCALAR, type Shape } from './shape.js';

const leaf = {};
const walkerOf = (fields: Readonly<Record<string, Shape>>, others?: Shape): ObjectWalker =>
  new ObjectWalker(
    objectShape({
      kind: 'struct',
      fields: () => new Map(Object.entries(fields)),
      ...(others === undefined ? {} : { others }),
    }),
    () => ({}),
  );

describe('an object without a schema', () => {
  const walker = walkerOf({}, DEDUCED);

  it('has owners for keys at any depth, and one for a list', () => {
    assert.deepEqual(walker.applied({ spec: { a: { b: 1 }, list: [{ c: 1 }], none: null, empty: {} } }), {
      'f:spec': { '.': leaf, 'f:a': { '.': leaf, 'f:b': leaf }, 'f:empty': leaf, 'f:list': leaf, 'f:none': leaf },
    });
  });

  it('differs by key', () => {
    const { changed, removed } = walker.diff(
      { spec: { a: 1, b: { c: 1 }, d: [1] } },
      { spec: { a: 2, b: {}, d: [1], e: 1 } },
    );
    assert.deepEqual(changed, { 'f:spec': { 'f:a': leaf, 'f:e': leaf } });
    assert.deepEqual(removed, { 'f:spec': { 'f:b': { 'f:c': leaf } } });
  });

  it('may change a value into another kind', () => {
    const toList = walker.diff({ a: { b: { c: 1 } } }, { a: [1] });
    assert.deepEqual(toList, { changed: { 'f:a': leaf }, removed: { 'f:a': { 'f:b': { '.': leaf, 'f:c': leaf } } } });
    const toObject = walker.diff({ a: 'x' }, { a: { b: 1 } });
    assert.deepEqual(toObject, { changed: { 'f:a': { '.': leaf, 'f:b': leaf } }, removed: {} });
  });

  it('merges objects and replaces the rest', () => {
    const live = { spec: { a: { x: 1, y: 1 }, list: [1, 2], c: 'text' } };
    const config = { spec: { a: { y: 2 }, list: [3], c: { d: 1 } } };
    assert.deepEqual(walker.merge(live, config), { spec: { a: { x: 1, y: 2 }, list: [3], c: { d: 1 } } });
  });

  it('is pruned by key', () => {
    const object = { spec: { a: { x: 1, y: 1 }, b: 1 } };
    const last = { 'f:spec': { 'f:a': { 'f:x': leaf }, 'f:b': leaf } };
    assert.deepEqual(walker.prune(object, last, []), { spec: { a: { y: 1 } } });
    assert.deepEqual(walker.prune(object, last, [{ 'f:spec': { 'f:b': leaf } }]), { spec: { a: { y: 1 }, b: 1 } });
  });

  it('is atomic far below', () => {
    const nested = (value: unknown): unknown => {
      let node = value;
      for (let i = 0; i < 1000; i++) node = { a: node };
      return node;
    };
    const { changed } = walker.diff(nested(1), nested(2));
    assert.equal(pathsOf(changed)[0]?.length, 201);
    assert.deepEqual(walker.merge(nested(1), nested(2)), nested(2));
  });

  it('takes keys for data', () => {
    const hostile = JSON.parse('{"spec":{"__proto__":{"x":1},"constructor":1}}') as unknown;
    assert.deepEqual(walker.diff({ spec: {} }, hostile).changed, {
      'f:spec': { 'f:__proto__': { '.': leaf, 'f:x': leaf }, 'f:constructor': leaf },
    });
    assert.equal(JSON.stringify(walker.merge({ spec: {} }, hostile)), JSON.stringify(hostile));
    assert.equal(({} as { x?: unknown }).x, undefined);
  });
});

describe('an object with fields and with others', () => {
  const walker = walkerOf({ spec: { kind: 'struct', fields: () => new Map([['b', SCALAR]]), others: DEDUCED } });

  it('owns fields by name and the others as items', () => {
    assert.deepEqual(walker.applied({ spec: { b: 1 } }), { 'f:spec': { 'f:b': leaf } });
    assert.equal(
      JSON.stringify(walker.applied({ spec: { z: {}, b: 1, a: { x: 1 } } })),
      '{"f:spec":{"f:a":{".":{},"f:x":{}},"f:b":{},"f:z":{}}}',
    );
  });

  it('finds differences in both', () => {
    const { changed, removed } = walker.diff({ spec: { a: 1, b: 1, c: 1 } }, { spec: { a: 2, b: 2, z: 1 } });
    assert.equal(JSON.stringify(changed), '{"f:spec":{"f:a":{},"f:b":{},"f:z":{}}}');
    assert.equal(JSON.stringify(removed), '{"f:spec":{"f:c":{}}}');
  });
});

describe('fields that have the names of what objects inherit', () => {
  const walker = walkerOf({ spec: { kind: 'struct', fields: () => new Map([['constructor', SCALAR]]) } });

  it('are there only when they were set', () => {
    assert.deepEqual(walker.diff({ spec: {} }, { spec: {} }), { changed: {}, removed: {} });
    assert.deepEqual(walker.applied({ spec: {} }), { 'f:spec': leaf });
    assert.deepEqual(walker.applied({ spec: { constructor: 1 } }), { 'f:spec': { 'f:constructor': leaf } });
  });
});

describe('ObjectWalker.lift()', () => {
  const walker = walkerOf({
    atomic: ATOMIC,
    struct: {
      kind: 'struct',
      fields: () =>
        new Map<string, Shape>([
          ['list', ATOMIC],
          ['name', SCALAR],
        ]),
    },
    map: { kind: 'map', values: ATOMIC },
    items: {
      kind: 'list-map',
      keys: [{ name: 'name', zero: '' }],
      items: { kind: 'struct', fields: () => new Map([['list', ATOMIC]]) },
    },
  });

  it('makes ownership of parts of what is atomic ownership of the whole', () => {
    const parts = { 'k:{"name":"x"}': { '.': leaf, 'f:y': leaf } };
    assert.deepEqual(
      walker.lift({
        'f:atomic': { 'f:x': leaf },
        'f:items': { 'k:{"name":"a"}': { 'f:list': parts } },
        'f:map': { '.': leaf, 'f:a': { 'v:"x"': leaf } },
        'f:struct': { 'f:list': parts, 'f:name': leaf },
      }),
      {
        'f:atomic': leaf,
        'f:items': { 'k:{"name":"a"}': { 'f:list': leaf } },
        'f:map': { '.': leaf, 'f:a': leaf },
        'f:struct': { 'f:list': leaf, 'f:name': leaf },
      },
    );
  });

  it('leaves what fits, and what no field is known of', () => {
    const fields = { 'f:atomic': leaf, 'f:gone': { 'f:x': leaf }, 'f:struct': { 'f:gone': leaf, 'f:list': leaf } };
    assert.equal(walker.lift(fields), fields);
  });
});
