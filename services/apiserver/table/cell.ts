import type { Path } from './paths.js';
import { humanDuration } from './human-duration.js';

/** A text that depends on when it is read. What it holds needs no escapes in JSON. */
export type Clock = (nowMs: number) => string;
/** One cell of a row. Everything but clocks is the same for as long as the object is. */
export type Cell = string | number | boolean | null | Clock;

/** The input of a column's function. */
export interface ColumnInput {
  /** The object, in the storage version. */
  readonly object: unknown;
  /** The first value that the path of this number leads to. */
  readonly first: (path?: number) => unknown;
  /** All of them. */
  readonly all: (path?: number) => readonly unknown[];
  readonly args: readonly string[];
  readonly paths: readonly Path[];
}

/** Makes the cell of one column; undefined and '' when there is nothing to show. */
export type Show = (input: ColumnInput) => Cell | undefined;

/** Values as declared types have them: a member of another kind than expected counts as absent. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** The point in time; undefined when there is none. */
export function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** How long ago something was. */
export const ageOf =
  (ms: number): Clock =>
  (nowMs) =>
    humanDuration(nowMs - ms);

/** `a,b,c + 2 more...` */
export function shortened(items: readonly string[], most: number, separator = ','): string {
  const shown = items.slice(0, most).join(separator);
  return items.length > most ? `${shown} + ${items.length - most} more...` : shown;
}

/** Whether a condition of that type is there and true. */
export const conditionIsTrue = (conditions: unknown, type: string): boolean =>
  recordOf(listOf(conditions).find((c) => recordOf(c)['type'] === type))['status'] === 'True';
