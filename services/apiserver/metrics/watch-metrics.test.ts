import assert from 'node:assert/strict';
import prom from 'prom-client';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import { CountedWatchEvents } from './watch-metrics.js';

const declared = (kind: string): ResourceDeclaration =>
  ({ group: 'example.com', version: 'v1', kind }) as unknown as ResourceDeclaration; // nothing else of it is read

describe('CountedWatchEvents', () => {
  const counts = async (metrics: CountedWatchEvents): Promise<ReadonlyMap<unknown, number>> => {
    const registry = new prom.Registry();
    metrics.register(prom, registry);
    const { values } = (await registry.getSingleMetric('apiserver_watch_events_total')?.get()) ?? assert.fail();
    return new Map(values.map(({ labels, value }) => [labels['kind'], value]));
  };

  it('counts by kind, also when a resource goes and comes again', async () => {
    const metrics = new CountedWatchEvents();
    metrics.sent(declared('Thing'), 2);
    metrics.sent(declared('Thing'), 3);
    metrics.sent(declared('Other'), 1);
    assert.deepEqual([...(await counts(metrics))], [['Thing', 5], ['Other', 1]]); // prettier-ignore
  });

  it('counts the kinds beyond 1,000 together', async () => {
    const metrics = new CountedWatchEvents();
    for (let i = 0; i < 1_010; i++) metrics.sent(declared(`Kind${i}`), 1);
    metrics.sent(declared('Kind7'), 1);
    const found = await counts(metrics);
    assert.deepEqual([found.size, found.get('other'), found.get('Kind7')], [1_001, 10, 2]);
  });
});
