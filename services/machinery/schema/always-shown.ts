import { flattenedFields } from '../types/flattened.js';
import type { TypeDeclaration } from '../types/declarations.js';
import { decodeObject } from './decode.js';

type Types = ReadonlyMap<string, TypeDeclaration>;
type Members = Readonly<Record<string, unknown>>;

interface Member {
  readonly name: string;
  /** The key of its type, or a scalar. */
  readonly type: string;
  readonly holds: 'one' | 'list' | 'map';
}

interface Shape {
  /** In the order they are written in. */
  readonly members: readonly Member[];
  /** The members that are always shown, as they are when nothing was said of them. */
  readonly zeros: Members;
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Puts the members that a type always shows into values that were put together otherwise than by decoding, such as by
 * conversion from another version. Values of another shape than declared are left as they are: nothing is refused.
 */
export class AlwaysShown {
  readonly #types: Types;
  readonly #shapes = new Map<string, Shape | undefined>();

  constructor(types: Types) {
    this.#types = types;
  }

  /** @returns The very same value when nothing was missing, else a copy that shares what was complete. */
  in(typeKey: string, value: unknown): unknown {
    const shape = isMembers(value) ? this.#shapeOf(typeKey) : undefined;
    if (shape === undefined || !isMembers(value)) return value;
    const out: Record<string, unknown> = {};
    let isComplete = true;
    for (const member of shape.members) {
      const given = value[member.name];
      const shown = given === undefined ? structuredClone(shape.zeros[member.name]) : this.#member(member, given);
      if (shown !== given) isComplete = false;
      if (shown !== undefined) out[member.name] = shown; // a declared name
    }
    return isComplete ? value : { ...out, ...unknownIn(value, out) };
  }

  #member({ type, holds }: Member, value: unknown): unknown {
    if (holds === 'one') return this.in(type, value);
    if (this.#shapeOf(type) === undefined || typeof value !== 'object' || value === null) return value;
    const before = Object.entries(value);
    const after = before.map(([key, item]) => [key, this.in(type, item)] as const);
    if (after.every(([, item], i) => item === before[i]?.[1])) return value;
    return Array.isArray(value) ? after.map(([, item]) => item) : Object.fromEntries(after);
  }

  /** undefined for a type whose values have no members of their own. */
  #shapeOf(typeKey: string): Shape | undefined {
    if (this.#shapes.has(typeKey)) return this.#shapes.get(typeKey);
    const declaration = this.#types.get(typeKey);
    const shape = declaration === undefined ? undefined : this.#shape(typeKey, declaration);
    this.#shapes.set(typeKey, shape);
    return shape;
  }

  #shape(typeKey: string, declaration: TypeDeclaration): Shape | undefined {
    const { scalar, listOf, jsonForm } = declaration;
    if (scalar !== undefined || listOf !== undefined || jsonForm !== undefined) return undefined;
    const members = flattenedFields(this.#types, declaration).map(({ name, type, list, map }): Member => {
      return { name, type, holds: list === true ? 'list' : map === true ? 'map' : 'one' };
    });
    return { members, zeros: decodeObject(this.#types, typeKey, {}).value as Members };
  }
}

/** Members that the type does not declare, such as an object's kind where that is written beside it. */
const unknownIn = (value: Members, known: Members): Members =>
  Object.fromEntries(
    Object.entries(value).filter(([name, member]) => member !== undefined && !Object.hasOwn(known, name)),
  );
