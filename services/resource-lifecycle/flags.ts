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
  concurrentTtlAfterFinishedSyncs: {
    flag: 'concurrent-ttl-after-finished-syncs',
    type: 'int',
    default: '5',
    min: '1',
    max: '100',
    help: 'jobs whose time is over that are deleted at once',
  },
} as const satisfies FlagTable;
