import type { At } from './at.js';
import { checkNotNegative, checkRule } from './members.js';
import { percentage } from './text.js';

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
