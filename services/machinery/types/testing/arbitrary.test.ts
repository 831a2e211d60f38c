import assert from 'node:assert/strict';
import fc from 'fast-check';
import { vocabulary } from '../../vocabulary/vocabulary.js';
import { loadCatalog } from '../catalog.js';
import { arbitraryOf } from './arbitrary.js';

const catalog = loadCatalog(vocabulary('platform'));

describe('arbitraryOf()', () => {
  it('makes something of every declared type', () => {
    for (const key of catalog.types.keys()) {
      const [made] = fc.sample(arbitraryOf(catalog, key, { maxDepth: 2 }), { numRuns: 1, seed: 7 });
      assert.notEqual(made, undefined, key);
    }
  });

  it('makes what JSON carries unchanged', () => {
    const custom = arbitraryOf(catalog, 'apiextensions.platform.io/v1.CustomResourceDefinition', { maxDepth: 4 });
    fc.assert(
      fc.property(fc.oneof(arbitraryOf(catalog, 'core/v1.Pod'), custom), (object) => {
        assert.deepEqual(JSON.parse(JSON.stringify(object)), object);
      }),
      { numRuns: 20 },
    );
  });

  it('writes what is always written, and merges inlined structures', () => {
    const services = fc.sample(arbitraryOf(catalog, 'core/v1.Service', { maxDepth: 0 }), { numRuns: 5 });
    for (const service of services) {
      assert.deepEqual(Object.keys(service).sort(), ['apiVersion', 'kind', 'metadata', 'spec', 'status']);
      assert.equal(service['apiVersion'], 'v1');
    }
    const volumes = fc.sample(arbitraryOf(catalog, 'core/v1.Volume', { maxDepth: 1 }), { numRuns: 20 });
    assert.ok(volumes.some((volume) => 'configMap' in volume));
    assert.ok(volumes.every((volume) => !('volumeSource' in volume)));
  });
});
