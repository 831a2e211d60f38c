import { isDeepStrictEqual } from 'node:util';
import { type TextRule, dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import { type FieldError, field } from '../../../../machinery/meta/status.js';
import type { Problems } from '../types.js';
import { portName } from './text.js';

/** Most problems that are reported: a body of a few MiB could have hundreds of thousands. */
const MOST_PROBLEMS = 1000;
/** Tells the problems that were found apart, as far as there is room for them. */
export const tell = (problems: Problems, found: Problems): void =>
  void problems.push(...found.slice(0, Math.max(0, MOST_PROBLEMS - problems.length)));

/** Values are shown this far, in characters. */
const MOST_SHOWN = 4096;

const cut = (shown: string): string => (shown.length > MOST_SHOWN ? `${shown.slice(0, MOST_SHOWN)}...` : shown);

/**
 * A place in an object, and where to put what is wrong there. Validation runs on every write and finds nothing in
 * nearly all of them: a place is one small object, and its path becomes text when there is a problem to report.
 *
 * The methods that report take the member that is wrong (a path below this place, '' for the place itself) and are
 * named after the reasons of field errors.
 */
export class At {
  readonly problems: Problems;
  readonly #outer: At | undefined;
  readonly #step: string | number;
  readonly #isKey: boolean;

  private constructor(problems: Problems, outer: At | undefined, step: string | number, isKey: boolean) {
    this.problems = problems;
    this.#outer = outer;
    this.#step = step;
    this.#isKey = isKey;
  }

  /** @param path Where the walk begins, e.g. `spec`; '' for the object itself. */
  static root(problems: Problems, path = ''): At {
    return new At(problems, undefined, path, false);
  }

  child(member: string): At {
    return new At(this.problems, this, member, false);
  }

  index(i: number): At {
    return new At(this.problems, this, i, false);
  }

  /** A key of a map. */
  key(key: string): At {
    return new At(this.problems, this, key, true);
  }

  /** e.g. `spec.containers[0].resources.limits[cpu]` */
  get path(): string {
    const outer = this.#outer?.path ?? '';
    if (typeof this.#step === 'number' || this.#isKey) return `${outer}[${this.#step}]`;
    return joined(outer, this.#step);
  }

  /** Whether nothing is wrong with the member so far, and nothing below it. */
  isRight(member: string): boolean {
    if (this.problems.length === 0) return true;
    const path = joined(this.path, member);
    return !this.problems.some(({ field: place }) => place.startsWith(path) && !/^\w/.test(place.slice(path.length)));
  }

  /** The items of a list that something is wrong with so far. */
  wrongItems(member: string): ReadonlySet<number> {
    const start = `${joined(this.path, member)}[`;
    return new Set(
      this.problems.flatMap(({ field: place }) =>
        place.startsWith(start) ? [Number.parseInt(place.slice(start.length), 10)] : [],
      ),
    );
  }

  #report(problem: FieldError): void {
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(problem);
  }

  required(member: string, detail = ''): void {
    this.#report(field.required(joined(this.path, member), detail));
  }

  /** @param value What was found; undefined is shown as what clients know for it, a null in quotes. */
  invalid(member: string, value: unknown, detail: string): void {
    this.#report(field.invalid(joined(this.path, member), short(value) ?? 'null', detail));
  }

  /** The same for a value that has been put in words: see `shownMap` and `shownList`. */
  invalidShown(member: string, shown: string, detail: string): void {
    this.#report({
      reason: 'FieldValueInvalid',
      field: joined(this.path, member),
      message: `Invalid value: ${cut(shown)}: ${detail}`,
    });
  }

  forbidden(member: string, detail: string): void {
    this.#report(field.forbidden(joined(this.path, member), detail));
  }

  notSupported(member: string, value: unknown, supported: readonly string[]): void {
    this.#report(field.notSupported(joined(this.path, member), short(value) ?? '', supported));
  }

  /** The same for a list: see `shownList`. */
  notSupportedShown(member: string, shown: string, supported: readonly string[]): void {
    const { message, ...problem } = field.notSupported(joined(this.path, member), '', supported);
    this.#report({ ...problem, message: message.replace('""', () => cut(shown)) });
  }

  duplicate(member: string, value: unknown): void {
    this.#report(field.duplicate(joined(this.path, member), short(value)));
  }

  notFound(member: string, value: unknown): void {
    this.#report(field.notFound(joined(this.path, member), short(value)));
  }

  tooLong(member: string, max: number): void {
    this.#report(field.tooLong(joined(this.path, member), max));
  }

  tooMany(member: string, count: number, max: number): void {
    this.#report(field.tooMany(joined(this.path, member), count, max));
  }
}

/** Of other values the parts are short, or there is one of them in an object. */
const short = (value: unknown): unknown => (typeof value === 'string' ? cut(value) : value);

const joined = (path: string, member: string): string =>
  path === '' ? member : member === '' ? path : `${path}.${member}`;

/** Maps and lists of strings look like this in messages, whatever language wrote them first. */
export const shownMap = (map: Readonly<Record<string, string>> = {}): string =>
  `map[string]string{${Object.keys(map)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${JSON.stringify(map[key])}`)
    .join(', ')}}`;

export const shownList = (list: readonly string[] = []): string =>
  `[]string{${list.map((item) => JSON.stringify(item)).join(', ')}}`;

/*
 * Checks of one member: each takes the place of the object that has it, its name, and its value. Absent and empty mean
 * the same for texts and lists.
 */

type Text = string | undefined;
/** Lists that are always written are null when they are empty. */
export type List<T> = readonly T[] | null | undefined;

export const isUnset = (text: Text): boolean => text === undefined || text === '';

/** Says which members are missing: a table's worth of `required`. */
export function requireTexts(at: At, object: Readonly<Record<string, unknown>>, ...members: readonly string[]): void {
  for (const member of members) {
    const value = object[member];
    if (value === undefined || value === '') at.required(member);
  }
}

/** A text that may be left out. */
export function checkText(at: At, member: string, value: Text, rule: TextRule): void {
  if (value !== undefined && value !== '') checkRule(at, member, value, rule);
}

/** A text that must be there. */
export function requireText(at: At, member: string, value: Text, rule: TextRule, detail = ''): void {
  if (value === undefined || value === '') at.required(member, detail);
  else checkRule(at, member, value, rule);
}

/** A text that is asked even when it is empty. */
export function checkRule(at: At, member: string, value: string, rule: TextRule): void {
  for (const problem of rule(value)) at.invalid(member, value, problem);
}

/** @param supported In the order in which messages list them. */
export function checkEnum(at: At, member: string, value: Text, supported: readonly string[]): void {
  if (value !== undefined && !supported.includes(value)) at.notSupported(member, value, supported);
}

export function requireEnum(at: At, member: string, value: Text, supported: readonly string[], detail = ''): void {
  if (value === undefined || value === '') at.required(member, detail);
  else checkEnum(at, member, value, supported);
}

export const NOT_NEGATIVE = 'must be greater than or equal to 0';
export const POSITIVE = 'must be greater than zero';
export const betweenDetail = (least: number, most: number): string => `must be between ${least} and ${most}, inclusive`;

export function checkNotNegative(at: At, member: string, value: number | undefined): void {
  if (value !== undefined && value < 0) at.invalid(member, value, NOT_NEGATIVE);
}

export function checkBetween(at: At, member: string, value: number | undefined, least: number, most: number): void {
  if (value !== undefined && (value < least || value > most)) at.invalid(member, value, betweenDetail(least, most));
}

export const checkPort = (at: At, member: string, port: number | undefined): void =>
  checkBetween(at, member, port, 1, 65535);

/** A port by its number or by its name. */
export function checkPortOrName(at: At, member: string, port: number | string): void {
  if (typeof port === 'number') checkPort(at, member, port);
  else checkRule(at, member, port, portName);
}

export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

/** Holds a list's items against `check`, each at its own place. */
export function each<T>(at: At, member: string, list: List<T>, check: (item: T, at: At, i: number) => void): void {
  if (list === null || list === undefined || list.length === 0) return;
  const listAt = at.child(member);
  list.forEach((item, i) => check(item, listAt.index(i), i));
}

/** Holds a map's values against `check`, each at its key. */
export function eachEntry<T>(
  at: At,
  member: string,
  map: Readonly<Record<string, T>> | undefined,
  check: (value: T, key: string, at: At) => void,
): void {
  if (map === undefined) return;
  const mapAt = at.child(member);
  for (const [key, value] of Object.entries(map)) check(value, key, mapAt.key(key));
}

export const IMMUTABLE = 'field is immutable';

/** The value never changes; absent is a value like another. */
export function checkImmutable(at: At, member: string, next: unknown, old: unknown): void {
  if (next !== old && !isDeepStrictEqual(next, old)) at.invalid(member, next, IMMUTABLE);
}

/** How many of `members` an object has: for types of which exactly one may be set. */
export const countOf = (object: object, members: readonly string[]): number =>
  members.reduce((n, member) => ((object as Record<string, unknown>)[member] === undefined ? n : n + 1), 0);

const DRIVER_MAX = 63;

/** A driver of volumes: a domain in letters of any case. */
export function checkDriverName(at: At, member: string, driver = ''): void {
  if (driver === '') at.required(member);
  if (driver.length > DRIVER_MAX) at.tooLong(member, DRIVER_MAX);
  for (const problem of dns1123Subdomain(driver.toLowerCase())) at.invalid(member, driver, problem);
}

/** Items that are the same in all that `identityOf` reads are told as one item twice. */
export function checkNoTwins<T>(at: At, member: string, list: List<T>, identityOf: (item: T) => string): void {
  if (list === null || list === undefined || list.length < 2) return;
  const seen = new Set<string>();
  each(at, member, list, (item, itemAt) => {
    const identity = identityOf(item);
    if (seen.has(identity)) itemAt.duplicate('', item);
    seen.add(identity);
  });
}
