import { dns1123Label } from '../../../../machinery/meta/names.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At } from '../checks/at.js';
import type { StringMap } from '../checks/labels.js';
import { checkLabels } from '../checks/labels.js';
import { checkRule, each } from '../checks/members.js';
import type { Quantities } from '../checks/quantities.js';
import { resourceChecks } from '../checks/quantities.js';
import type { Toleration } from '../pods/scheduling.js';
import { checkTolerations } from '../pods/scheduling.js';
import type { KindValidation } from '../types.js';

interface RuntimeClass {
  readonly handler?: string;
  readonly overhead?: { readonly podFixed?: Quantities };
  readonly scheduling?: { readonly nodeSelector?: StringMap; readonly tolerations?: readonly Toleration[] };
}

function checkScheduling(at: At, { nodeSelector, tolerations }: NonNullable<RuntimeClass['scheduling']>): void {
  checkLabels(at, 'nodeSelector', nodeSelector);
  // Twice in the path: so it always was.
  checkTolerations(at.child('tolerations'), 'tolerations', tolerations);
  const seen = new Set<string>();
  each(at, 'tolerations', tolerations, (toleration, tolerationAt) => {
    const { key, operator, value, effect } = toleration;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) tolerationAt.duplicate('', toleration);
    seen.add(identity);
  });
}

export function runtimeClasses(vocabulary: Vocabulary): KindValidation {
  const resources = resourceChecks(vocabulary);
  return {
    object: (object, problems) => {
      const at = At.root(problems);
      const { handler = '', overhead, scheduling } = object as RuntimeClass;
      checkRule(at, 'handler', handler, dns1123Label);
      if (overhead?.podFixed !== undefined) {
        resources.requirements(at.child('overhead'), { limits: overhead.podFixed });
      }
      if (scheduling !== undefined) checkScheduling(at.child('scheduling'), scheduling);
    },
  };
}
