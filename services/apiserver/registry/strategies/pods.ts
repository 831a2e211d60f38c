import type { ApiObject } from '../../../machinery/meta/object.js';
import type { DeleteOptions } from '../delete-options.js';
import { settlePodIps } from './pairs.js';
import { qualityOfService } from '../../../machinery/quota/quality-of-service.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { Strategy } from '../strategy.js';
import { alignSeccomp } from './seccomp.js';

const DEFAULT_GRACE_SECONDS = 30;

/** Only a pod that has been placed and still runs has a node that winds it down. */
function gracePeriod(pod: ApiObject, { gracePeriodSeconds }: DeleteOptions): number {
  const spec = (pod['spec'] ?? {}) as { nodeName?: string; terminationGracePeriodSeconds?: number };
  const { phase } = (pod['status'] ?? {}) as { phase?: string };
  const placed = spec.nodeName !== undefined && spec.nodeName !== '';
  if (!placed || phase === 'Succeeded' || phase === 'Failed') return 0;
  return gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
}

export const pods = ({ profiles }: Vocabulary): Partial<Strategy> => ({
  decidesAccess: true, // tokens are bound to them
  returnsDeleted: true,
  statusLeaves: [['ownerReferences']],
  normalise: settlePodIps,
  prepareForCreate: (pod) => {
    pod['status'] = { phase: 'Pending', qosClass: qualityOfService(pod) };
    alignSeccomp(pod, profiles);
  },
  gracePeriod,
});
