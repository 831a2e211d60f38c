import { qualifiedName } from '../../../../machinery/meta/names.js';
import type { At } from './at.js';
import type { List } from './members.js';
import { checkRule, each } from './members.js';
import { conditionReason } from './text.js';

/** Conditions as all newer kinds have them. */
export interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

/** In the order in which messages list them. */
export const CONDITION_STATUSES = ['False', 'True', 'Unknown'];
const MAX_REASON = 1024;
const MAX_MESSAGE = 32 * 1024;

function checkCondition(condition: Condition, at: At): void {
  const { type = '', status = '', observedGeneration = 0, reason = '', message = '' } = condition;
  checkRule(at, 'type', type, qualifiedName);
  if (!CONDITION_STATUSES.includes(status)) at.notSupported('status', status, CONDITION_STATUSES);
  if (observedGeneration < 0) {
    at.invalid('observedGeneration', observedGeneration, 'must be greater than or equal to zero');
  }
  if ((condition.lastTransitionTime ?? '') === '') at.required('lastTransitionTime', 'must be set');
  if (reason === '') at.required('reason', 'must be set');
  else checkRule(at, 'reason', reason, conditionReason);
  if (reason.length > MAX_REASON) at.tooLong('reason', MAX_REASON);
  if (Buffer.byteLength(message) > MAX_MESSAGE) at.tooLong('message', MAX_MESSAGE);
}

/** @param at The place of the object that has `conditions`. */
export function checkConditions(at: At, conditions: List<Condition>): void {
  const types = new Set<string>();
  each(at, 'conditions', conditions, (condition, conditionAt) => {
    const { type = '' } = condition;
    if (types.has(type)) conditionAt.duplicate('type', type);
    types.add(type);
    checkCondition(condition, conditionAt);
  });
}
