import { StatusError, badRequest } from '../meta/status.js';
import type { SelectableField } from '../types/declarations.js';

const MAX_LENGTH = 64 * 1024;
const MAX_TERMS = 100;
const NAME = 'metadata.name';
const NAMESPACE = 'metadata.namespace';

export interface FieldTerm {
  readonly key: string;
  readonly operator: '=' | '!=';
  /** Without its escapes. */
  readonly value: string;
}

/**
 * Reads `key=value,other!=value`; `==` is `=`. In values, `\`, `,` and `=` are written with a backslash before them.
 * White space is part of keys and values.
 *
 * @returns Terms in the order of their text; empty terms are skipped.
 * @throws {StatusError} BadRequest.
 */
export function parseFieldSelector(text: string): readonly FieldTerm[] {
  if (text === '') return [];
  if (text.length > MAX_LENGTH) throw badRequest(`a field selector has at most ${MAX_LENGTH} characters`);
  const parts = splitTerms(text).filter((part) => part !== '');
  if (parts.length > MAX_TERMS) throw badRequest(`a field selector has at most ${MAX_TERMS} terms`);
  return parts.sort().map((part) => parseTerm(text, part));
}

/** At commas without a backslash before them. A backslash escapes whatever follows, itself included. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === ',') {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

const TERM = /^([^=]*?)(!=|==|=)(.*)$/s;

function parseTerm(selector: string, part: string): FieldTerm {
  const match = TERM.exec(part);
  if (match === null) {
    throw badRequest(`invalid selector: '${selector.slice(0, 256)}'; can't understand '${part.slice(0, 256)}'`);
  }
  const [, key = '', operator, value = ''] = match;
  return { key, operator: operator === '!=' ? '!=' : '=', value: unescaped(value) };
}

function unescaped(text: string): string {
  let value = '';
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i);
    if (c === ',' || c === '=') throw badRequest(`invalid field selector: unescaped character in value: ${c}`);
    if (c !== '\\') {
      value += c;
      continue;
    }
    const escaped = text.charAt(++i);
    if (escaped === '' || !'\\,='.includes(escaped)) {
      throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`);
    }
    value += escaped;
  }
  return value;
}

export interface FieldSelector {
  readonly empty: boolean;
  /** @param valueOf Reads the value of a selectable key from an object; what is absent reads as its declaration says. */
  matches(valueOf: (key: string) => string): boolean;
  /** The one name that can match, when the selector asks for one: the list is a get then. */
  exactName(): string | undefined;
  exactNamespace(): string | undefined;
  /** One text for all selectors that ask the same. */
  toString(): string;
}

/**
 * @param resourceLabel Names the resource in the details of a refusal.
 * @throws {StatusError} BadRequest for a key that the resource does not select by.
 */
export function compileFieldSelector(
  terms: readonly FieldTerm[],
  selectableFields: readonly SelectableField[],
  resourceLabel: string,
): FieldSelector {
  const supported = new Set(selectableFields.map((f) => f.key));
  for (const { key } of terms) if (!supported.has(key)) throw notSupported(key, supported, resourceLabel);
  const exact = (key: string): string | undefined =>
    terms.find((t) => t.key === key && t.operator === '=' && t.value !== '')?.value;
  const text = [...new Set(terms.map((t) => `${t.key}${t.operator}${escaped(t.value)}`))].sort().join(',');
  return {
    empty: terms.length === 0,
    matches: (valueOf) => terms.every(({ key, operator, value }) => (valueOf(key) === value) === (operator === '=')),
    exactName: () => exact(NAME),
    exactNamespace: () => exact(NAMESPACE),
    toString: () => text,
  };
}

const escaped = (value: string): string => value.replace(/[\\,=]/g, '\\$&');

/** Two wordings, as clients know them: for resources with keys of their own, and for those without. */
function notSupported(key: string, supported: ReadonlySet<string>, resourceLabel: string): StatusError {
  const shown = key.length > 256 ? `${key.slice(0, 256)}...` : key;
  const hasOwnKeys = [...supported].some((k) => k !== NAME && k !== NAMESPACE);
  const message = hasOwnKeys
    ? `field label not supported: ${shown}`
    : `${JSON.stringify(shown)} is not a known field selector: only "${NAME}", "${NAMESPACE}"`;
  const cause = `${resourceLabel} selects by ${[...supported].join(', ')}`;
  return new StatusError('BadRequest', message, {
    details: { causes: [{ reason: 'FieldValueNotSupported', message: cause, field: 'fieldSelector' }] },
  });
}
