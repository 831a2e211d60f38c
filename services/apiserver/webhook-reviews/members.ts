import { getOwn, isJsonObject } from '../../machinery/meta/own.js';
import { ReviewError } from './review-error.js';

/** A JSON object as a service sent it: its members are anything. */
export type Members = Readonly<Record<string, unknown>>;

const wrong = (path: string, what: string): ReviewError => new ReviewError(`${path} of the answer is ${what}`);

/** Readers of members that may be missing or null, which means the same. @throws {ReviewError} Naming `path`. */
export function textAt(o: Members, member: string, path: string): string {
  const value = getOwn(o, member) ?? '';
  if (typeof value !== 'string') throw wrong(path, 'no text');
  return value;
}

export function flagAt(o: Members, member: string, path: string): boolean {
  const value = getOwn(o, member) ?? false;
  if (typeof value !== 'boolean') throw wrong(path, 'neither true nor false');
  return value;
}

export function textsAt(o: Members, member: string, path: string): readonly string[] {
  const value = getOwn(o, member) ?? [];
  if (!Array.isArray(value) || !value.every((it): it is string => typeof it === 'string')) {
    throw wrong(path, 'no list of texts');
  }
  return value;
}

export function objectAt(o: Members, member: string, path: string): Members | undefined {
  const value = getOwn(o, member) ?? undefined;
  if (value !== undefined && !isJsonObject(value)) throw wrong(path, 'no object');
  return value;
}

/** A text of a service for people, cut to a readable length. */
export const shortened = (text: string, most = 1024): string =>
  text.length <= most ? text : `${text.slice(0, most)}…`;
