import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnyObject } from '../client/rest/resource-type.js';
import { qualified, type ResourceName } from '../machinery/meta/status.js';
import type { ApiObject } from '../machinery/meta/object.js';
import { addAmount, differenceOf, type Amounts } from '../machinery/quota/amounts.js';
import { usageOf, type Evaluators } from '../machinery/quota/evaluators.js';
import type { ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus } from '../machinery/types/generated/core.v1.js';

/** Objects of a quota's namespace by the qualified name of their resource, e.g. `deployments.apps`. */
export type CountedObjects = ReadonlyMap<string, readonly AnyObject[]>;

/** The resources that a quota counts; each once. */
export function countedBy(evaluators: Evaluators, { hard = {} }: ResourceQuotaSpec): readonly ResourceName[] {
  const resources = new Map<string, ResourceName>();
  for (const name of Object.keys(hard)) {
    const of = evaluators.counted(name);
    if (of !== undefined) resources.set(qualified(of), of);
  }
  return [...resources.values()];
}

/**
 * The status that a quota should have. Of names that are not among those that were counted it says what it said before.
 *
 * @returns undefined: it has that status.
 */
export function statusAfter(
  { spec = {}, status = {} }: ResourceQuota,
  counted: Amounts,
): ResourceQuotaStatus | undefined {
  const { hard = {} } = spec;
  const present = Object.entries(status.used ?? {}).filter(([name]) => Object.hasOwn(hard, name));
  const used = new Map([...present, ...counted]);
  const isRight =
    status.used !== undefined && areSame(hard, status.hard) && areSame(Object.fromEntries(used), status.used);
  return isRight ? undefined : { hard, used: Object.fromEntries([...used].sort(byName)) };
}

/** Objects that are counted in one turn of the event loop: some milliseconds. */
const AT_ONCE = 200;

/** What the objects use up of a quota, of all names that count one of their resources. */
export async function usedOf(
  { spec = {} }: ResourceQuota,
  evaluators: Evaluators,
  objects: CountedObjects,
): Promise<Amounts> {
  const used = new Map<string, string>();
  for (const name of Object.keys(spec.hard ?? {})) {
    const of = evaluators.counted(name);
    if (of !== undefined && objects.has(qualified(of))) used.set(name, '0');
  }
  for (const of of countedBy(evaluators, spec)) {
    const evaluator = evaluators.of(of);
    const all = objects.get(qualified(of)) ?? [];
    const isConstant = evaluator.isConstant === true;
    for (const [i, object] of (isConstant ? all.slice(0, 1) : all).entries()) {
      if (i % AT_ONCE === AT_ONCE - 1) await nextTurn();
      const usage = usageOf(evaluator, spec, object as ApiObject); // servers give whole objects
      for (const [name, quantity] of usage) addAmount(used, name, isConstant ? String(all.length) : quantity);
    }
  }
  return used;
}

type Quantities = Readonly<Record<string, string>>;

const areSame = (a: Quantities, b: Quantities | undefined): boolean =>
  b !== undefined &&
  Object.keys(a).length === Object.keys(b).length &&
  Object.keys(a).every((name) => Object.hasOwn(b, name)) &&
  differenceOf(new Map(Object.entries(a)), new Map(Object.entries(b))).size === 0;

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : a > b ? 1 : 0);
