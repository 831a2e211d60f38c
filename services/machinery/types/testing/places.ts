import type { Catalog } from '../declarations.js';
import type { Field, Type } from '../graph.js';

/** The way to a member: names of members and keys, and the index 0 of lists. */
export type Place = readonly (string | number)[];

/** Stands for the keys of maps. */
const ANY_KEY = 'a';

/**
 * A way to every member that an object of this type may have, to the elements of its lists and maps too; to those of a
 * structure that stands in several places, the shortest one. So types that contain themselves have an end.
 *
 * @param closed Types whose members are left out.
 */
export function placesOf(catalog: Catalog, typeKey: string, closed: readonly string[] = []): readonly Place[] {
  const places: Place[] = [];
  const seen = new Set<string>([typeKey, ...closed]);
  let level: (readonly [Type, Place])[] = [[catalog.types.of(typeKey), []]];
  while (level.length > 0) {
    const next: (readonly [Type, Place])[] = [];
    for (const [type, at] of level) {
      for (const field of type.fields) {
        const place = [...at, field.name];
        places.push(place);
        const inside = elementOf(field, place);
        if (inside !== place) places.push(inside);
        if (seen.has(field.type.key)) continue;
        seen.add(field.type.key);
        if (field.type.form === 'list') places.push([...inside, 0]);
        next.push([field.type, inside]);
      }
    }
    level = next;
  }
  return places;
}

function elementOf({ holds }: Field, place: Place): Place {
  return holds === 'one' ? place : [...place, holds === 'list' ? 0 : ANY_KEY];
}

/** A copy of `object` with a value at a place; what is on the way there is made where it is not. */
export function withValueAt(object: unknown, [step, ...rest]: Place, value: unknown): unknown {
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const list: readonly unknown[] = Array.isArray(object) ? object : [];
    return [...list.slice(0, step), withValueAt(list[step], rest, value), ...list.slice(step + 1)];
  }
  const from = typeof object === 'object' && object !== null && !Array.isArray(object) ? object : {};
  return { ...from, [step]: withValueAt((from as Record<string, unknown>)[step], rest, value) };
}

/** Values that no member, or hardly one, is declared to have: nothing, the empty ones of each kind, and the wrong kinds. */
export const ODD_VALUES: readonly unknown[] = [
  null,
  '',
  0,
  false,
  [],
  {},
  [null],
  { a: null },
  [[]],
  [{}],
  { a: {} },
  { a: [] },
  'x',
  -1,
  0.5,
  2 ** 53,
  true,
  ['x'],
];
