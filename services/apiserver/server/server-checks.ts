import type { KeyValueStore } from '../../storage/store.js';
import type { Core } from './core.js';
import type { ApiServerOptions } from '../options/flags.js';
import { HealthChecks } from '../health/health-checks.js';

/** What makes a server healthy, live and ready. */
export function healthChecks(o: ApiServerOptions, core: Core, store: KeyValueStore): HealthChecks {
  const health = new HealthChecks({ livezGracePeriodMs: o.livezGracePeriodMs });
  const { feed, state } = core;
  const everywhere = ['healthz', 'livez', 'readyz'] as const;
  health.add({ name: 'log', endpoints: everywhere, check: () => true });
  health.add({
    name: 'etcd',
    endpoints: ['healthz', 'readyz'], // not livez: a restart does not bring the store back
    check: async (signal) => feed.ready && (await store.head(signal)) > 0,
  });
  health.add({
    name: 'store-space',
    endpoints: ['readyz'],
    // Reads and deletes go on, and deleting is what helps: a server that is taken out of service for it does neither.
    advisory: true,
    check: async (signal) => !(await store.full(signal)),
  });
  health.add({ name: 'change-feed', endpoints: everywhere, check: () => feed.sound });
  health.add({ name: 'informer-sync', endpoints: ['readyz'], check: () => feed.loaded });
  health.add({
    name: 'poststarthook/bootstrap-system-namespaces',
    endpoints: everywhere,
    check: () => state.bootstrapped,
  });
  if (core.access !== undefined) {
    health.add({ name: 'poststarthook/rbac/bootstrap-roles', endpoints: everywhere, check: () => state.policySettled });
  }
  health.add({
    name: 'poststarthook/priority-and-fairness-config-producer',
    endpoints: everywhere,
    check: () => state.flowControlSettled,
  });
  health.add({ name: 'shutdown', endpoints: ['readyz'], check: () => !state.stopping });
  return health;
}
