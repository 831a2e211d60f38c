import type { ControllerGroup } from '../controllers/controller.js';
import type { FlagTable } from '../machinery/flags/flags.js';
import { openNamespace } from './namespace.js';
import { openClaimProtection, openVolumeProtection } from './storage-protection.js';
import { openTtlAfterFinished } from './ttl-after-finished.js';

const FLAGS = {
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

/** The controllers of the process `resource-lifecycle`. */
export const RESOURCE_LIFECYCLE = {
  flags: FLAGS,
  controllers: [
    { name: 'namespace', account: 'namespace-controller', isOnByDefault: true, open: openNamespace },
    { name: 'pvc-protection', account: 'pvc-protection-controller', isOnByDefault: true, open: openClaimProtection },
    { name: 'pv-protection', account: 'pv-protection-controller', isOnByDefault: true, open: openVolumeProtection },
    {
      name: 'ttl-after-finished',
      account: 'ttl-after-finished-controller',
      isOnByDefault: true,
      open: openTtlAfterFinished,
    },
  ],
} as const satisfies ControllerGroup<typeof FLAGS>;
