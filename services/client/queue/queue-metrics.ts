import { Counter, exponentialBuckets, Gauge, Histogram, type Registry } from 'prom-client';
import type { QueueObserver, WorkQueue } from './work-queue.js';

/** Metrics of the queues of a process, by name. */
export interface QueueMetrics {
  /** Of the queue of that name: one at a time. */
  observer(name: string): QueueObserver;
  /** Tells how long the keys of a queue have been worked on whenever metrics are asked for. */
  follow(name: string, queue: WorkQueue): void;
}

/** Registers metrics under the names and with the buckets by which dashboards know them. */
export function queueMetrics(registry: Registry): QueueMetrics {
  const queues = new Map<string, WorkQueue>();
  const common = { labelNames: ['name'], registers: [registry] };
  const buckets = exponentialBuckets(1e-8, 10, 10);
  const depth = new Gauge({ name: 'workqueue_depth', help: 'Current depth of workqueue', ...common });
  const adds = new Counter({ name: 'workqueue_adds_total', help: 'Keys added to the queue', ...common });
  const latency = new Histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'Seconds that a key stays in the queue before it is taken',
    buckets,
    ...common,
  });
  const work = new Histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'Seconds that a key is worked on',
    buckets,
    ...common,
  });
  const retries = new Counter({
    name: 'workqueue_retries_total',
    help: 'Keys that came again after a failure',
    ...common,
  });
  const running = (name: string, help: string, of: (seconds: readonly number[]) => number): unknown =>
    new Gauge({
      name,
      help,
      ...common,
      collect() {
        for (const [queue, { unfinished }] of queues) this.set({ name: queue }, of(unfinished));
      },
    });
  running('workqueue_unfinished_work_seconds', 'Seconds of work under way, of all keys', (all) =>
    all.reduce((sum, seconds) => sum + seconds, 0),
  );
  running('workqueue_longest_running_processor_seconds', 'Seconds of the longest work under way', (all) =>
    Math.max(0, ...all),
  );
  return {
    observer(name) {
      const labels = { name };
      depth.set(labels, 0);
      adds.inc(labels, 0);
      retries.inc(labels, 0);
      return {
        depth: (keys) => depth.set(labels, keys),
        added: () => adds.inc(labels),
        taken: (seconds) => latency.observe(labels, seconds),
        done: (seconds) => work.observe(labels, seconds),
        retried: () => retries.inc(labels),
      };
    },
    follow: (name, queue) => void queues.set(name, queue),
  };
}
