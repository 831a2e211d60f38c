import assert from 'node:assert/strict';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { Controller } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import { formatTime } from '../machinery/meta/time.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { openTtlAfterFinished } from './ttl-after-finished.js';

const { jobs } = builtInTypes(vocabulary('platform'));
const never = new AbortController().signal;
const HOUR = 3_600;

describe('jobs that have finished', () => {
  let cluster: FakeCluster;
  let controller: Controller;
  beforeEach(() => {
    cluster = new FakeCluster();
    controller = openTtlAfterFinished({ concurrentTtlAfterFinishedSyncs: 1 }, cluster.deps());
  });
  const job = (o: {
    ttl?: number;
    agoSeconds?: number;
    type?: string;
    status?: string;
    metadata?: object;
  }): unknown => {
    const { ttl, agoSeconds = 0, type = 'Complete', status = 'True', metadata = {} } = o;
    const lastTransitionTime = formatTime(Date.now() - agoSeconds * 1000);
    return cluster.put(jobs, {
      metadata: { name: 'j', namespace: 'ns', ...metadata },
      spec: { template: {}, ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }) },
      status: { conditions: [{ type, status, lastTransitionTime }] },
    });
  };
  const isGone = (): boolean => cluster.get(jobs, 'ns/j') === undefined;

  for (const [what, o, goes] of [
    ['goes when its time is over', { ttl: HOUR, agoSeconds: HOUR }, true],
    ['goes at once with no time', { ttl: 0 }, true],
    ['goes when it failed, too', { ttl: 0, type: 'Failed' }, true],
    ['stays without a time', { agoSeconds: HOUR }, false],
    ['stays while it has not finished', { ttl: 0, status: 'False' }, false],
    ['stays while it is suspended', { ttl: 0, type: 'Suspended' }, false],
    [
      'is left alone when it is being deleted',
      { ttl: 0, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
      false,
    ],
  ] as const) {
    it(what, async () => {
      job(o);
      await cluster.settle(controller);
      assert.equal(isGone(), goes);
    });
  }

  it('come again when their time is over', async () => {
    job({ ttl: HOUR, agoSeconds: HOUR / 2 });
    const { againInMs = 0 } = (await controller.reconcile('ns/j', never)) ?? {};
    assert.ok(againInMs > (HOUR / 2 - 60) * 1000 && againInMs <= (HOUR / 2) * 1000, String(againInMs));
    assert.equal(isGone(), false);
  });

  it('stay when their time was made longer meanwhile', async () => {
    job({ ttl: 0 });
    cluster.isLagging = true;
    job({ ttl: HOUR });
    await controller.reconcile('ns/j', never);
    assert.equal(isGone(), false);
  });
});
