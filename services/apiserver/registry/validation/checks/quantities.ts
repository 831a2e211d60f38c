import { qualifiedName } from '../../../../machinery/meta/metadata.js';
import { quantityAmount } from '../../../../machinery/schema/quantity.js';
import type { ResourceRequirements } from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { type At, checkRule, eachEntry, NOT_NEGATIVE, POSITIVE, checkNotNegative } from './at.js';
import { percentage } from './text.js';

/** Quantities by resource, canonical as decoding leaves them. */
export type Quantities = Readonly<Record<string, string>>;

const amount = (quantity: string): bigint => quantityAmount(quantity) ?? 0n;

/** Below 0, 0, or above 0 as the first is less than, equal to, or more than the second. */
export function compareQuantities(a: string, b: string): number {
  if (a === b) return 0;
  const difference = amount(a) - amount(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

// What is canonical has its sign in front, no zero but '0', and a fraction only in its suffix.
const isNegative = (quantity: string): boolean => quantity.startsWith('-');
const isWhole = (quantity: string): boolean => !/[num]$|e-/.test(quantity);

export function checkPositiveQuantity(at: At, member: string, quantity: string): void {
  if (quantity === '0' || isNegative(quantity)) at.invalid(member, quantity, POSITIVE);
}

/** @param quantity Shown rounded, as what is counted in units is. */
export function checkPlainQuantity(at: At, member: string, quantity: string): void {
  if (isNegative(quantity)) at.invalid(member, quantity, 'must be a valid resource quantity');
}

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const COUNTED = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const FOR_CONTAINERS: ReadonlySet<string> = new Set(COMPUTE);
const FOR_QUOTAS: ReadonlySet<string> = new Set([
  ...COMPUTE,
  ...COMPUTE.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  'requests.storage',
  ...COUNTED,
]);
const WHOLE: ReadonlySet<string> = new Set(COUNTED);
const HUGE_PAGES = 'hugepages-';
const REQUESTS = 'requests.';

const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);
const isQuotaHugePages = (name: string): boolean => isHugePages(name) || name.startsWith(`${REQUESTS}${HUGE_PAGES}`);

/** Resources that quotas know by themselves. */
export const isQuotaResource = (name: string): boolean => FOR_QUOTAS.has(name) || isQuotaHugePages(name);

/** Names of resources, and what their amounts may be, in one vocabulary. */
export interface ResourceChecks {
  /** e.g. `cpu`, `example.com/gpu` */
  readonly name: (at: At, name: string) => void;
  readonly containerName: (at: At, name: string) => void;
  readonly quotaName: (at: At, name: string) => void;
  readonly amount: (at: At, name: string, quantity: string) => void;
  /** Whether more may be promised than there is. */
  readonly mayOvercommit: (name: string) => boolean;
  readonly requirements: (at: At, requirements: ResourceRequirements) => void;
}

export function resourceChecks({ labelPrefixes }: Vocabulary): ResourceChecks {
  const isNative = (name: string): boolean => !name.includes('/') || name.includes(labelPrefixes.own);
  const isExtended = (name: string): boolean =>
    !isNative(name) && !name.startsWith(REQUESTS) && qualifiedName(REQUESTS + name).length === 0;

  const mayOvercommit = (name: string): boolean => isNative(name) && !isHugePages(name);

  const checkName = (at: At, name: string): void => {
    const before = at.problems.length;
    checkRule(at, '', name, qualifiedName);
    if (at.problems.length > before || name.includes('/') || name === 'storage' || isQuotaResource(name)) return;
    at.invalid('', name, 'must be a standard resource type or fully qualified');
  };
  const containerName = (at: At, name: string): void => {
    if (FOR_CONTAINERS.has(name)) return; // nearly all of them
    checkName(at, name);
    if (!name.includes('/')) {
      if (!isHugePages(name)) at.invalid('', name, 'must be a standard resource for containers');
    } else if (!isNative(name) && !isExtended(name)) {
      at.invalid('', name, "doesn't follow extended resource name standard");
    }
  };
  const quotaName = (at: At, name: string): void => {
    checkName(at, name);
    if (!name.includes('/') && !isQuotaResource(name)) at.invalid('', name, 'must be a standard resource for quota');
  };
  const checkAmount = (at: At, name: string, quantity: string): void => {
    if (isNegative(quantity)) at.invalid('', quantity, NOT_NEGATIVE);
    if (!isWhole(quantity) && (WHOLE.has(name) || isExtended(name))) at.invalid('', quantity, 'must be an integer');
  };
  return {
    name: checkName,
    containerName,
    quotaName,
    amount: checkAmount,
    mayOvercommit,
    requirements: requirementsCheck({ containerName, checkAmount, mayOvercommit }),
  };
}

interface RequirementRules {
  readonly containerName: (at: At, name: string) => void;
  readonly checkAmount: (at: At, name: string, quantity: string) => void;
  readonly mayOvercommit: (name: string) => boolean;
}

const requirementsCheck =
  ({ containerName, checkAmount, mayOvercommit }: RequirementRules): ResourceChecks['requirements'] =>
  (at, { limits, requests }) => {
    const checkOne = (quantity: string, name: string, oneAt: At): void => {
      containerName(oneAt, name);
      checkAmount(oneAt, name, quantity);
      if (isHugePages(name) && !isMultipleOfPage(name, quantity)) {
        oneAt.invalid('', quantity, `${quantity} is not positive integer multiple of ${name}`);
      }
    };
    eachEntry(at, 'limits', limits, checkOne);
    eachEntry(at, 'requests', requests, (quantity, name, oneAt) => {
      checkOne(quantity, name, oneAt);
      const limit = limits !== undefined && Object.hasOwn(limits, name) ? limits[name] : undefined;
      if (limit === undefined) {
        if (!mayOvercommit(name)) at.required('limits', 'Limit must be set for non overcommitable resources');
        return;
      }
      const order = compareQuantities(quantity, limit);
      if (order !== 0 && !mayOvercommit(name)) {
        at.invalid('requests', quantity, `must be equal to ${name} limit of ${limit}`);
      } else if (order > 0) {
        at.invalid('requests', quantity, `must be less than or equal to ${name} limit of ${limit}`);
      }
    });
    const names = [...Object.keys(limits ?? {}), ...Object.keys(requests ?? {})];
    if (names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory')) {
      at.forbidden('', 'HugePages require cpu or memory');
    }
  };

function isMultipleOfPage(name: string, quantity: string): boolean {
  const page = quantityAmount(name.slice(HUGE_PAGES.length)) ?? 0n;
  return page > 0n && amount(quantity) % page === 0n;
}

/** A number, or a share of a number: `2`, `25%`. */
export type Count = number | string;

export function checkCount(at: At, member: string, count: Count | undefined): void {
  if (typeof count === 'string') checkRule(at, member, count, percentage);
  else checkNotNegative(at, member, count);
}

const percentOf = (count: Count): number | undefined =>
  typeof count === 'string' && percentage(count).length === 0 ? Number(count.slice(0, -1)) : undefined;

/** A share of something is no more than all of it. */
export function checkNotMoreThanAll(at: At, member: string, count: Count | undefined): void {
  const percent = count === undefined ? undefined : percentOf(count);
  if (percent !== undefined && percent > 100) at.invalid(member, count, 'must not be greater than 100%');
}

/** Absent is not zero: it has a default. */
export const isZeroCount = (count: Count | undefined): boolean =>
  count !== undefined && (count === 0 || percentOf(count) === 0);
