import type { LimitRange, LimitRangeItem } from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { derived, type AdmissionObjects } from '../../objects.js';
import { specOf } from '../../pods/pod.js';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugin.js';
import { joined, refused } from '../../refusal.js';
import { claimProblems, podProblems } from './constraints.js';
import { defaultsOf, giveDefaults } from './defaults.js';

export interface LimitRangerDeps {
  readonly vocabulary: Vocabulary;
  readonly objects: Pick<AdmissionObjects, 'list'>;
}

const RANGES = { group: '', resource: 'limitranges' };

/** New pods get the requests and limits that their namespace says, and like claims keep within its bounds (spec 2, 4.4). */
export function limitRanger({ vocabulary, objects }: LimitRangerDeps): AdmissionPlugin {
  const read = derived((object): readonly LimitRangeItem[] => (object as LimitRange).spec?.limits ?? []);
  const defaults = derived((object) => defaultsOf((object as LimitRange).spec?.limits ?? []));
  return {
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods', 'persistentvolumeclaims'],
    mutate: (request) => {
      const { object, namespace } = request;
      if (object === undefined || request.resource.resource !== 'pods' || !isLimited(request)) return;
      for (const range of objects.list(RANGES, namespace)) {
        giveDefaults(object, defaults(range), vocabulary.annotations.limitRanger);
      }
    },
    validate: (request) => {
      const { object, namespace } = request;
      if (object === undefined || !isLimited(request)) return;
      const problemsOf = request.resource.resource === 'pods' ? podProblems : claimProblems;
      for (const range of objects.list(RANGES, namespace)) {
        const problems = problemsOf(specOf(object), read(range));
        if (problems.length > 0) throw refused(request, joined(problems));
      }
    },
  };
}

/** Pods are not resized, and what is about to go may do so. */
function isLimited({ subresource, operation, resource, object }: AdmissionRequest): boolean {
  if (subresource !== '') return false;
  if (operation === 'CREATE') return true;
  return resource.resource !== 'pods' && object?.metadata.deletionTimestamp == null;
}
