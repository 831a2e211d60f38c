import { facet, type Field, type Type } from '../types/graph.js';

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

/** The shape of a declared type. */
export const shapeOf = facet((type): Shape => (type.form === 'struct' ? structShape(type) : UNKNOWN.shape));

/** Shapes of members are made when they are met: types may contain themselves. */
function structShape(type: Type): Shape {
  const members = new Map<string, MemberShape>();
  return {
    member(name) {
      const present = members.get(name);
      if (present !== undefined) return present;
      const field = type.field(name);
      if (field === undefined) return UNKNOWN; // and not kept: names are the client's
      const made = memberShape(field);
      members.set(name, made);
      return made;
    },
  };
}

function memberShape({ type, holds, declaration: { patchStrategy, patchMergeKey } }: Field): MemberShape {
  const isRaw = type.scalar === 'rawJSON';
  const value = shapeOf(type);
  const entry: MemberShape = { shape: value, strategy: undefined, mergeKey: undefined, isRaw };
  return {
    shape: holds === 'map' ? { member: () => entry } : value,
    strategy: patchStrategy,
    mergeKey: patchMergeKey,
    isRaw: isRaw && holds === 'one',
  };
}
