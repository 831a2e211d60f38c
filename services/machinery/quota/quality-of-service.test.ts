import assert from 'node:assert/strict';
import type { ApiObject } from '../meta/object.js';
import { qualityOfService } from './quality-of-service.js';

type Resources = { requests?: Record<string, string>; limits?: Record<string, string> };

const pod = (...resources: readonly Resources[]): ApiObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p' },
  spec: { containers: resources.map((r, i) => ({ name: `c${i}`, resources: r })) },
});
const BOTH = { cpu: '1', memory: '1Gi' };

describe('qualityOfService', () => {
  const cases: readonly (readonly [string, ApiObject, string])[] = [
    ['nothing asked for', pod({}), 'BestEffort'],
    ['nothing but zeros', pod({ requests: { cpu: '0' } }), 'BestEffort'],
    ['nothing that counts', pod({ requests: { 'example.com/gpu': '1' } }), 'BestEffort'],
    ['limits and requests the same', pod({ requests: BOTH, limits: BOTH }), 'Guaranteed'],
    [
      'the same, written differently',
      pod({ requests: { cpu: '1000m', memory: '1024Mi' }, limits: BOTH }),
      'Guaranteed',
    ],
    ['only one of two resources', pod({ requests: { cpu: '1' }, limits: { cpu: '1' } }), 'Burstable'],
    ['requests below limits', pod({ requests: { cpu: '1', memory: '1Mi' }, limits: BOTH }), 'Burstable'],
    ['requests alone', pod({ requests: BOTH }), 'Burstable'],
    ['one container of two', pod({ requests: BOTH, limits: BOTH }, {}), 'Burstable'],
    ['no container', pod(), 'BestEffort'],
    ['no list of containers', { ...pod(), spec: { containers: null, initContainers: null } }, 'BestEffort'],
    ['no spec', { ...pod(), spec: undefined }, 'BestEffort'],
  ];
  for (const [what, object, expected] of cases) {
    it(`is ${expected} for ${what}`, () => assert.equal(qualityOfService(object), expected));
  }

  it('counts containers that run first', () => {
    const object = pod({ requests: BOTH, limits: BOTH });
    (object['spec'] as Record<string, unknown>)['initContainers'] = [{ name: 'i' }];
    assert.equal(qualityOfService(object), 'Burstable');
  });
});
