import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { specOf } from '../pods/pod.js';
import type { AdmissionPlugin } from '../plugin.js';
import { refused } from '../refusal.js';

/** A pod that must be alone is alone on a node, not in a zone (spec 2, 4.4). */
export const limitPodHardAntiAffinityTopology = ({ labels }: Vocabulary): AdmissionPlugin => ({
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods'],
  validate: (request) => {
    const { object, subresource } = request;
    if (object === undefined || subresource !== '') return;
    const terms = specOf(object).affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const wide = terms.find(({ topologyKey }) => topologyKey !== labels.hostname);
    if (wide === undefined) return;
    const what = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wide.topologyKey ?? ''}`;
    throw refused(request, `${what} but only key ${labels.hostname} is allowed`);
  },
});
