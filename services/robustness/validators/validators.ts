import type { History } from '../history/history.js';
import { availability } from './availability.js';
import { clashes } from './clashes.js';
import { deletions } from './deletions.js';
import { dependents } from './dependents.js';
import { leaders } from './leaders.js';
import { lists } from './lists.js';
import { quota } from './quota.js';
import { reads } from './reads.js';
import type { Limits, Validator, Violation } from './violation.js';
import { watches } from './watches.js';
import { writes } from './writes.js';

/** A new validator is one file, its test and a line here. */
export const VALIDATORS = {
  watches,
  deletions,
  writes,
  reads,
  lists,
  clashes,
  leaders,
  quota,
  dependents,
  availability,
} as const satisfies Readonly<Record<string, Validator>>;

export type ValidatorName = keyof typeof VALIDATORS;

export interface Found extends Violation {
  readonly validator: ValidatorName;
}

export interface Verdict {
  /** How many there are, by validator. */
  readonly counts: Readonly<Record<ValidatorName, number>>;
  /** The first ones of each. */
  readonly found: readonly Found[];
}

/** Violations of each validator that are told one by one. */
const MOST_TOLD = 100;

export function validate(history: History, limits: Limits): Verdict {
  const found: Found[] = [];
  const counts = Object.entries(VALIDATORS).map(([name, validator]) => {
    let count = 0;
    for (const violation of validator(history, limits)) {
      if (count++ < MOST_TOLD) found.push({ validator: name as ValidatorName, ...violation }); // a key of the table
    }
    return [name, count];
  });
  return { counts: Object.fromEntries(counts) as Verdict['counts'], found };
}
