import type { ApiObject } from '../../../../machinery/meta/object.js';
import { isMore } from '../../../../machinery/quota/amounts.js';
import type { PersistentVolumeClaim } from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionObjects } from '../../objects.js';
import type { AdmissionPlugin } from '../../plugin.js';
import { refused } from '../../refusal.js';

export interface ClaimResizeDeps {
  readonly vocabulary: Vocabulary;
  readonly objects: Pick<AdmissionObjects, 'present'>;
}

const WHY =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

/** A claim grows only where its storage class says that volumes may (spec 2, 4.4). */
export const persistentVolumeClaimResize = ({ vocabulary, objects }: ClaimResizeDeps): AdmissionPlugin => {
  const classes = { group: vocabulary.groups.storage, resource: 'storageclasses' };
  const classOf = (claim: ApiObject): string =>
    claim.metadata.annotations?.[vocabulary.annotations.betaStorageClass] ??
    (claim as PersistentVolumeClaim).spec?.storageClassName ??
    '';
  return {
    operations: ['UPDATE'],
    resources: ['persistentvolumeclaims'],
    validate: async (request) => {
      const { object, oldObject, subresource } = request;
      if (object === undefined || oldObject === undefined || subresource !== '') return;
      if (!isMore(sizeOf(object), sizeOf(oldObject))) return;
      const name = classOf(oldObject);
      const found = name === '' ? undefined : await objects.present(classes, '', name, request);
      const { allowVolumeExpansion = false } = (found?.parse() ?? {}) as { readonly allowVolumeExpansion?: boolean };
      if (!allowVolumeExpansion) throw refused(request, WHY);
    },
  };
};

function sizeOf(claim: ApiObject): string {
  const requests = (claim as PersistentVolumeClaim).spec?.resources?.requests ?? {};
  return new Map(Object.entries(requests)).get('storage') ?? '0';
}
