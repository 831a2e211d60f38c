import { isJsonObject } from '../../../machinery/meta/own.js';
import { checkAnnotations, checkLabels } from '../../../machinery/meta/metadata.js';
import type { ObjectMeta } from '../../../machinery/meta/object.js';
import type { FieldError } from '../../../machinery/meta/status.js';
import { shortened, type Members } from '../../webhook-reviews/members.js';

const MAPS = [
  ['labels', checkLabels],
  ['annotations', checkAnnotations],
] as const;

/**
 * The metadata of a converted object: that of the original with the labels and annotations of the answer. It is the
 * original that is changed.
 *
 * @throws {Error} That says why the answer's cannot be taken.
 */
export function restoredMetadata(original: ObjectMeta, converted: Members): ObjectMeta {
  const given = Object.hasOwn(converted, 'metadata') ? converted['metadata'] : undefined;
  if (given === undefined) throw new Error('missing metadata in converted object');
  if (!isJsonObject(given)) throw new Error(`invalid metadata of type ${typeOf(given)} in converted object`);
  for (const [member, check] of MAPS) {
    const texts = textsOf(given, member);
    if (texts === undefined) {
      Reflect.deleteProperty(original, member);
      continue;
    }
    // What has not changed may break rules that are younger than it.
    if (!isSame(original[member] ?? {}, texts)) refuseWrong(texts, check);
    original[member] = texts;
  }
  return original;
}

function textsOf(metadata: Members, member: 'labels' | 'annotations'): Record<string, string> | undefined {
  const texts = Object.hasOwn(metadata, member) ? (metadata[member] ?? undefined) : undefined;
  if (texts === undefined) return undefined;
  if (!isJsonObject(texts)) throw new Error(`invalid metadata.${member} of type ${typeOf(texts)} in converted object`);
  for (const [key, value] of Object.entries(texts)) {
    if (typeof value === 'string') continue;
    const at = `metadata.${member}[${shortened(key)}]`;
    throw new Error(`${at} must be a string, but is ${typeOf(value)} in converted object`);
  }
  return texts as Record<string, string>; // each was looked at
}

function isSame(before: Readonly<Record<string, string>>, texts: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(texts);
  return (
    entries.length === Object.keys(before).length &&
    entries.every(([key, value]) => Object.hasOwn(before, key) && before[key] === value)
  );
}

function refuseWrong(texts: Readonly<Record<string, string>>, check: typeof checkLabels): void {
  const problems: FieldError[] = [];
  check(texts, problems);
  const told = [...new Set(problems.map(({ field, message }) => `${field}: ${message}`))];
  if (told.length > 0) throw new Error(shortened(told.length === 1 ? told.join('') : `[${told.join(', ')}]`));
}

/** A type of JSON. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
