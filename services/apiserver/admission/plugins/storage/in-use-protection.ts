import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionPlugin } from '../../plugin.js';

/** New claims and volumes get a finalizer that keeps them for as long as they are used (spec 2, 4.4). */
export const storageObjectInUseProtection = (d: { readonly vocabulary: Vocabulary }): AdmissionPlugin => {
  const { pvcProtection, pvProtection } = d.vocabulary.finalizers;
  const finalizers = new Map([
    ['persistentvolumeclaims', pvcProtection],
    ['persistentvolumes', pvProtection],
  ]);
  return {
    operations: ['CREATE'],
    resources: [...finalizers.keys()],
    mutate: ({ object, resource, subresource }) => {
      const finalizer = finalizers.get(resource.resource);
      if (object === undefined || finalizer === undefined || subresource !== '') return;
      const there = object.metadata.finalizers ?? [];
      if (!there.includes(finalizer)) object.metadata.finalizers = [...there, finalizer];
    },
  };
};
