import { isJsonObject } from '../meta/own.js';
import { facet, type Field, type Type } from '../types/graph.js';
import { decodeObject } from './decode.js';

type Members = Readonly<Record<string, unknown>>;

/** The members that a type always shows, as they are when nothing was said of them. */
const zerosOf = facet((type) => decodeObject(type, {}).value as Members);

/**
 * Puts the members that a type always shows into a value that was put together otherwise than by decoding, such as by
 * conversion from another version. Values of another shape than declared are left as they are: nothing is refused.
 *
 * @returns The very same value when nothing was missing, else a copy that shares what was complete.
 */
export function withAlwaysShown(type: Type, value: unknown): unknown {
  if (type.form !== 'struct' || !isJsonObject(value)) return value;
  const zeros = zerosOf(type);
  const out: Record<string, unknown> = {};
  let isComplete = true;
  for (const field of type.fields) {
    const given = value[field.name];
    const shown = given === undefined ? structuredClone(zeros[field.name]) : memberWith(field, given);
    if (shown !== given) isComplete = false;
    if (shown !== undefined) out[field.name] = shown; // a declared name
  }
  return isComplete ? value : { ...out, ...unknownIn(value, out) };
}

function memberWith({ type, holds }: Field, value: unknown): unknown {
  if (holds === 'one') return withAlwaysShown(type, value);
  if (type.form !== 'struct' || typeof value !== 'object' || value === null) return value;
  const before = Object.entries(value);
  const after = before.map(([key, item]) => [key, withAlwaysShown(type, item)] as const);
  if (after.every(([, item], i) => item === before[i]?.[1])) return value;
  return Array.isArray(value) ? after.map(([, item]) => item) : Object.fromEntries(after);
}

/** Members that the type does not declare, such as an object's kind where that is written beside it. */
const unknownIn = (value: Members, known: Members): Members =>
  Object.fromEntries(
    Object.entries(value).filter(([name, member]) => member !== undefined && !Object.hasOwn(known, name)),
  );
