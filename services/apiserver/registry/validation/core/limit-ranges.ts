import { qualifiedName } from '../../../../machinery/meta/metadata.js';
import { quantityAmount } from '../../../../machinery/schema/quantity.js';
import type { LimitRangeItem } from '../../../../machinery/types/generated/core.v1.js';
import { type At, checkRule, eachEntry } from '../checks/at.js';
import { type ResourceChecks, compareQuantities } from '../checks/quantities.js';
import type { TypeRule } from '../types.js';

const POD = 'Pod';
const CLAIM = 'PersistentVolumeClaim';
const TYPES = [POD, 'Container', CLAIM];
const LISTS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;
type Bound = (typeof LISTS)[number];
const DEFAULTS: ReadonlySet<Bound> = new Set<Bound>(['default', 'defaultRequest']);

interface Order {
  readonly less: Bound;
  readonly more: Bound;
  /** The limit whose value is shown, at its place. */
  readonly shown: Bound;
  readonly at: Bound;
  readonly why: (less: string, more: string) => string;
}

/** Which bound may not be above which; the words differ from pair to pair. */
const ORDERS: readonly Order[] = [
  order('min', 'max', 'min', 'min', 'min value %s is greater than max value %s'),
  order(
    'min',
    'defaultRequest',
    'defaultRequest',
    'defaultRequest',
    'min value %s is greater than default request value %s',
  ),
  order(
    'defaultRequest',
    'max',
    'defaultRequest',
    'defaultRequest',
    'default request value %s is greater than max value %s',
  ),
  order(
    'defaultRequest',
    'default',
    'defaultRequest',
    'defaultRequest',
    'default request value %s is greater than default limit value %s',
  ),
  order('min', 'default', 'min', 'default', 'min value %s is greater than default value %s'),
  order('default', 'max', 'max', 'default', 'default value %s is greater than max value %s'),
];

function order(less: Bound, more: Bound, shown: Bound, at: Bound, words: string): Order {
  return { less, more, shown, at, why: (a, b) => words.replace('%s', a).replace('%s', b) };
}

type BoundsOf = Readonly<Partial<Record<Bound, string>>>;

function checkOrder(at: At, resource: string, bounds: BoundsOf): void {
  for (const { less, more, shown, at: place, why } of ORDERS) {
    const a = bounds[less];
    const b = bounds[more];
    if (a === undefined || b === undefined || compareQuantities(a, b) <= 0) continue;
    at.child(place).key(resource).invalid('', bounds[shown], why(a, b));
  }
}

function checkRatio(at: At, resource: string, { min, max, maxLimitRequestRatio: ratio }: BoundsOf): void {
  if (ratio === undefined) return;
  const ratioAt = at.child('maxLimitRequestRatio').key(resource);
  if (compareQuantities(ratio, '1') < 0) ratioAt.invalid('', ratio, `ratio ${ratio} is less than 1`);
  if (min === undefined || max === undefined) return;
  const most = asNumber(max) / asNumber(min);
  if (asNumber(ratio) > most) {
    ratioAt.invalid('', ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`);
  }
}

const asNumber = (quantity: string): number => Number(quantityAmount(quantity) ?? 0n) / 1e9;

function checkItem(at: At, item: LimitRangeItem, resources: ResourceChecks): void {
  const { type = '' } = item;
  const checkName = type === POD || type === 'Container' ? resources.containerName : resources.name;
  const names = new Set<string>();
  for (const list of LISTS) {
    if (type === POD && DEFAULTS.has(list)) {
      if (item[list] !== undefined) at.forbidden(list, "may not be specified when `type` is 'Pod'");
      continue;
    }
    eachEntry(at, list, item[list], (_quantity, name, nameAt) => {
      checkName(nameAt, name);
      names.add(name);
    });
  }
  if (type === CLAIM && item.min?.['storage'] === undefined && item.max?.['storage'] === undefined) {
    at.required('limits', 'either minimum or maximum storage value is required, but neither was provided');
  }
  for (const name of names) checkBounds(at, name, boundsOf(item, name), resources);
}

const boundsOf = (item: LimitRangeItem, name: string): BoundsOf =>
  Object.fromEntries(
    LISTS.flatMap((list) => {
      const quantity = item[list];
      const isThere = quantity !== undefined && Object.hasOwn(quantity, name);
      return isThere && !(item.type === POD && DEFAULTS.has(list)) ? [[list, quantity[name]]] : [];
    }),
  );

function checkBounds(at: At, name: string, bounds: BoundsOf, resources: ResourceChecks): void {
  checkOrder(at, name, bounds);
  checkRatio(at, name, bounds);
  const { default: limit, defaultRequest: request } = bounds;
  if (resources.mayOvercommit(name) || limit === undefined || request === undefined) return;
  if (compareQuantities(limit, request) === 0) return;
  const why = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`;
  at.child('defaultRequest').key(name).invalid('', request, why);
}

function checkTypeName(at: At, type: string): void {
  const before = at.problems.length;
  checkRule(at, 'type', type, qualifiedName);
  if (at.problems.length > before || type.includes('/') || TYPES.includes(type)) return;
  at.invalid('type', type, 'must be a standard limit type or fully qualified');
}

export const limitRangeRule =
  (resources: ResourceChecks): TypeRule<LimitRangeItem> =>
  (at, item) => {
    checkTypeName(at, item.type ?? '');
    checkItem(at, item, resources);
  };
