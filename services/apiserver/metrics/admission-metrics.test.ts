import assert from 'node:assert/strict';
import { UNOBSERVED } from '../../machinery/breaker/breaker.js';
import { CountedAdmission, type WebhookCall } from './admission-metrics.js';

const CALL: WebhookCall = {
  name: 'w.example.com',
  step: 'admit',
  operation: 'CREATE',
  code: 200,
  seconds: 0.01,
  rejected: undefined,
  failedOpen: false,
};

describe('CountedAdmission', () => {
  let metrics: CountedAdmission;
  beforeEach(() => (metrics = new CountedAdmission(() => UNOBSERVED)));

  const lines = async (name: string): Promise<readonly string[]> => {
    const prom = await import('prom-client');
    const registry = new prom.Registry();
    metrics.register(prom, registry);
    return (await registry.metrics()).split('\n').filter((line) => line.startsWith(`apiserver_admission_${name}`));
  };

  it('counts calls of webhooks by their end', async () => {
    metrics.called(CALL);
    metrics.called({ ...CALL, code: 503, failedOpen: true });
    metrics.called({ ...CALL, code: 700, rejected: 'no_error' });
    const labels = 'name="w.example.com",type="admit"';
    assert.deepEqual(await lines('webhook_request_total'), [
      `apiserver_admission_webhook_request_total{${labels},operation="CREATE",code="200",rejected="false"} 1`,
      `apiserver_admission_webhook_request_total{${labels},operation="CREATE",code="503",rejected="false"} 1`,
      `apiserver_admission_webhook_request_total{${labels},operation="CREATE",code="600",rejected="true"} 1`,
    ]);
    assert.deepEqual(await lines('webhook_rejection_count'), [
      `apiserver_admission_webhook_rejection_count{${labels},operation="CREATE",error_type="no_error",rejection_code="600"} 1`,
    ]);
    assert.deepEqual(await lines('webhook_fail_open_count'), [
      `apiserver_admission_webhook_fail_open_count{${labels}} 1`,
    ]);
    const counts = await lines('webhook_admission_duration_seconds_count');
    assert.deepEqual(
      counts.map((line) => line.replace(/^.*,/, '')),
      ['rejected="false"} 2', 'rejected="true"} 1'],
    );
  });

  it('has series for so many webhooks, and one for all others', async () => {
    for (let i = 0; i < 600; i++) metrics.called({ ...CALL, name: `w${i}` });
    const all = await lines('webhook_request_total');
    assert.equal(all.length, 501);
    assert.ok(all.some((line) => line.includes('name="<others>"') && line.endsWith(' 100')));
  });

  it('times plugins and phases by operation and outcome', async () => {
    const plugin = metrics.plugin('Some');
    plugin.observe('admit', 'CREATE', false, 0.01);
    plugin.observe('admit', 'CREATE', true, 0.01);
    plugin.observe('validate', 'CREATE', false, 0.01);
    plugin.observe('validate', 'DELETE', false, 0.01);
    plugin.observe('validate', 'DELETE', false, 0.01);
    metrics.steps.observe('admit', 'CONNECT', false, 0.2);
    const told = (await lines('controller_admission_duration_seconds_count')).map((line) => line.replace(/^[^{]*/, ''));
    assert.deepEqual(told, [
      '{name="Some",type="admit",operation="CREATE",rejected="false"} 1',
      '{name="Some",type="admit",operation="CREATE",rejected="true"} 1',
      '{name="Some",type="validate",operation="CREATE",rejected="false"} 1',
      '{name="Some",type="validate",operation="DELETE",rejected="false"} 2',
    ]);
    assert.deepEqual(await lines('step_admission_duration_seconds_count'), [
      'apiserver_admission_step_admission_duration_seconds_count{type="admit",operation="CONNECT",rejected="false"} 1',
    ]);
  });
});
