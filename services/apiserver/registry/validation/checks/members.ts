import { isDeepStrictEqual } from 'node:util';
import type { TextRule } from '../../../../machinery/meta/names.js';
import { dns1123Subdomain } from '../../../../machinery/meta/names.js';
import type { At } from './at.js';
import { portName } from './text.js';

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
  if (value !== undefined && value !== '' && !supported.includes(value)) at.notSupported(member, value, supported);
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

/** What was set once stays what it is; absent is a value like another. */
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
