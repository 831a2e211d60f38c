import type { NodeSpec } from '../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionPlugin } from '../plugin.js';

const EFFECT = 'NoSchedule';

/** No pod is placed on a new node before it has been seen ready (spec 2, 4.4). */
export const taintNodesByCondition = ({ vocabulary }: { readonly vocabulary: Vocabulary }): AdmissionPlugin => {
  const notReady = { key: `${vocabulary.labelPrefixes.node}not-ready`, effect: EFFECT };
  return {
    operations: ['CREATE'],
    resources: ['nodes'],
    mutate: ({ object, subresource }) => {
      if (object === undefined || subresource !== '') return;
      const spec = (object['spec'] ?? {}) as NodeSpec;
      const taints = spec.taints ?? [];
      if (taints.some(({ key, effect }) => key === notReady.key && effect === EFFECT)) return;
      object['spec'] = { ...spec, taints: [...taints, notReady] };
    },
  };
};
