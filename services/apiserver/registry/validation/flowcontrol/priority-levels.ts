import { isDeepStrictEqual } from 'node:util';
import type * as flowcontrol from '../../../../machinery/types/generated/flowcontrol.v1beta2.js';
import { At } from '../checks/at.js';
import type { KindValidation } from '../types.js';
import { EXEMPT, MANDATORY_PRIORITY_LEVELS } from './mandatory.js';

/** How much of a hash there is to deal hands with. */
const MAX_HASH_BITS = 60;

const entropyBits = (queues: number, handSize: number): number => Math.ceil(Math.log2(queues) * handSize);

export function checkHands(at: At, { queues = 64, handSize = 8 }: flowcontrol.QueuingConfiguration): void {
  if (handSize <= 0) return;
  if (handSize > queues) {
    at.invalid('handSize', handSize, `should not be greater than queues (${queues})`);
  } else if (entropyBits(queues, handSize) > MAX_HASH_BITS) {
    const why = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${MAX_HASH_BITS}`;
    at.invalid('handSize', handSize, why);
  }
}

export function checkResponse(at: At, { type, queuing }: flowcontrol.LimitResponse): void {
  if (type === 'Reject') {
    if (queuing !== undefined) at.forbidden('queuing', 'must be nil if limited.limitResponse.type is not Limited');
  } else if (type === 'Queue' && queuing === undefined) {
    at.required('queuing', 'must not be empty if limited.limitResponse.type is Limited');
  }
}

export function checkLimits(at: At, { type, limited }: flowcontrol.PriorityLevelConfigurationSpec): void {
  if (type === 'Exempt') {
    if (limited !== undefined) at.forbidden('limited', 'must be nil if the type is not Limited');
  } else if (type === 'Limited' && limited === undefined) {
    at.required('limited', 'must not be empty when type is Limited');
  }
}

export const priorityLevelConfigurations: KindValidation<flowcontrol.PriorityLevelConfiguration> = {
  object: ({ metadata: { name = '' }, spec = {} }, problems) => {
    const at = At.root(problems, 'spec');
    if ((name === EXEMPT) !== (spec.type === 'Exempt')) {
      at.invalid('type', spec.type ?? '', "type must be 'Exempt' if and only if name is 'exempt'");
    }
    const fixed = MANDATORY_PRIORITY_LEVELS.get(name);
    if (fixed !== undefined && !isDeepStrictEqual(spec, fixed)) {
      at.invalid('', spec, `spec of '${name}' must equal the fixed value`);
    }
  },
};
