import { KindUnderTest } from '../testing/cases.js';
import { AT_LEAST_0 } from '../testing/words.js';

const group = 'coordination.k8s.io';

describe('validation of leases', () => {
  const kind = new KindUnderTest({ group, resource: 'leases', type: `${group}/v1.Lease` });
  const lease = {
    apiVersion: `${group}/v1`,
    kind: 'Lease',
    metadata: { name: 'node-1', namespace: 'default' },
    spec: { holderIdentity: 'node-1', leaseDurationSeconds: 40, renewTime: '2024-01-01T00:00:00.000000Z' },
  };
  kind.acceptsManifest('a lease', lease);
  kind.accepts(lease, [{ spec: {} }]);
  kind.refuses(lease, [
    [{ 'spec.leaseDurationSeconds': 0 }, 'spec.leaseDurationSeconds', 'Invalid value: 0: must be greater than 0'],
    [{ 'spec.leaseTransitions': -1 }, 'spec.leaseTransitions', `Invalid value: -1: ${AT_LEAST_0}`],
  ]);
});
