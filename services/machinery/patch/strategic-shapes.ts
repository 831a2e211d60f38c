import type { FieldDeclaration, TypeDeclaration } from '../types/declarations.js';
import { flattenedFields } from '../types/flattened.js';

type Types = ReadonlyMap<string, TypeDeclaration>;

/** How the members of a JSON object are merged. */
export interface Shape {
  /** What becomes of a member; every name has an answer. */
  readonly member: (name: string) => MemberShape;
}

/** How one member is merged. */
export interface MemberShape {
  /** Of the value; of the items, where the value is a list. */
  readonly shape: Shape;
  /** `merge` is for lists, `replace` for objects. Without one, lists are replaced and objects merged. */
  readonly strategy: string | undefined;
  /** The member that tells items of a merged list apart; undefined where they are no objects. */
  readonly mergeKey: string | undefined;
  /** JSON of no declared form: directives are data there. */
  readonly isRaw: boolean;
}

/** Nothing is known of it: objects merge, lists are replaced. */
const UNKNOWN: MemberShape = {
  shape: { member: () => UNKNOWN },
  strategy: undefined,
  mergeKey: undefined,
  isRaw: false,
};

const known = new WeakMap<Types, Map<string, Shape>>();

/** The shape of a declared type; kept for as long as the types are. */
export function shapeOf(types: Types, typeKey: string): Shape {
  let shapes = known.get(types);
  if (shapes === undefined) {
    shapes = new Map();
    known.set(types, shapes);
  }
  const present = shapes.get(typeKey);
  if (present !== undefined) return present;
  const declaration = types.get(typeKey);
  if (declaration === undefined || hasOtherForm(declaration)) return UNKNOWN.shape;
  const made = structShape(types, flattenedFields(types, declaration));
  shapes.set(typeKey, made);
  return made;
}

const hasOtherForm = ({ scalar, listOf, jsonForm }: TypeDeclaration): boolean =>
  scalar !== undefined || listOf !== undefined || jsonForm !== undefined;

/** Shapes of members are made when they are met: types may contain themselves. */
function structShape(types: Types, fields: readonly FieldDeclaration[]): Shape {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const members = new Map<string, MemberShape>();
  return {
    member(name) {
      const present = members.get(name);
      if (present !== undefined) return present;
      const field = byName.get(name);
      if (field === undefined) return UNKNOWN; // and not kept: names are the client's
      const made = memberShape(types, field);
      members.set(name, made);
      return made;
    },
  };
}

function memberShape(types: Types, field: FieldDeclaration): MemberShape {
  const { type, map, list, patchStrategy, patchMergeKey } = field;
  const isRaw = type === 'rawJSON' || types.get(type)?.scalar === 'rawJSON';
  const value = shapeOf(types, type);
  const entry: MemberShape = { shape: value, strategy: undefined, mergeKey: undefined, isRaw };
  return {
    shape: map === true ? { member: () => entry } : value,
    strategy: patchStrategy,
    mergeKey: patchMergeKey,
    isRaw: isRaw && map !== true && list !== true,
  };
}
