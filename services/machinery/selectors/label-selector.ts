import type { StatusError } from '../meta/status.js';
import { badRequest } from '../meta/status.js';
import type { Token } from './lexer.js';
import { Lexer } from './lexer.js';
import type { Labels, Operator, Requirement } from './requirement.js';
import { checkKey, requirement } from './requirement.js';

/** Bounds of a selector: each object of a list is held against all of it. */
const MAX_LENGTH = 64 * 1024;
const MAX_REQUIREMENTS = 1000;

export interface LabelSelector {
  /** Selects everything: no need to ask `matches`. */
  readonly empty: boolean;
  readonly requirements: readonly Requirement[];
  matches(labels: Labels): boolean;
  /** One text for all selectors that ask the same. */
  toString(): string;
}

export const EVERY_LABEL: LabelSelector = {
  empty: true,
  requirements: [],
  matches: () => true,
  toString: () => '',
};

/** The meaning of an absent selector object. */
export const NO_LABEL: LabelSelector = {
  empty: false,
  requirements: [],
  matches: () => false,
  toString: () => '<none>',
};

function selectorOf(requirements: readonly Requirement[]): LabelSelector {
  if (requirements.length === 0) return EVERY_LABEL;
  if (requirements.length > MAX_REQUIREMENTS)
    throw badRequest(`a selector has at most ${MAX_REQUIREMENTS} requirements`);
  const unique = [...new Map(requirements.map((r) => [r.text, r])).values()];
  const sorted = unique.sort((a, b) => (a.key === b.key ? order(a.text, b.text) : order(a.key, b.key)));
  const text = sorted.map((r) => r.text).join(',');
  const tests = sorted.map((r) => r.matches);
  const [only] = tests;
  return {
    empty: false,
    requirements: sorted,
    matches: only !== undefined && tests.length === 1 ? only : (labels) => tests.every((test) => test(labels)),
    toString: () => text,
  };
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Reads the text form: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1,m<2`.
 *
 * @throws {StatusError} BadRequest.
 */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === '') return EVERY_LABEL;
  if (text.length > MAX_LENGTH) throw badRequest(`a label selector has at most ${MAX_LENGTH} characters`);
  const lexer = new Lexer(text);
  const requirements: Requirement[] = [];
  for (;;) {
    const first = lexer.peek();
    if (first.kind === 'end') return selectorOf(requirements);
    if (!startsRequirement(first)) throw unexpected(first, "!, identifier, or 'end of string'");
    requirements.push(parseRequirement(lexer));
    const separator = lexer.take();
    if (separator.kind === 'end') return selectorOf(requirements);
    if (separator.kind !== ',') throw unexpected(separator, "',' or 'end of string'");
    if (!startsRequirement(lexer.peek())) throw unexpected(lexer.peek(), "identifier after ','");
  }
}

/** `in` and `notin` are words like any other where no operator can stand. */
const isWord = ({ kind }: Token): boolean => kind === 'identifier' || kind === 'in' || kind === 'notin';
const startsRequirement = (token: Token): boolean => isWord(token) || token.kind === '!';

const found = ({ text }: Token, expected: string): string => `found '${text.slice(0, 256)}', expected: ${expected}`;
const unexpected = (token: Token, expected: string): StatusError => badRequest(found(token, expected));
const unparsable = (token: Token, expected: string): StatusError =>
  badRequest(`unable to parse requirement: ${found(token, expected)}`);

interface Form {
  readonly operator: Operator;
  readonly values: (lexer: Lexer) => readonly string[];
}

/** Operators between a key and its values, in the order that a refusal names them in. */
const BINARY: ReadonlyMap<string, Form> = new Map<string, Form>([
  ['in', { operator: 'in', values: parseValues }],
  ['notin', { operator: 'notin', values: parseValues }],
  ['=', { operator: 'in', values: parseExactValue }],
  ['==', { operator: 'in', values: parseExactValue }],
  ['!=', { operator: 'notin', values: parseExactValue }],
  ['>', { operator: 'gt', values: parseExactValue }],
  ['<', { operator: 'lt', values: parseExactValue }],
]);
const BINARY_NAMES = 'in, notin, =, ==, !=, gt, lt';

function parseRequirement(lexer: Lexer): Requirement {
  const isNegated = lexer.peek().kind === '!';
  if (isNegated) lexer.take();
  const key = lexer.take();
  if (!isWord(key)) throw unparsable(key, 'identifier');
  checkKey(key.text);
  if (isNegated) return requirement(key.text, '!', []);
  const { kind } = lexer.peek();
  if (kind === 'end' || kind === ',') return requirement(key.text, 'exists', []);
  const operator = lexer.take();
  const form = BINARY.get(operator.kind);
  if (form === undefined) throw unparsable(operator, BINARY_NAMES);
  return requirement(key.text, form.operator, form.values(lexer));
}

/** A value may be left out: `a=` asks for an empty one. */
function parseExactValue(lexer: Lexer): readonly string[] {
  const { kind } = lexer.peek();
  if (kind === 'end' || kind === ',') return [''];
  const value = lexer.take();
  if (!isWord(value)) throw unparsable(value, 'identifier');
  return [value.text];
}

/** Values in parentheses; nothing between two commas is the empty value. */
function parseValues(lexer: Lexer): readonly string[] {
  const opening = lexer.take();
  if (opening.kind !== '(') throw unparsable(opening, "'('");
  const values: string[] = [];
  if (lexer.peek().kind === ')') {
    lexer.take();
    return values;
  }
  for (;;) {
    values.push(isWord(lexer.peek()) ? lexer.take().text : '');
    const separator = lexer.take();
    if (separator.kind === ')') return values;
    if (separator.kind !== ',') throw unparsable(separator, "',' or ')'");
  }
}

/** The selector inside objects. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

const OBJECT_OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/**
 * The object form. Absent it selects nothing, empty everything.
 *
 * @throws {StatusError} BadRequest.
 */
export function labelSelectorOf(object: LabelSelectorObject | null | undefined): LabelSelector {
  if (object === null || object === undefined) return NO_LABEL;
  const { matchLabels = {}, matchExpressions = [] } = object;
  return selectorOf([
    ...Object.entries(matchLabels).map(([key, value]) => requirement(key, 'in', [value])),
    ...matchExpressions.map(({ key, operator, values = [] }) => {
      const known = OBJECT_OPERATORS.get(operator);
      if (known === undefined) throw badRequest(`${JSON.stringify(operator)} is not a valid label selector operator`);
      return requirement(key, known, values);
    }),
  ]);
}
