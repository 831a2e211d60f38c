import assert from 'node:assert/strict';
import { cached } from './testing/objects.js';

describe('CachedObject', () => {
  it('carries its revision in its bytes', () => {
    assert.deepEqual(JSON.parse(cached('ns', 'a', 7).bytes.toString()), {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { resourceVersion: '7', name: 'a', namespace: 'ns' },
    });
  });

  it('shows the same state under another revision, of another length', () => {
    const object = cached('ns', 'a', 99, { color: 'red' });
    const later = object.at(1000);
    assert.equal(later.revision, 1000);
    assert.deepEqual(later.parse(), {
      ...(object.parse() as object),
      metadata: { resourceVersion: '1000', name: 'a', namespace: 'ns' },
    });
    assert.match(object.bytes.toString(), /"resourceVersion":"99"/);
  });

  it('tells labels and fields, also those that look like members of every object', () => {
    const object = cached('ns', 'a', 1, { labels: { constructor: 'x' }, color: 'red' });
    assert.equal(object.selectables.labels?.['constructor'], 'x');
    assert.equal(object.field('data.color'), 'red');
    assert.equal(object.field('metadata.name'), 'a');
    assert.equal(object.field('metadata.namespace'), 'ns');
    assert.equal(cached('ns', 'b', 1).field('data.color'), '');
  });
});
