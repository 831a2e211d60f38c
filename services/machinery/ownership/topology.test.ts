import assert from 'node:assert/strict';
import { hasReason } from '../meta/status.js';
import type { TypeDeclaration } from '../types/declarations.js';
import { typeGraph, type TypeGraph } from '../types/graph.js';
import type { ManagedFieldsEntry } from './managed-fields.js';
import { catalog, Scene } from './testing/scene.js';

const leaf = {};
type Markers = Partial<NonNullable<TypeDeclaration['fields']>[number]>;

/** The types in which the data of a ConfigMap has other markers. */
function typesWith(markers: Markers): TypeGraph {
  const { declaration } = catalog.types.of('core/v1.ConfigMap');
  const fields = (declaration.fields ?? []).map((field) => (field.name === 'data' ? { ...field, ...markers } : field));
  return typeGraph({
    keys: () => catalog.types.keys(),
    get: (key) => (key === 'core/v1.ConfigMap' ? { ...declaration, fields } : catalog.types.get(key)?.declaration),
  });
}
const granular = catalog.types;
const atomic = typesWith({ mapType: 'atomic' });
const settings = (data: object): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 's' }, data });

/** The same object and records under types that have changed since. */
function after(before: Scene, types: TypeGraph): Scene {
  const s = new Scene('core/v1.ConfigMap', { types });
  s.object = before.live;
  s.setRecords(JSON.parse(JSON.stringify(before.managers)) as ManagedFieldsEntry[]);
  return s;
}

describe('a map that has become atomic', () => {
  const before = (): Scene => {
    const s = new Scene('core/v1.ConfigMap', { types: granular });
    s.apply('one', settings({ a: '1' }));
    s.apply('two', settings({ b: '1' }));
    return s;
  };

  it('is owned as a whole by the owners of any element', () => {
    const s = after(before(), atomic);
    s.edit('three', (o) => (o.metadata.labels = { x: '1' }));
    assert.deepEqual([s.fieldsOf('one'), s.fieldsOf('two')], [{ 'f:data': leaf }, { 'f:data': leaf }]);
  });

  it('conflicts with them whatever changes', () => {
    const s = after(before(), atomic);
    assert.throws(
      () => s.apply('three', settings({ a: '1', b: '1', c: '1' })),
      (err) =>
        hasReason(err, 'Conflict') && /2 conflicts: conflicts with "one":\n- \.data\n/.test((err as Error).message),
    );
  });

  it('is taken as a whole', () => {
    const s = after(before(), atomic);
    s.update('three', settings({ a: '2', b: '1' }));
    assert.deepEqual(s.owners, ['three']);
    assert.deepEqual(s.fieldsOf('three'), { 'f:data': leaf });
  });
});

describe('a map that is atomic no more', () => {
  it('makes no conflict, and nothing is inferred of its elements', () => {
    const before = new Scene('core/v1.ConfigMap', { types: atomic });
    before.apply('one', settings({ a: '1', b: '1' }));
    const s = after(before, granular);
    s.apply('two', settings({ a: '2' }));
    assert.deepEqual(s.live['data'], { a: '2', b: '1' });
    assert.deepEqual([s.fieldsOf('one'), s.fieldsOf('two')], [{ 'f:data': leaf }, { 'f:data': { 'f:a': leaf } }]);
  });
});

describe('a field that is declared no more', () => {
  it('stays in the records until somebody writes them anew', () => {
    const s = new Scene('core/v1.ConfigMap');
    s.update('one', settings({ a: '1' }));
    const fieldsV1 = { 'f:data': { 'f:a': {} }, 'f:gone': {} };
    s.setRecords([{ manager: 'one', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 }]);
    s.update('two', settings({ a: '1', b: '1' }));
    assert.deepEqual(s.fieldsOf('one'), fieldsV1);
    s.apply('one', settings({ a: '1' }));
    assert.deepEqual(s.fieldsOf('one'), { 'f:data': { 'f:a': {} } });
  });
});
