import assert from 'node:assert/strict';
import type { FieldDeclaration, TypeDeclaration } from '../types/declarations.js';
import { typeGraph } from '../types/graph.js';
import { objectShape, structShape, type Shape } from './shape.js';
import { catalog } from './testing/scene.js';

const item: TypeDeclaration = {
  fields: [
    { name: 'name', type: 'string' },
    { name: 'port', type: 'int32' },
    { name: 'protocol', type: 'string', default: 'TCP' },
    { name: 'level', type: 'int32', alwaysEmit: true },
    { name: 'host', type: 'string', alwaysEmit: true, nullable: true },
  ],
};
const whole: TypeDeclaration = { ...item, structType: 'atomic' };

function shapeOf(field: Omit<FieldDeclaration, 'name'>): Shape | undefined {
  const types = new Map<string, TypeDeclaration>([
    ['core/v1.Item', item],
    ['core/v1.Whole', whole],
    ['core/v1.Raw', { scalar: 'rawJSON' }],
    ['core/v1.Size', { scalar: 'quantity', fields: [] }],
    ['core/v1.Verbs', { listOf: 'string' }],
    ['core/v1.Either', { jsonForm: 'boolean or Item', fields: [] }],
    ['core/v1.Thing', { kind: true, fields: [{ name: 'field', ...field }] }],
  ]);
  return structShape(typeGraph(types).of('core/v1.Thing')).fields().get('field');
}

describe('structShape()', () => {
  const cases: readonly (readonly [Omit<FieldDeclaration, 'name'>, Shape['kind'], string])[] = [
    [{ type: 'string' }, 'scalar', 'a scalar'],
    [{ type: 'intOrString' }, 'scalar', 'a scalar of two kinds'],
    [{ type: 'core/v1.Size' }, 'scalar', 'a type that is written like a scalar'],
    [{ type: 'rawJSON' }, 'atomic', 'free JSON'],
    [{ type: 'core/v1.Raw' }, 'atomic', 'a type that is written like free JSON'],
    [{ type: 'core/v1.Verbs' }, 'atomic', 'a named list'],
    [{ type: 'core/v1.Either' }, 'atomic', 'a type with two forms'],
    [{ type: 'core/v1.Item' }, 'struct', 'a structure'],
    [{ type: 'core/v1.Item', structType: 'atomic' }, 'atomic', 'a structure that is atomic in this field'],
    [{ type: 'core/v1.Whole' }, 'atomic', 'a structure that is atomic by its type'],
    [{ type: 'core/v1.Whole', structType: 'granular' }, 'struct', 'an atomic structure that is granular in this field'],
    [{ type: 'string', map: true }, 'map', 'a map'],
    [{ type: 'string', map: true, mapType: 'granular' }, 'map', 'a granular map'],
    [{ type: 'string', map: true, mapType: 'atomic' }, 'atomic', 'an atomic map'],
    [{ type: 'string', list: true }, 'atomic', 'a list without markers'],
    [{ type: 'string', list: true, listType: 'set' }, 'list-set', 'a set'],
    [{ type: 'string', list: true, patchStrategy: 'merge' }, 'list-set', 'a merged list of scalars'],
    [{ type: 'string', list: true, listType: 'atomic', patchStrategy: 'merge' }, 'atomic', 'a list with both markers'],
    [{ type: 'core/v1.Item', list: true }, 'atomic', 'a list of structures without markers'],
    [
      { type: 'core/v1.Item', list: true, listType: 'map', listMapKeys: ['port', 'protocol'] },
      'list-map',
      'a list with keys',
    ],
    [
      { type: 'core/v1.Item', list: true, patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' },
      'list-map',
      'a merged list with a merge key',
    ],
    [{ type: 'core/v1.Item', list: true, patchStrategy: 'retainKeys' }, 'atomic', 'a list that is not merged'],
    [{ type: 'core/v1.Item', list: true, patchStrategy: 'merge' }, 'atomic', 'a merged list of structures without key'],
  ];
  for (const [field, kind, what] of cases) {
    it(`reads ${what} as ${kind}`, () => {
      assert.equal(shapeOf(field)?.kind, kind);
    });
  }

  it('knows what stands for an absent key', () => {
    const shape = shapeOf({
      type: 'core/v1.Item',
      list: true,
      listType: 'map',
      listMapKeys: ['port', 'protocol', 'name', 'level', 'host'],
    });
    assert.deepEqual(shape?.kind === 'list-map' && shape.keys, [
      { name: 'port', zero: 0 },
      { name: 'protocol', default: 'TCP', zero: '' },
      { name: 'name', zero: '' },
      { name: 'level', default: 0, zero: 0 },
      { name: 'host', zero: '' },
    ]);
  });

  it('takes in the fields of inline types, its own before those', () => {
    const types = new Map<string, TypeDeclaration>([
      [
        'core/v1.Base',
        {
          fields: [
            { name: 'a', type: 'string' },
            { name: 'b', type: 'string' },
          ],
        },
      ],
      [
        'core/v1.Thing',
        {
          fields: [
            { name: 'b', type: 'rawJSON' },
            { name: 'base', type: 'core/v1.Base', inline: true },
            { name: 'hidden', type: 'string', jsonHidden: true },
          ],
        },
      ],
    ]);
    const fields = objectShape(structShape(typeGraph(types).of('core/v1.Thing'))).fields();
    assert.deepEqual(
      [...fields].map(([name, { kind }]) => `${name} ${kind}`),
      ['b atomic', 'a scalar', 'apiVersion scalar', 'kind scalar'],
    );
  });

  it('makes a shape of every declared type', () => {
    const seen = new Set<Shape>();
    const visit = (shape: Shape): void => {
      if (seen.has(shape)) return;
      seen.add(shape);
      if (shape.kind === 'struct') for (const field of shape.fields().values()) visit(field);
      if (shape.kind === 'map') visit(shape.values);
      if (shape.kind === 'list-map') {
        assert.ok(shape.keys.length > 0 && shape.keys.every((key) => key.zero !== null), JSON.stringify(shape.keys));
        visit(shape.items);
      }
    };
    for (const key of catalog.types.keys()) {
      const type = catalog.types.of(key);
      if (type.declaration.kind === true) visit(objectShape(structShape(type)));
    }
    assert.ok(seen.size > 1000);
  });

  it('gives an item one owner where its type is atomic', () => {
    for (const [type, kind] of [
      ['core/v1.Item', 'struct'],
      ['core/v1.Whole', 'atomic'],
    ] as const) {
      const shape = shapeOf({ type, list: true, listType: 'map', listMapKeys: ['name'] });
      assert.equal(shape?.kind === 'list-map' ? shape.items.kind : undefined, kind);
    }
  });
});
