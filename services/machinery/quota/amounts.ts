import { addQuantities, negatedQuantity, quantityAmount } from '../schema/quantity.js';

/** Canonical quantities by the resource names of quotas, e.g. `requests.cpu`. Names that are not there have none. */
export type Amounts = ReadonlyMap<string, string>;

export const NO_AMOUNTS: Amounts = new Map();

/** Adds one amount to those of `to`. */
export function addAmount(to: Map<string, string>, name: string, quantity: string): void {
  const present = to.get(name);
  to.set(name, present === undefined ? quantity : addQuantities(present, quantity));
}

/** What `next` has more than `old`, without the names of which both have the same; less is negative. */
export function differenceOf(next: Amounts, old: Amounts): Amounts {
  const difference = new Map(next);
  for (const [name, quantity] of old) addAmount(difference, name, negatedQuantity(quantity));
  for (const [name, quantity] of difference) if (quantity === '0') difference.delete(name);
  return difference;
}

export const isMore = (a: string, b: string): boolean => (quantityAmount(a) ?? 0n) > (quantityAmount(b) ?? 0n);

export const isPositive = (quantity: string): boolean => quantity !== '0' && !quantity.startsWith('-');
