import type { Library } from '../functions.js';
import { DYN, STRING, type CelType, type ObjectType } from '../types.js';

/** Any member, of any type. */
class AnyMembers extends Map<string, CelType> {
  override get(): CelType {
    return DYN;
  }
}

const anyMembers = new AnyMembers();
const OPERATION = new Map<string, CelType>([
  ['op', STRING],
  ['path', STRING],
  ['from', STRING],
  ['value', DYN],
]);

export const JSON_PATCH_TYPE: ObjectType = { kind: 'object', name: 'JSONPatch', fields: () => OPERATION };
export const APPLIED_TYPE: ObjectType = { kind: 'object', name: 'Object', fields: () => anyMembers };

/** The types of which patches make values: operations, and objects by the paths of their fields. */
export function patchTypes(name: string): ObjectType | undefined {
  if (name === JSON_PATCH_TYPE.name) return JSON_PATCH_TYPE;
  if (name !== APPLIED_TYPE.name && !name.startsWith(`${APPLIED_TYPE.name}.`)) return undefined;
  return { ...APPLIED_TYPE, name };
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['~', '~0'],
  ['/', '~1'],
]);

/** Functions that patches have beside those that all expressions have. */
export const PATCHES: Library = {
  '"jsonpatch".escapeKey(string): string': ([key]) =>
    (key as string).replaceAll(/[~/]/g, (it) => ESCAPES.get(it) ?? it),
};
