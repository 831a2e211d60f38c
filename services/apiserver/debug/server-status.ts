import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { qualified } from '../../machinery/meta/status.js';
import type { Feed } from '../cache/feed.js';
import type { LevelLoad } from '../metrics/flow-control-metrics.js';
import type { ResourceTable } from '../registry/resources.js';

export interface StatusDeps {
  /** `major.minor.patch` of the product. */
  readonly version: string;
  readonly feed: Pick<Feed, 'revision' | 'loaded' | 'ready' | 'sound'>;
  readonly resources: ResourceTable;
  readonly state: object;
  readonly verbosity: { readonly level: number };
  /** Seats and requests of each priority level. */
  readonly load: () => readonly LevelLoad[];
}

/** How long the event loop is looked at. */
const LOOK_MS = 50;

/** What a server has in memory and under way, for whoever wonders what it does. Takes some 50 ms. */
export async function serverStatus(d: StatusDeps): Promise<object> {
  const { revision, loaded, ready, sound } = d.feed;
  const resources = [...d.resources.allStored()].map(({ hub, cache }) => ({
    resource: qualified(hub),
    objects: cache.size,
    watchers: cache.watchers.count,
    changes: cache.history.end - cache.history.first,
  }));
  const sum = (of: (it: (typeof resources)[number]) => number): number => resources.reduce((n, it) => n + of(it), 0);
  return {
    version: d.version,
    pid: process.pid,
    uptimeSeconds: Math.round(process.uptime()),
    state: d.state,
    verbosity: d.verbosity.level,
    feed: { revision, loaded, ready, sound },
    cache: {
      objects: sum(({ objects }) => objects),
      watchers: sum(({ watchers }) => watchers),
      changes: sum(({ changes }) => changes),
      resources: resources.filter(({ objects, watchers, changes }) => objects + watchers + changes > 0),
    },
    priorityLevels: d.load(),
    loop: await lookAtLoop(),
    memory: { ...process.memoryUsage(), heapLimit: getHeapStatistics().heap_size_limit },
  };
}

/** How late a timer is, in milliseconds, and which share of its time the loop has been at work since the start. */
async function lookAtLoop(): Promise<object> {
  const from = performance.now();
  await sleep(LOOK_MS);
  const lagMs = Math.max(0, Math.round((performance.now() - from - LOOK_MS) * 10) / 10);
  const { utilization } = performance.eventLoopUtilization();
  return { lagMs, utilization: Math.round(utilization * 1_000) / 1_000 };
}
