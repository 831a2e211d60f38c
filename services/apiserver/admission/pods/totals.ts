import { getOwn, setOwn } from '../../../machinery/meta/own.js';
import { addQuantities } from '../../../machinery/schema/quantity.js';
import type { Container, PodSpec } from '../../../machinery/types/generated/core.v1.js';
import { compareQuantities } from '../../registry/validation/checks/quantities.js';

/** Quantities by resource. */
export type Amounts = Readonly<Record<string, string>>;

/** Names of resources come from clients. */
export const amountOf = (of: Amounts, resource: string): string | undefined =>
  getOwn(of, resource) as string | undefined; // all members are text

/**
 * Requests and limits of a pod as a whole: of each resource that all its containers name the sum, or what one container of its
 * start names when that is more. Overhead does not count.
 */
export function podTotal(spec: PodSpec): { readonly requests: Amounts; readonly limits: Amounts } {
  return { requests: total(spec, 'requests'), limits: total(spec, 'limits') };
}

function total(spec: PodSpec, list: 'requests' | 'limits'): Amounts {
  const of = ({ resources }: Container): Amounts => resources?.[list] ?? {};
  const totals = sum((spec.containers ?? []).map(of));
  for (const amounts of (spec.initContainers ?? []).map(of)) {
    for (const [resource, quantity] of Object.entries(amounts)) {
      const known = amountOf(totals, resource);
      if (known === undefined || compareQuantities(quantity, known) > 0) setOwn(totals, resource, quantity);
    }
  }
  return totals;
}

/** Of the resources that are in all lists. */
function sum(lists: readonly Amounts[]): Record<string, string> {
  const totals: Record<string, string> = {};
  for (const resource of Object.keys(lists[0] ?? {})) {
    const [first, ...others] = lists.map((list) => amountOf(list, resource));
    if (first === undefined || others.includes(undefined)) continue;
    setOwn(
      totals,
      resource,
      others.reduce<string>((all, quantity) => addQuantities(all, quantity ?? '0'), first),
    );
  }
  return totals;
}
