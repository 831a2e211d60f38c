import type { ApiObject } from '../../../../machinery/meta/object.js';
import { forbidden, type ResourceName } from '../../../../machinery/meta/status.js';
import { addAmount, differenceOf, isMore, isPositive, type Amounts } from '../../../../machinery/quota/amounts.js';
import { usageOf, type Evaluator } from '../../../../machinery/quota/evaluators.js';
import type { ResourceQuota } from '../../../../machinery/types/generated/core.v1.js';

/** A change that a quota may count. */
export interface Counted {
  readonly resource: ResourceName;
  readonly name: string;
  readonly evaluator: Evaluator;
  readonly old: ApiObject | undefined;
  readonly next: ApiObject | undefined;
}

/** What all objects of the quota's namespace use of one of its names. */
export type PresentUse = (quota: ResourceQuota, name: string) => string | undefined;

type Stored = ApiObject & ResourceQuota;

/**
 * A quota as it is once a change is counted; undefined when the change is none of its business. Names of which its status
 * says nothing yet are counted anew.
 *
 * @throws {StatusError} Forbidden when there is no room
 */
export function charged(quota: ApiObject, change: Counted, presentUse: PresentUse): ApiObject | undefined {
  const { spec = {}, status = {} } = quota as Stored;
  const difference = differenceOf(
    usageOf(change.evaluator, spec, change.next),
    usageOf(change.evaluator, spec, change.old),
  );
  if (difference.size === 0) return undefined;
  const { hard = {} } = spec;
  const used = new Map<string, string>();
  for (const name of Object.keys(hard)) {
    const known = status.used !== undefined && Object.hasOwn(status.used, name) ? status.used[name] : undefined;
    const amount = known ?? presentUse(quota as Stored, name);
    if (amount !== undefined) used.set(name, amount);
  }
  if (isChecked(change)) refuseExcess(quota, change, { difference, used, hard });
  for (const [name, quantity] of difference) {
    addAmount(used, name, quantity);
    if (!isPositive(used.get(name) ?? '0')) used.set(name, '0');
  }
  return { ...quota, status: { hard, used: Object.fromEntries([...used].sort(byName)) } };
}

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : a > b ? 1 : 0);

const isChecked = ({ old, next, evaluator }: Counted): boolean =>
  next !== undefined && (old === undefined || evaluator.checksUpdates);

interface Sums {
  readonly difference: Amounts;
  readonly used: Amounts;
  readonly hard: Readonly<Record<string, string>>;
}

/** @throws {StatusError} Forbidden, with every name of which there is not enough */
function refuseExcess({ metadata }: ApiObject, { resource, name }: Counted, { difference, used, hard }: Sums): void {
  const exceeded = [...difference.keys()].sort().filter((of) => {
    const quantity = difference.get(of) ?? '0';
    const sum = new Map([[of, used.get(of) ?? '0']]);
    addAmount(sum, of, quantity);
    return isPositive(quantity) && isMore(sum.get(of) ?? '0', hard[of] ?? '0');
  });
  if (exceeded.length === 0) return;
  const shown = (quantityOf: (name: string) => string | undefined): string =>
    exceeded.map((of) => `${of}=${quantityOf(of) ?? '0'}`).join(',');
  const requested = shown((of) => difference.get(of));
  const present = shown((of) => used.get(of));
  const limited = shown((of) => hard[of]);
  throw forbidden(
    resource,
    name,
    `exceeded quota: ${metadata.name ?? ''}, requested: ${requested}, used: ${present}, limited: ${limited}`,
  );
}
