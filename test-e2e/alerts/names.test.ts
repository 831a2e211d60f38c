import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { createMetrics } from '../../services/apiserver/metrics/metrics.js';
import { controllerMetrics } from '../../services/controllers/running/metrics.js';
import { alertRules, dashboardExpressions } from './promtool.js';

/** Of Prometheus itself. */
const ITS_OWN = new Set(['up']);

/** The metrics that an expression names: identifiers that are no function, no keyword, and no label. */
function metricsIn(expr: string): string[] {
  const bare = expr
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replace(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, ' ')
    .replace(/\b[a-z_]+\s*\(/g, '(');
  return (
    bare.match(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)*\b/g)?.filter((it) => !/^(?:and|or|unless|bool|e9)$/.test(it)) ?? []
  );
}

/** A histogram has three under names of their own. */
const base = (name: string, known: ReadonlySet<string>): string =>
  known.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, '');

describe('metrics of alerts and of the dashboard', () => {
  let known: Set<string>;
  before(async () => {
    const registry = new Registry();
    controllerMetrics(registry);
    const server = await createMetrics().render();
    const text = server.body + (await registry.metrics());
    known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
  });

  it('are registered by the server or the controllers', () => {
    const expressions = [...alertRules().map(({ expr }) => expr), ...dashboardExpressions()];
    const named = new Set(expressions.flatMap(metricsIn));
    assert.ok(named.size > 25, [...named].join());
    assert.deepEqual(
      [...named].filter((it) => !ITS_OWN.has(it) && !known.has(base(it, known))),
      [],
    );
  });

  it('are told from functions and labels', () => {
    assert.deepEqual(
      metricsIn('histogram_quantile(0.99, sum by (a_b, le) (rate(x_bucket{l="y_z"}[5m]))) > 1 and on (i) up == 2e9'),
      ['x_bucket', 'up'],
    );
  });
});
