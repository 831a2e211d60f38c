import assert from 'node:assert/strict';
import { createMetrics } from './metrics.js';

describe('CountedWebhooks', () => {
  const shown = async (metrics: ReturnType<typeof createMetrics>, beginning: RegExp): Promise<string[]> =>
    (await metrics.render()).body.split('\n').filter((line) => beginning.test(line));

  it('counts tries by their status, for each service', async () => {
    const metrics = createMetrics();
    const { authentication, authorization } = metrics.webhooks;
    authentication.tried('200', 0.1);
    authentication.tried('200', 0.6);
    authentication.tried('<error>', 10);
    authorization.tried('500', 0.1);
    assert.deepEqual(await shown(metrics, /^apiserver_delegated_auth.*_(total|count)/), [
      'apiserver_delegated_authn_request_total{code="200"} 2',
      'apiserver_delegated_authn_request_total{code="<error>"} 1',
      'apiserver_delegated_authn_request_duration_seconds_count{code="200"} 2',
      'apiserver_delegated_authn_request_duration_seconds_count{code="<error>"} 1',
      'apiserver_delegated_authz_request_total{code="500"} 1',
      'apiserver_delegated_authz_request_duration_seconds_count{code="500"} 1',
    ]);
    assert.ok(
      (await shown(metrics, /^apiserver_delegated_authn/)).includes(
        'apiserver_delegated_authn_request_duration_seconds_bucket{le="0.5",code="200"} 1',
      ),
    );
  });

  it('counts questions by their end, and tells how breakers stand', async () => {
    const metrics = createMetrics();
    const { authentication, authorization } = metrics.webhooks;
    const state = (): Promise<string[]> => shown(metrics, /^apiserver_breaker_state\{.* 1$/);
    const of = (name: string, is: string): string => `apiserver_breaker_state{name="${name}",state="${is}"} 1`;
    assert.deepEqual(await state(), []);
    authentication.breaker.changed('closed');
    authorization.breaker.changed('open');
    const authn = of('authentication webhook', 'closed');
    assert.deepEqual(await state(), [authn, of('authorization webhook', 'open')]);
    authorization.breaker.changed('half_open');
    assert.deepEqual(await state(), [authn, of('authorization webhook', 'half_open')]);
    authorization.breaker.gone();
    assert.deepEqual(await state(), [authn]);

    const twice = ['closed', 'open', 'closed'] as const;
    const breakers = twice.map(() => metrics.admission.breaker('admission webhook a'));
    for (const [i, is] of twice.entries()) breakers[i]?.changed(is);
    assert.deepEqual(await state(), [authn, of('admission webhook a', 'open')]); // the worst of its name
    for (let i = 0; i < 2000; i++) metrics.admission.breaker(`admission webhook ${i}`).changed('closed');
    assert.equal((await state()).length, 1000);
    authentication.asked('answered');
    for (const outcome of ['open', 'timeout', 'erred', 'left', 'answered'] as const) authorization.asked(outcome);
    assert.deepEqual(await shown(metrics, /^apiserver_webhook_questions_total\{.*(open|answered)/), [
      'apiserver_webhook_questions_total{webhook="authentication",outcome="answered"} 1',
      'apiserver_webhook_questions_total{webhook="authorization",outcome="open"} 1',
      'apiserver_webhook_questions_total{webhook="authorization",outcome="answered"} 1',
    ]);
  });

  it('counts what is asked of tokens', async () => {
    const metrics = createMetrics();
    const { tokenCache } = metrics.webhooks;
    tokenCache.requested('hit', 0.001);
    tokenCache.requested('miss', 0.2);
    const fetched = tokenCache.fetching();
    const waited = [tokenCache.waiting(), tokenCache.waiting()];
    const active = (): Promise<string[]> => shown(metrics, /^authentication_token_cache_active_fetch_count\{/);
    const name = 'authentication_token_cache_active_fetch_count';
    assert.deepEqual(await active(), [`${name}{status="in_flight"} 1`, `${name}{status="blocked"} 2`]);
    fetched('error');
    for (const it of waited) it();
    assert.deepEqual(await active(), [`${name}{status="in_flight"} 0`, `${name}{status="blocked"} 0`]);
    assert.deepEqual(await shown(metrics, /^authentication_token_cache_.*(_total|_count)\{status="(hit|miss|error)/), [
      'authentication_token_cache_request_total{status="hit"} 1',
      'authentication_token_cache_request_total{status="miss"} 1',
      'authentication_token_cache_request_duration_seconds_count{status="hit"} 1',
      'authentication_token_cache_request_duration_seconds_count{status="miss"} 1',
      'authentication_token_cache_fetch_total{status="error"} 1',
    ]);
  });
});
