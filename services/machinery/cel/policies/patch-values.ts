import type { Json } from '../../meta/object.js';
import { setOwn } from '../../meta/own.js';
import { CelMap, isList, typeNameOf, Uint, type Value } from '../values.js';
import { APPLIED_TYPE } from '../libraries/patches.js';

/** A value that is no JSON, or is made of types that do not belong where they are. */
export class PatchValueError extends Error {
  override readonly name = 'PatchValueError';
}

/** The object that an expression gives to lay over another. @throws {PatchValueError} */
export function appliedObject(value: Value): Json {
  if (!(value instanceof CelMap) || value.typeName !== APPLIED_TYPE.name) {
    throw new PatchValueError(`unsupported return type from ApplyConfiguration expression: ${typeNameOf(value)}`);
  }
  checkTypes(value);
  return jsonOf(value);
}

/** The operations of a JSON patch that an expression gives. @throws {PatchValueError} */
export function patchOperations(value: Value): readonly Json[] {
  const list = isList(value) ? value : [];
  return list.map((operation) => {
    const op = operation instanceof CelMap ? operation : CelMap.of([]);
    const from = textOf(op.get('from'));
    const given = { op: textOf(op.get('op')), path: textOf(op.get('path')), ...(from === '' ? {} : { from }) };
    const member = op.get('value');
    if (member === undefined) return given;
    checkTypes(member);
    return { ...given, value: jsonOf(member) };
  });
}

const textOf = (value: Value | undefined): string => (typeof value === 'string' ? value : '');

/** @throws {PatchValueError} */
function checkTypes(value: Value): void {
  const path = value instanceof CelMap ? (value.typeName ?? '') : '';
  const wrong = path === '' ? [] : mismatches(value, path);
  if (wrong.length > 0) throw new PatchValueError(`type mismatch: ${wrong.join('\n')}`);
}

/** Types are called by the way to where their values are; lists and maps on it have no names. */
function mismatches(value: Value, path: string): readonly string[] {
  if (isList(value)) return value.flatMap((item) => mismatches(item, path));
  if (!(value instanceof CelMap)) return [];
  const { typeName } = value;
  const inner = [...value.entries()].flatMap(([key, member]) =>
    mismatches(member, typeName === undefined ? path : `${path}.${key as string}`),
  );
  if (typeName === undefined || typeName === path) return inner;
  const why = `unexpected type name "${typeName}", expected "${path}", which matches field name path from root Object type`;
  return [why, ...inner];
}

/** @throws {PatchValueError} */
function jsonOf(value: Value): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string')
    return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (isList(value)) return value.map(jsonOf);
  if (!(value instanceof CelMap)) throw new PatchValueError(`a value of type ${typeNameOf(value)} has no form in JSON`);
  const object = {};
  for (const [key, member] of value.entries()) {
    if (typeof key !== 'string') throw new PatchValueError(`map key of type ${typeNameOf(key)}, not string`);
    setOwn(object, key, jsonOf(member));
  }
  return object;
}
