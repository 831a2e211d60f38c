import assert from 'node:assert/strict';
import { createMetrics } from './metrics.js';

describe('CountedAccess', () => {
  it('shows attempts and durations by result', async () => {
    const metrics = createMetrics();
    metrics.access.authenticated('success', 0.000_005);
    metrics.access.authenticated('success', 0.05);
    metrics.access.authenticated('error', 0.001);
    metrics.access.authorized('no-opinion', 0.000_000_5);
    const { body } = await metrics.render();
    for (const line of [
      'authentication_attempts{result="success"} 2',
      'authentication_attempts{result="error"} 1',
      'authentication_duration_seconds_bucket{le="0.00001",result="success"} 1',
      'authentication_duration_seconds_bucket{le="0.128",result="success"} 2',
      'authentication_duration_seconds_count{result="error"} 1',
      'authorization_attempts_total{result="no-opinion"} 1',
      'authorization_duration_seconds_bucket{le="0.000001",result="no-opinion"} 1',
    ]) {
      assert.ok(body.split('\n').includes(line), `${line} in ${body.split('\n').filter((l) => /^auth/.test(l)).join('\n')}`); // prettier-ignore
    }
  });
});
