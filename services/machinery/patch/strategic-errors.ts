import type { Json } from '../meta/object.js';
import { StatusError, badRequest } from '../meta/status.js';

const SHOWN = 256;

/** The way that clients see values in these messages: `map[image:nginx ports:[80]]`. Cut off where it gets long. */
function shown(value: Json | undefined): string {
  const parts: string[] = [];
  let length = 0;
  const add = (text: string): void => {
    if (length > SHOWN) return;
    parts.push(text);
    length += text.length;
  };
  const write = (node: Json | undefined): void => {
    if (length > SHOWN) return;
    if (node === null || node === undefined) add('<nil>');
    else if (typeof node !== 'object') add(String(node).slice(0, SHOWN));
    else if (Array.isArray(node)) writeList(node as readonly Json[]);
    else writeMap(node as Readonly<Record<string, Json>>);
  };
  const writeList = (list: readonly Json[]): void => {
    add('[');
    for (const [i, item] of list.slice(0, SHOWN).entries()) {
      if (i > 0) add(' ');
      write(item);
    }
    add(']');
  };
  const writeMap = (map: Readonly<Record<string, Json>>): void => {
    add('map[');
    for (const [i, key] of Object.keys(map).sort().slice(0, SHOWN).entries()) {
      add(`${i > 0 ? ' ' : ''}${key.slice(0, SHOWN)}:`);
      write(map[key]);
    }
    add(']');
  };
  write(value);
  const text = parts.join('');
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}

const typeName = (value: Json | undefined): string => {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  return typeof value === 'number' ? 'float64' : typeof value === 'boolean' ? 'bool' : 'string';
};

const unprocessable = (message: string): StatusError => new StatusError('Invalid', message);

/** The refusals of strategic merge patches, in the words that clients know. */
export const refused = {
  directive: (directive: Json | undefined, map: Json): StatusError =>
    badRequest(`invalid patch: unknown patch type: ${shown(directive)} in map: ${shown(map)}`),
  listMerge: (): StatusError => badRequest('invalid patch: merging lists cannot yet be specified in the patch'),
  primitiveList: (): StatusError => badRequest('invalid patch format of primitive list'),
  elementOrder: (): StatusError => badRequest('invalid patch format of setElementOrder list'),
  retainKeys: (): StatusError => badRequest('invalid patch format of retainKeys'),
  orderMismatch: (patch: Json, order: Json): StatusError =>
    badRequest(`The order in patch list:\n${shown(patch)}\n doesn't match $setElementOrder list:\n${shown(order)}\n`),
  notAnObject: (value: Json): StatusError =>
    badRequest(`json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`),
  notAMap: (value: Json | undefined): StatusError =>
    badRequest(`invalid patch: expected a map[string]interface {}, but received a ${typeName(value)}`),
  mixedList: (lists: Json): StatusError =>
    badRequest(`invalid patch: list element types are not identical: ${shown(lists)}`),
  tooDeep: (most: number): StatusError => badRequest(`exceeded max depth ${most}`),
  tooLarge: (): StatusError => badRequest('invalid patch: it goes through the same lists too often'),
  listOfLists: (): StatusError => unprocessable('lists of lists are not supported'),
  noMergeKey: (map: Json, key: string): StatusError =>
    unprocessable(`map: ${shown(map)} does not contain declared merge key: ${key}`),
  noKeyDeclared: (): StatusError => unprocessable('cannot merge lists without merge key for type struct'),
} as const;

function jsonKind(value: Json): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value === 'boolean' ? 'bool' : typeof value;
}
