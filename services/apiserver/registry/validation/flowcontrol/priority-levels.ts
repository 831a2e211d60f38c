import { isDeepStrictEqual } from 'node:util';
import { At } from '../checks/at.js';
import type { KindValidation } from '../types.js';
import { checkStatus } from './conditions.js';
import { EXEMPT, MANDATORY_PRIORITY_LEVELS } from './mandatory.js';

interface Queuing {
  readonly queues?: number;
  readonly handSize?: number;
  readonly queueLengthLimit?: number;
}

interface Limited {
  readonly assuredConcurrencyShares?: number;
  readonly limitResponse?: { readonly type?: string; readonly queuing?: Queuing };
}

interface PriorityLevelSpec {
  readonly type?: string;
  readonly limited?: Limited;
}

const MAX_QUEUES = 10_000_000;
/** How much of a hash there is to deal hands with. */
const MAX_HASH_BITS = 60;
const MUST_BE_POSITIVE = 'must be positive';

const entropyBits = (queues: number, handSize: number): number => Math.ceil(Math.log2(queues) * handSize);

function checkHands(at: At, queues: number, handSize: number): void {
  if (handSize <= 0) {
    at.invalid('handSize', handSize, MUST_BE_POSITIVE);
  } else if (handSize > queues) {
    at.invalid('handSize', handSize, `should not be greater than queues (${queues})`);
  } else if (entropyBits(queues, handSize) > MAX_HASH_BITS) {
    const why = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${MAX_HASH_BITS}`;
    at.invalid('handSize', handSize, why);
  }
}

function checkQueuing(at: At, { queues = 64, handSize = 8, queueLengthLimit = 50 }: Queuing): void {
  if (queueLengthLimit <= 0) at.invalid('queueLengthLimit', queueLengthLimit, MUST_BE_POSITIVE);
  if (queues <= 0) at.invalid('queues', queues, MUST_BE_POSITIVE);
  else if (queues > MAX_QUEUES) at.invalid('queues', queues, `must not be greater than ${MAX_QUEUES}`);
  checkHands(at, queues, handSize);
}

const RESPONSES = ['Queue', 'Reject'];

function checkResponse(at: At, { type = '', queuing }: NonNullable<Limited['limitResponse']>): void {
  if (!RESPONSES.includes(type)) {
    at.notSupported('type', type, RESPONSES);
  } else if (type === 'Reject') {
    if (queuing !== undefined) at.forbidden('queuing', 'must be nil if limited.limitResponse.type is not Limited');
  } else if (queuing === undefined) {
    at.required('queuing', 'must not be empty if limited.limitResponse.type is Limited');
  } else {
    checkQueuing(at.child('queuing'), queuing);
  }
}

function checkLimited(at: At, { assuredConcurrencyShares: shares = 30, limitResponse = {} }: Limited): void {
  if (shares <= 0) at.invalid('assuredConcurrencyShares', shares, MUST_BE_POSITIVE);
  checkResponse(at.child('limitResponse'), limitResponse);
}

const TYPES = ['Exempt', 'Limited'];

function checkSpec(at: At, { type = '', limited }: PriorityLevelSpec, name: string): void {
  if ((name === EXEMPT) !== (type === 'Exempt')) {
    at.invalid('type', type, "type must be 'Exempt' if and only if name is 'exempt'");
  }
  if (!TYPES.includes(type)) {
    at.notSupported('type', type, TYPES);
  } else if (type === 'Exempt') {
    if (limited !== undefined) at.forbidden('limited', 'must be nil if the type is not Limited');
  } else if (limited === undefined) {
    at.required('limited', 'must not be empty when type is Limited');
  } else {
    checkLimited(at.child('limited'), limited);
  }
}

export const priorityLevelConfigurations: KindValidation = {
  object: (object, problems) => {
    const at = At.root(problems, 'spec');
    const { name = '' } = object.metadata;
    const spec: PriorityLevelSpec = object['spec'] ?? {};
    checkSpec(at, spec, name);
    const fixed = MANDATORY_PRIORITY_LEVELS.get(name);
    if (fixed !== undefined && !isDeepStrictEqual(spec, fixed)) {
      at.invalid('', spec, `spec of '${name}' must equal the fixed value`);
    }
  },
  parts: { status: checkStatus },
};
