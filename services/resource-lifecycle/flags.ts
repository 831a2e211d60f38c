import type { FlagTable } from '../machinery/flags/flags.js';

/** Flags of the controllers of the process `resource-lifecycle`. */
export const RESOURCE_LIFECYCLE_FLAGS = {
  concurrentNamespaceSyncs: {
    flag: 'concurrent-namespace-syncs',
    type: 'int',
    default: '10',
    min: '1',
    max: '100',
    help: 'namespaces that are emptied at once',
  },
  concurrentGcSyncs: {
    flag: 'concurrent-gc-syncs',
    type: 'int',
    default: '20',
    min: '1',
    max: '100',
    help: 'objects that are looked at at once because their owners may be gone',
  },
  concurrentResourceQuotaSyncs: {
    flag: 'concurrent-resource-quota-syncs',
    type: 'int',
    default: '5',
    min: '1',
    max: '100',
    help: 'quotas that are brought in line at once',
  },
  resourceQuotaSyncPeriod: {
    flag: 'resource-quota-sync-period',
    type: 'duration',
    default: '5m',
    min: '1s',
    max: '24h',
    help: 'how often a quota is looked at when nothing changes',
  },
  concurrentTtlAfterFinishedSyncs: {
    flag: 'concurrent-ttl-after-finished-syncs',
    type: 'int',
    default: '5',
    min: '1',
    max: '100',
    help: 'jobs whose time is over that are deleted at once',
  },
} as const satisfies FlagTable;
