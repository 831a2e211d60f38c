import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ApiObject } from '../meta/object.js';
import { encodeObject, splice, storagePrefix } from './encode.js';
import { metadataSpan } from './metadata-span.js';

const prefixLength = storagePrefix('ConfigMap', 'v1').length;

function spanOf(metadata: object, rest: object): unknown {
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata, ...rest } as ApiObject;
  const bytes = splice(encodeObject(object), prefixLength, 7);
  return JSON.parse(metadataSpan(bytes, prefixLength).toString());
}

describe('metadataSpan()', () => {
  it('is metadata and nothing else', () => {
    assert.deepEqual(spanOf({ name: 'a' }, { data: { metadata: '}' } }), { resourceVersion: '7', name: 'a' });
  });

  it('ends after metadata when nothing follows', () => {
    assert.deepEqual(spanOf({ name: 'a' }, {}), { resourceVersion: '7', name: 'a' });
  });

  it('is not deceived by what strings hold', () => {
    const annotations = { 'a"b': '}}\\', 'c\\': '"}', d: '{"e":"\\"}' };
    assert.deepEqual(spanOf({ name: 'a', annotations }, { data: { x: 'y' } }), {
      resourceVersion: '7',
      name: 'a',
      annotations,
    });
  });

  it('holds for any annotations and field owners', () => {
    const tree = fc.jsonValue({ maxDepth: 3 }).filter((v) => typeof v === 'object' && v !== null);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }), tree, (annotations, fieldsV1) => {
        const metadata = { name: 'n', annotations: { ...annotations, k: 'v' }, managedFields: [{ fieldsV1 }] };
        const expected: unknown = JSON.parse(JSON.stringify({ resourceVersion: '7', ...metadata }));
        assert.deepEqual(spanOf(metadata, { data: { annotations } }), expected);
      }),
    );
  });

  it('refuses bytes that end too early', () => {
    assert.throws(
      () => metadataSpan(Buffer.from('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"a'), 49),
      /inside/,
    );
  });
});
