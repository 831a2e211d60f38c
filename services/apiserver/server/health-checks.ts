import type { Plugin } from '../../machinery/plugins/plugins.js';
import type { KeyValueStore } from '../../storage/store.js';
import type { Encryption } from '../encryption/encryption.js';
import { HEALTH_ENDPOINTS as EVERYWHERE, type HealthCheck } from '../health/health-checks.js';
import type { ApiServerOptions } from '../options/flags.js';
import type { Core } from './core.js';

export type HealthDeps = Pick<Core, 'feed' | 'state' | 'access'> & {
  readonly store: KeyValueStore;
  readonly encryption: Pick<Encryption, 'isConfigured' | 'well'>;
};

/** Checks that make a server healthy, live and ready, in the order in which answers show them. */
export const HEALTH_CHECKS: readonly Plugin<ApiServerOptions, HealthDeps, HealthCheck>[] = [
  { name: 'log', open: () => ({ endpoints: EVERYWHERE, check: () => true }) },
  {
    name: 'etcd',
    open: (_, { feed, store }) => ({
      endpoints: ['healthz', 'readyz'], // not livez: a restart does not bring the store back
      check: async (signal) => feed.ready && (await store.head(signal)) > 0,
    }),
  },
  {
    name: 'store-space',
    open: (_, { store }) => ({
      endpoints: ['readyz'],
      // Reads and deletes go on, and deleting is what helps: a server that is taken out of service for it does neither.
      advisory: true,
      check: async (signal) => !(await store.space(signal)).full,
    }),
  },
  {
    name: 'kms-providers',
    open: (_, { encryption }) =>
      encryption.isConfigured ? { endpoints: EVERYWHERE, check: () => encryption.well() } : undefined,
  },
  { name: 'change-feed', open: (_, { feed }) => ({ endpoints: EVERYWHERE, check: () => feed.sound }) },
  { name: 'informer-sync', open: (_, { feed }) => ({ endpoints: ['readyz'], check: () => feed.loaded }) },
  {
    name: 'poststarthook/bootstrap-system-namespaces',
    open: (_, { state }) => ({ endpoints: EVERYWHERE, check: () => state.bootstrapped }),
  },
  {
    name: 'poststarthook/rbac/bootstrap-roles',
    open: (_, { state, access }) => access && { endpoints: EVERYWHERE, check: () => state.policySettled },
  },
  {
    name: 'poststarthook/priority-and-fairness-config-producer',
    open: (_, { state }) => ({ endpoints: EVERYWHERE, check: () => state.flowControlSettled }),
  },
  { name: 'shutdown', open: (_, { state }) => ({ endpoints: ['readyz'], check: () => !state.stopping }) },
];
