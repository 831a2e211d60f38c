import type { ApiObject } from '../../../machinery/meta/object.js';
import { memberOf } from '../../../machinery/rbac/policy-rule.js';

const TYPE = 'Dangling';

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: unknown;
}

/**
 * A flow schema with the condition that says whether its priority level is missing.
 *
 * @param schema As stored; not changed. @param exists Whether there is a level of that name.
 * @returns The next state; undefined when it says so already.
 */
export function withDangling(
  schema: ApiObject,
  exists: (level: string) => boolean,
  now: string,
): ApiObject | undefined {
  const level = memberOf(memberOf(schema['spec'], 'priorityLevelConfiguration'), 'name');
  if (typeof level !== 'string') return undefined;
  const conditions = conditionsOf(schema);
  const present = conditions.find(({ type }) => type === TYPE);
  const wanted = exists(level)
    ? { status: 'False', reason: 'Found', message: `There is a priority level ${JSON.stringify(level)}` }
    : { status: 'True', reason: 'NotFound', message: `There is no priority level ${JSON.stringify(level)}` };
  const same = present?.status === wanted.status;
  if (same && present.reason === wanted.reason && present.message === wanted.message) return undefined;
  const condition = { type: TYPE, ...wanted, lastTransitionTime: same ? present.lastTransitionTime : now };
  const others = conditions.filter(({ type }) => type !== TYPE);
  const status = memberOf(schema, 'status') as object | undefined; // we encoded it
  return { ...schema, status: { ...status, conditions: [...others, condition] } };
}

function conditionsOf(schema: ApiObject): readonly Condition[] {
  const conditions = memberOf(schema['status'], 'conditions');
  return Array.isArray(conditions) ? (conditions as Condition[]) : []; // we encoded them
}
