import { isJsonObject } from '../meta/own.js';

/** What a path element is, by its first letter. */
export const FIELD = 'f:';
const KEY = 'k:';
const VALUE = 'v:';
const INDEX = 'i:';
const COLON = 0x3a;

export const UNKNOWN_ELEMENT = '?';

type Scalar = string | number | boolean | null;
const isScalar = (value: unknown): value is Scalar => value === null || typeof value !== 'object';

/** The item of a set. */
export const valueElement = (value: unknown): string => VALUE + JSON.stringify(value);

/** The item of a list with keys. @param keys Sorted by name. */
export function keyElement(keys: readonly (readonly [string, unknown])[]): string {
  let text = '';
  for (const [name, value] of keys) {
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`;
  }
  return `${KEY}{${text}}`;
}

/** Keys and values that are sure to be written as we would, which nearly all are: not parsed. */
const PLAIN_SCALAR = String.raw`(?:"[^"\\\u0000-\u001f\ud800-\udfff]*"|0|-?[1-9]\d{0,14}|true|false)`;
const PLAIN_VALUE = new RegExp(`^v:${PLAIN_SCALAR}$`);
const PLAIN_KEY = new RegExp(String.raw`^k:\{"([\w-]+)":${PLAIN_SCALAR}(?:,"([\w-]+)":${PLAIN_SCALAR})?\}$`);

/**
 * The element as it is written here: keys sorted, JSON compact.
 *
 * @returns UNKNOWN_ELEMENT for a kind of element that does not exist (yet); undefined for what is none at all.
 */
export function canonicalElement(text: string): string | undefined {
  if (text.charCodeAt(1) !== COLON) return undefined;
  if (text.startsWith(FIELD)) return text;
  if (text.startsWith(KEY)) return canonicalKey(text);
  if (text.startsWith(VALUE)) return canonicalValue(text);
  if (text.startsWith(INDEX)) return /^i:(?:0|-?[1-9]\d{0,14})$/.test(text) ? text : undefined;
  return UNKNOWN_ELEMENT;
}

function canonicalKey(text: string): string | undefined {
  const plain = PLAIN_KEY.exec(text);
  if (plain !== null) {
    const [, first = '', second] = plain;
    if (second === undefined || first < second) return text;
  }
  const keys = parsed(text);
  if (!isJsonObject(keys)) return undefined;
  const entries = Object.entries(keys);
  if (entries.length === 0 || !entries.every(([, value]) => isScalar(value))) return undefined;
  return keyElement(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function canonicalValue(text: string): string | undefined {
  if (PLAIN_VALUE.test(text)) return text;
  const value = parsed(text);
  return value !== undefined && isScalar(value) ? valueElement(value) : undefined;
}

/** The JSON behind the prefix; undefined when it is none, or more than an object of scalars. */
function parsed(element: string): unknown {
  if (!isFlat(element)) return undefined;
  try {
    return JSON.parse(element.slice(2));
  } catch {
    return undefined; // what a client wrote there is no JSON: said by the result
  }
}

/** Deep nesting is slow to parse; what is looked for here has at most one bracket outside strings. */
function isFlat(text: string): boolean {
  let opened = 0;
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '\\' && isString) i++;
    else if (char === '"') isString = !isString;
    else if ((char === '[' || char === '{') && !isString && ++opened > 1) return false;
  }
  return true;
}

/** A path as messages show it, e.g. `.spec.template.spec.containers[name="c"].image`. */
export const printPath = (path: readonly string[]): string => path.map(printElement).join('');

export function printElement(element: string): string {
  const rest = element.slice(2);
  if (element.startsWith(FIELD)) return `.${rest}`;
  if (element.startsWith(VALUE)) return `[=${rest}]`;
  const keys = element.startsWith(KEY) ? parsed(element) : undefined;
  if (!isJsonObject(keys)) return `[${rest}]`;
  const shown = Object.entries(keys).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `[${shown.join(',')}]`;
}
