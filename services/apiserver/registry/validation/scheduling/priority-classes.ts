import { At } from '../checks/at.js';
import { checkEnum, checkImmutable } from '../checks/members.js';
import type { KindValidation } from '../types.js';

interface PriorityClass {
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: string;
}

const SYSTEM_PREFIX = 'system-';
const HIGHEST = 1_000_000_000;
/** What the system's own classes are worth; none of them is the default. */
const SYSTEM_CLASSES: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2 * HIGHEST + 1000],
  ['system-cluster-critical', 2 * HIGHEST],
]);
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];

function systemClassProblem(name: string, { value = 0, globalDefault = false }: PriorityClass): string | undefined {
  const expected = SYSTEM_CLASSES.get(name);
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

export const priorityClasses: KindValidation = {
  object: (object, problems) => {
    const at = At.root(problems);
    const { name = '' } = object.metadata;
    const priorityClass = object as PriorityClass;
    const { value = 0, preemptionPolicy } = priorityClass;
    if (name.startsWith(SYSTEM_PREFIX)) {
      const problem = systemClassProblem(name, priorityClass);
      const why = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: `;
      if (problem !== undefined) at.forbidden('metadata.name', why + problem);
    } else if (value > HIGHEST) {
      at.forbidden('value', `maximum allowed value of a user defined priority is ${HIGHEST}`);
    }
    checkEnum(at, 'preemptionPolicy', preemptionPolicy, PREEMPTION_POLICIES);
  },
  update: (next, old, problems) => {
    const at = At.root(problems);
    if (next['value'] !== old['value']) at.forbidden('value', 'may not be changed in an update.');
    checkImmutable(at, 'preemptionPolicy', next['preemptionPolicy'], old['preemptionPolicy']);
  },
};
