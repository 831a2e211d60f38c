import assert from 'node:assert/strict';
import { withinPart } from './parts.js';
import { DEFAULT_STRATEGY } from './strategy.js';

describe('withinPart()', () => {
  const place = { name: 'x', namespace: 'ns' };
  const config = {
    apiVersion: 'v1',
    kind: 'K',
    metadata: { ...place, labels: { a: 'b' }, annotations: { k: 'v', own: 'x' } },
    spec: { replicas: 1 },
    status: { phase: 'Running' },
    data: {},
  };
  const { apiVersion, kind, metadata, spec, status } = config;

  for (const [part, leaves, expected] of [
    ['status', [], { metadata, status }],
    ['status', [['labels'], ['annotations', 'own']], { metadata: { ...place, annotations: { k: 'v' } }, status }],
    ['status', [['labels', 'a'], ['annotations']], { metadata: place, status }],
    ['status', 'everything', { metadata: place, status }],
    ['approval', 'everything', { metadata, status }],
    ['finalize', [], { metadata, spec }],
    ['scale', [], { metadata: place, spec }],
    ['ephemeralcontainers', [], { metadata: place, spec }],
  ] as const) {
    it(`leaves what a write of ${part} reaches, without ${JSON.stringify(leaves)}`, () => {
      const strategy = { ...DEFAULT_STRATEGY, statusLeaves: leaves };
      assert.deepEqual(withinPart(part, config, strategy), { apiVersion, kind, ...expected });
      assert.deepEqual(config.metadata.annotations, { k: 'v', own: 'x' }, 'the given one stays as it is');
    });
  }

  it('adds no member that is not there', () => {
    assert.deepEqual(withinPart('status', { apiVersion, kind, metadata: place }, DEFAULT_STRATEGY), {
      apiVersion,
      kind,
      metadata: place,
    });
  });
});
