import type * as node from '../../../../machinery/types/generated/node.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { type At, checkNoTwins } from '../checks/at.js';
import { resourceChecks } from '../checks/quantities.js';
import { checkTolerations, identityOf } from '../pods/spec.js';
import type { TypeRules } from '../types.js';

function checkScheduling(at: At, { tolerations }: node.Scheduling): void {
  // Twice in the path: so it always was.
  checkTolerations(at.child('tolerations'), 'tolerations', tolerations);
  checkNoTwins(at, 'tolerations', tolerations, identityOf);
}

export function nodeRules(vocabulary: Vocabulary): TypeRules<node.Types> {
  const resources = resourceChecks(vocabulary);
  return {
    Overhead: (at, { podFixed: limits = {} }) => resources.requirements(at, { limits }),
    Scheduling: checkScheduling,
  };
}
