import assert from 'node:assert/strict';
import { capUpdaters, entryOf, type ManagedFieldsEntry } from './managed-fields.js';
import { Scene } from './testing/scene.js';

const update = (i: number, apiVersion = 'v1', manager = `m${String(i)}`): ManagedFieldsEntry =>
  entryOf({
    manager,
    operation: 'Update',
    apiVersion,
    time: `2024-01-01T00:00:${String(i).padStart(2, '0')}Z`,
    fields: { 'f:data': { [`f:${String(i)}`]: {} } },
    subresource: '',
  });
const many = (count: number, version: (i: number) => string = () => 'v1'): ManagedFieldsEntry[] =>
  Array.from({ length: count }, (_, i) => update(i, version(i)));
const shown = (entries: readonly ManagedFieldsEntry[]): readonly string[] =>
  entries
    .filter((e) => e.manager === 'ancient-changes')
    .map((e) => `${e.apiVersion} ${e.time ?? ''} ${Object.keys(e.fieldsV1['f:data'] ?? {}).join()}`)
    .sort();

describe('capUpdaters()', () => {
  it('leaves ten as they are, however many appliers there are', () => {
    const entries = [...many(10), ...many(10).map((e): ManagedFieldsEntry => ({ ...e, operation: 'Apply' }))];
    assert.equal(capUpdaters(entries), entries);
  });

  it('joins the oldest, with the time of the youngest of them', () => {
    const capped = capUpdaters(many(12).reverse());
    assert.equal(capped.length, 10);
    assert.deepEqual(shown(capped), ['v1 2024-01-01T00:00:02Z f:0,f:1,f:2']);
  });

  it('joins those of one version only', () => {
    const capped = capUpdaters(many(12, (i) => (i % 2 === 0 ? 'v1' : 'v2')));
    assert.equal(capped.length, 10);
    assert.deepEqual(shown(capped), ['v1 2024-01-01T00:00:02Z f:0,f:2', 'v2 2024-01-01T00:00:03Z f:1,f:3']);
  });

  it('adds to what was joined before, also when that is not the oldest', () => {
    const ancient = update(5, 'v1', 'ancient-changes');
    const capped = capUpdaters([ancient, ...many(10).map((e) => (e.manager === 'm5' ? update(11) : e))]);
    assert.equal(capped.length, 10);
    assert.deepEqual(shown(capped), ['v1 2024-01-01T00:00:05Z f:0,f:5']);
  });

  it('cannot join what is of ten versions', () => {
    const entries = many(12, (i) => `v${String(i)}`);
    assert.equal(capUpdaters(entries).length, 12);
  });
});

describe('Ownership.update() by an eleventh manager', () => {
  it('keeps ten entries, and loses no field', () => {
    const s = new Scene('core/v1.ConfigMap');
    s.update('m0', { metadata: { name: 'c' }, data: { f0: '0' } });
    for (let i = 1; i < 12; i++) {
      s.edit(`m${String(i)}`, (o) => (o['data'] = { ...(o['data'] as object), [`f${String(i)}`]: 'x' }));
    }
    assert.deepEqual(s.owners, ['ancient-changes', ...[3, 4, 5, 6, 7, 8, 9, 10, 11].map((i) => `m${String(i)}`)]);
    assert.deepEqual(Object.keys(s.fieldsOf('ancient-changes')?.['f:data'] ?? {}), ['.', 'f:f0', 'f:f1', 'f:f2']);
  });
});
