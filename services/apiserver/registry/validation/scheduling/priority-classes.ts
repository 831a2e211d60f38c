import type * as scheduling from '../../../../machinery/types/generated/scheduling.v1.js';
import { At } from '../checks/at.js';
import type { KindValidation, TypeRules } from '../types.js';

type PriorityClass = scheduling.PriorityClass;

const SYSTEM_PREFIX = 'system-';
const HIGHEST = 1_000_000_000;
/** The values of the system's own classes; none of them is the default. */
const SYSTEM_CLASSES: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2 * HIGHEST + 1000],
  ['system-cluster-critical', 2 * HIGHEST],
]);

function systemClassProblem(name: string, { value = 0, globalDefault = false }: PriorityClass): string | undefined {
  const expected = SYSTEM_CLASSES.get(name);
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function checkReserved(at: At, priorityClass: PriorityClass): void {
  const { metadata: { name = '' } = {}, value = 0 } = priorityClass;
  if (name.startsWith(SYSTEM_PREFIX)) {
    const problem = systemClassProblem(name, priorityClass);
    const why = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: `;
    if (problem !== undefined) at.forbidden('metadata.name', why + problem);
  } else if (value > HIGHEST) {
    at.forbidden('value', `maximum allowed value of a user defined priority is ${HIGHEST}`);
  }
}

export const schedulingRules: TypeRules<scheduling.Types> = { PriorityClass: checkReserved };

export const priorityClasses: KindValidation<PriorityClass> = {
  update: (next, old, problems) => {
    if (next.value !== old.value) At.root(problems).forbidden('value', 'may not be changed in an update.');
  },
};
