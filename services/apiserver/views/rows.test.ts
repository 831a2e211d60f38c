import assert from 'node:assert/strict';
import { encodeObject, itemStart, storagePrefix } from '../../machinery/codec/encode.js';
import type { TableDeclaration } from '../../machinery/types/declarations.js';
import { CachedObject } from '../cache/cached-object.js';
import { rowsOf } from './rows.js';

const DECLARATION: TableDeclaration = {
  columns: [
    { name: 'Name', type: 'string', description: '', path: 'metadata.name' },
    { name: 'Age', type: 'string', description: '', path: 'metadata.creationTimestamp', show: 'age' },
    { name: 'Size', type: 'integer', description: '', path: 'size' },
  ],
  conditions: 'podCompleted',
};
const CREATED = Date.parse('2024-03-01T12:00:00Z');
const object = (more: object = {}): { kind: string; apiVersion: string; metadata: { name: string } } => ({
  kind: 'Thing',
  apiVersion: 'v1',
  metadata: { name: 'a"b', ...{ creationTimestamp: '2024-03-01T12:00:00Z' } },
  ...more,
});

/** An object of the cache that counts how often it is parsed. */
class Counted extends CachedObject {
  parses = 0;
  override parse(): unknown {
    this.parses++;
    return super.parse();
  }
}
const prefixLength = storagePrefix('Thing', 'v1').length;
const layout = { prefixLength, itemStart: itemStart(prefixLength), selectableFields: [] };

const rowText = (shown: Parameters<ReturnType<typeof rowsOf>['text']>[0], nowMs: number): unknown =>
  JSON.parse(`{${rowsOf(DECLARATION).text(shown, nowMs)}}`);

describe('rowsOf()', () => {
  it('writes the cells of a row, with the time as it is read', () => {
    assert.deepEqual(rowText(object({ size: 3 }), CREATED + 5_000), { cells: ['a"b', '5s', 3] });
  });

  it('adds the conditions that a row has', () => {
    const { cells, conditions } = rowText(object({ status: { phase: 'Failed' } }), CREATED) as Record<
      string,
      unknown[]
    >;
    assert.deepEqual([cells, conditions?.length], [['a"b', '0s', 0], 1]);
  });

  it('parses an object of the cache once, and still knows its age', () => {
    const cached = new Counted('/k', '', 'a', 7, encodeObject(object()), layout);
    assert.deepEqual(rowText(cached, CREATED + 1_000), { cells: ['a"b', '1s', 0] });
    assert.deepEqual(rowText(cached, CREATED + 9_000), { cells: ['a"b', '9s', 0] });
    assert.equal(cached.parses, 1);
  });
});
