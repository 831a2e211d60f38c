import type { ControllerGroup } from '../controllers/controller.js';
import { RESOURCE_LIFECYCLE_FLAGS } from './flags.js';
import { openGarbageCollector } from './garbage-collector.js';
import { openNamespace } from './namespace.js';
import { openResourceQuota } from './resource-quota.js';
import { openClaimProtection, openVolumeProtection } from './storage-protection.js';
import { openTtlAfterFinished } from './ttl-after-finished.js';

/** The controllers of the process `resource-lifecycle`. */
export const RESOURCE_LIFECYCLE = {
  flags: RESOURCE_LIFECYCLE_FLAGS,
  controllers: [
    { name: 'namespace', account: 'namespace-controller', isOnByDefault: true, open: openNamespace },
    {
      name: 'garbagecollector',
      account: 'generic-garbage-collector',
      isOnByDefault: true,
      open: openGarbageCollector,
    },
    { name: 'resourcequota', account: 'resourcequota-controller', isOnByDefault: true, open: openResourceQuota },
    { name: 'pvc-protection', account: 'pvc-protection-controller', isOnByDefault: true, open: openClaimProtection },
    { name: 'pv-protection', account: 'pv-protection-controller', isOnByDefault: true, open: openVolumeProtection },
    {
      name: 'ttl-after-finished',
      account: 'ttl-after-finished-controller',
      isOnByDefault: true,
      open: openTtlAfterFinished,
    },
  ],
} as const satisfies ControllerGroup<typeof RESOURCE_LIFECYCLE_FLAGS>;
