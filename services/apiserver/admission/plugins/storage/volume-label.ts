import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { PersistentVolumeSpec } from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionPlugin } from '../../plugin.js';
import { refused } from '../../refusal.js';

/** Members of a volume's spec that name a disk of a cloud, and what such a disk is called. */
const CLOUD_VOLUMES = [
  ['awsElasticBlockStore', 'AWS EBS volume'],
  ['gcePersistentDisk', 'GCE PD volume'],
  ['azureDisk', 'AzureDisk volume'],
  ['vsphereVolume', 'vSphere volume'],
] as const satisfies readonly (readonly [keyof PersistentVolumeSpec, string])[];

/**
 * Region and zone of a cloud's disk (deprecated, off by default). No cloud can be asked here: new volumes on such disks are
 * refused, but for those that a provisioner has made and labelled.
 */
export const persistentVolumeLabel = ({ vocabulary }: { readonly vocabulary: Vocabulary }): AdmissionPlugin => {
  const { region, zone } = vocabulary.labels;
  const { volumeProvisionedBy } = vocabulary.annotations;
  const isLabelled = ({ metadata: { labels = {}, annotations = {} } }: ApiObject): boolean =>
    annotations[volumeProvisionedBy] !== undefined && labels[region] !== undefined && labels[zone] !== undefined;
  return {
    operations: ['CREATE'],
    resources: ['persistentvolumes'],
    mutate: (request) => {
      const { object, subresource } = request;
      if (object === undefined || subresource !== '' || isLabelled(object)) return;
      const spec = (object['spec'] ?? {}) as PersistentVolumeSpec;
      const cloud = CLOUD_VOLUMES.find(([member]) => spec[member] !== undefined);
      if (cloud !== undefined) throw refused(request, `error querying ${cloud[1]}: there is no cloud provider`);
    },
  };
};
