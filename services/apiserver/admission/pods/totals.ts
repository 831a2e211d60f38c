import { getOwn, setOwn } from '../../../machinery/meta/own.js';
import { canonicalQuantity, quantityAmount } from '../../../machinery/schema/quantity.js';
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
    const quantities = lists.map((list) => amountOf(list, resource));
    if (quantities.includes(undefined)) continue;
    const billionths = quantities.reduce((all, quantity) => all + (quantityAmount(quantity ?? '0') ?? 0n), 0n);
    setOwn(totals, resource, written(resource, billionths));
  }
  return totals;
}

const KIBI = 1024n * 10n ** 9n;

/** Memory in powers of two. */
const written = (resource: string, billionths: bigint): string =>
  (resource === 'memory' && billionths % KIBI === 0n
    ? canonicalQuantity(`${billionths / KIBI}Ki`)
    : canonicalQuantity(`${billionths}n`)) ?? '0';
