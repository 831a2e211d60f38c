import assert from 'node:assert/strict';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { serviceHosts } from './service-hosts.js';

describe('serviceHosts', () => {
  it('names the service in every length, and its addresses', () => {
    assert.deepEqual(serviceHosts(vocabulary('kubernetes'), ['10.96.0.0/12', 'fd00::/108']), [
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      'kubernetes.default.svc.cluster.local',
      '10.96.0.1',
      'fd00::1',
    ]);
  });
});
