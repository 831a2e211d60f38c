import assert from 'node:assert/strict';
import fc from 'fast-check';
import { apiVersionOf, type ApiObject } from '../meta/object.js';
import { loadCatalog, typeKey } from '../types/catalog.js';
import type { ResourceDeclaration } from '../types/declarations.js';
import { vocabulary, type VocabularyName } from '../vocabulary/vocabulary.js';
import { converter, type GroupVersionKind } from './converter.js';
import { validObject } from './testing/valid.js';

const hubOf = (r: ResourceDeclaration): GroupVersionKind => ({ ...r.storage, kind: r.kind });
const isHub = (r: ResourceDeclaration): boolean => r.storage.group === r.group && r.storage.version === r.version;

for (const name of ['platform', 'kubernetes'] satisfies VocabularyName[]) {
  const catalog = loadCatalog(vocabulary(name));
  const { convert } = converter(catalog, vocabulary(name));
  const spokes = catalog.resources.filter((r) => !r.virtual && !isHub(r));

  describe(`convert(), ${name} vocabulary`, () => {
    it('has all versions beside the stored ones', () => {
      assert.equal(spokes.length, 12);
    });

    for (const spoke of spokes) {
      const hub = hubOf(spoke);
      const title = `${apiVersionOf(spoke)} ${spoke.kind}`;

      it(`takes any stored object to ${title} and back unchanged`, () => {
        fc.assert(
          fc.property(validObject(catalog, typeKey(hub.group, hub.version, hub.kind)), (stored) => {
            const before = structuredClone(stored);
            const shown = convert(stored, hub, spoke);
            assert.equal(shown.apiVersion, apiVersionOf(spoke));
            assert.deepEqual(JSON.parse(JSON.stringify(shown)), shown);
            assert.deepEqual(convert(shown, spoke, hub), stored);
            assert.deepEqual(stored, before);
          }),
          { numRuns: 60 },
        );
      });

      it(`stores the same for ${title} however often it is read and written`, () => {
        fc.assert(
          fc.property(validObject(catalog, spoke.type), (sent) => {
            const stored = convert(sent, spoke, hub);
            assert.deepEqual(convert(convert(stored, hub, spoke), spoke, hub), stored);
          }),
          { numRuns: 40 },
        );
      });
    }
  });
}

describe('converter()', () => {
  const words = vocabulary('platform');
  const { convert, between } = converter(loadCatalog(words), words);
  const budget = (version: string): GroupVersionKind => ({ group: 'policy', version, kind: 'PodDisruptionBudget' });
  const object: ApiObject = { kind: 'PodDisruptionBudget', apiVersion: 'policy/v1', metadata: { name: 'b' }, spec: {} };

  it('gives the same object for the same version', () => {
    assert.equal(convert(object, budget('v1'), budget('v1')), object);
  });

  it('goes by way of the stored version from one spoke to another', () => {
    const autoscaler = (version: string): GroupVersionKind => ({
      group: 'autoscaling',
      version,
      kind: 'HorizontalPodAutoscaler',
    });
    const sent = {
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'h' },
      spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 70 },
    };
    assert.deepEqual(between(autoscaler('v1'), autoscaler('v2beta1'))(sent), {
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v2beta1',
      metadata: { name: 'h' },
      spec: {
        maxReplicas: 3,
        metrics: [{ type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 70 } }],
      },
    });
  });

  it('refuses kinds that are not stored as one', () => {
    const lease = { group: words.groups.coordination, version: 'v1', kind: 'Lease' };
    assert.throws(
      () => convert(object, budget('v1'), lease),
      /Cannot convert policy\/v1 PodDisruptionBudget to .* Lease/,
    );
    assert.throws(() => convert(object, budget('v1'), budget('v7')), /not stored as one kind/);
  });
});
