import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { SentRequest } from '../../client/rest/transport.js';
import { queueMetrics, type QueueMetrics } from '../../client/queue/queue-metrics.js';

/** Metrics of the controllers of a process, under the names by which dashboards know them. */
export interface ControllerMetrics {
  readonly queues: QueueMetrics;
  readonly reconciled: (controller: string, result: string, seconds: number) => void;
  readonly leading: (lease: string, isLeader: boolean) => void;
  readonly requests: (request: SentRequest) => void;
}

/** Of requests. */
const REQUEST_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function controllerMetrics(registry: Registry): ControllerMetrics {
  const registers = [registry];
  const total = new Counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles by controller and how they ended',
    labelNames: ['controller', 'result'],
    registers,
  });
  const errors = new Counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Reconciles that failed, by controller',
    labelNames: ['controller'],
    registers,
  });
  const time = new Histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Seconds that a reconcile takes, by controller',
    labelNames: ['controller'],
    buckets: SECONDS,
    registers,
  });
  const leader = new Gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process is the leader (1) or waits (0), by the lease',
    labelNames: ['name'],
    registers,
  });
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, by method, host and the code of the answer',
    labelNames: ['code', 'method', 'host'],
    registers,
  });
  const duration = new Histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Seconds until the answer to a request began, by method and host',
    labelNames: ['verb', 'host'],
    buckets: REQUEST_SECONDS,
    registers,
  });
  return {
    queues: queueMetrics(registry),
    reconciled(controller, result, seconds) {
      total.inc({ controller, result });
      errors.inc({ controller }, result === 'error' ? 1 : 0);
      time.observe({ controller }, seconds);
    },
    leading: (name, isLeader) => leader.set({ name }, isLeader ? 1 : 0),
    requests({ method, host, status, seconds }) {
      requests.inc({ code: status ?? '<error>', method, host });
      duration.observe({ verb: method, host }, seconds);
    },
  };
}
