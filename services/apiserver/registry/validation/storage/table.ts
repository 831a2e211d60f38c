import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { GroupValidation } from '../types.js';
import { csiDrivers } from './csi-drivers.js';
import { csiNodes } from './csi-nodes.js';
import { csiStorageCapacities } from './csi-storage-capacities.js';
import { storageClasses } from './storage-classes.js';
import { volumeAttachments } from './volume-attachments.js';

export const storageValidation = (vocabulary: Vocabulary): GroupValidation => ({
  csidrivers: csiDrivers,
  csinodes: csiNodes,
  csistoragecapacities: csiStorageCapacities,
  storageclasses: storageClasses,
  volumeattachments: volumeAttachments(vocabulary),
});
