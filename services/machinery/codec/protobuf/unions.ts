import { isJsonObject } from '../../meta/own.js';
import type { Type } from '../../types/graph.js';
import type { Value } from './value.js';
import { never, nothing, unfit } from './value.js';
import { BYTES } from './wire.js';

/**
 * A type whose JSON is the value of one of its members, told apart by its kind: a list that has something, else an
 * object, else a boolean. One that occurs twice is not merged: the last one counts.
 *
 * @param message All members, as the type is on the wire.
 */
export function unionOf({ declared }: Type, message: Value): Value {
  const flag = declared.find(({ type }) => type.scalar === 'bool')?.name;
  const list = declared.find(({ holds }) => holds === 'list')?.name;
  const other = declared.find(({ name }) => name !== flag && name !== list)?.name;

  const membersOf = (value: unknown): Record<string, unknown> => {
    if (value === null) return {};
    if (flag !== undefined && typeof value === 'boolean') return { [flag]: value };
    if (list !== undefined && Array.isArray(value)) return { [list]: value };
    if (other === undefined || !isJsonObject(value)) throw unfit(value, 'any member of a union');
    return { ...(flag === undefined ? {} : { [flag]: true }), [other]: value };
  };
  return {
    wireType: BYTES,
    read(reader) {
      const members = message.read(reader) as Record<string, unknown>; // made by a message
      const chosen =
        (list === undefined ? undefined : members[list]) ?? (other === undefined ? undefined : members[other]);
      return chosen ?? (flag === undefined ? null : (members[flag] ?? false));
    },
    write: (writer, value) => {
      message.write(writer, membersOf(value));
    },
    isZero: never,
    zero: nothing,
    leftOut: false,
  };
}
