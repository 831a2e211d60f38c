import { field, type FieldError } from '../meta/status.js';

/** Most problems that are told of one object. */
export const MOST_PROBLEMS = 1000;

/** What was found at a value and below, and how many questions were asked: where nothing fits, the closest is told. */
export class Findings {
  readonly problems: FieldError[] = [];
  asked = 0;

  take(other: Findings): void {
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(...other.problems);
    this.asked += other.asked;
  }
}

/** The place of a problem that is told of no member, as clients of such servers know it. */
const NOWHERE = '<nil>';

export const atNoPlace = (message: string): FieldError => field.invalid(NOWHERE, '', message);
