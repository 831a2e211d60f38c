import { getOwn, isJsonObject } from '../../machinery/meta/own.js';
import type { Path } from './paths.js';

type Values = readonly unknown[];
type Step = (values: Values) => Values;

/** Longest path, in characters, and most values that one leads to: paths are written by others. */
const MOST_CHARACTERS = 4096;
const MOST_VALUES = 10_000;

const NONE: Values = [];
const compiled = new Map<string, Path>();
/** Paths that are kept compiled: as many as a thousand definitions have. */
const MOST_KEPT = 10_000;

/** A path that leads nowhere. */
const NOWHERE: Path = { first: () => undefined, all: () => NONE };

/** The path of a definition's column. One that is none leads nowhere: it was stored before that was asked. */
export function jsonPathOf(text: string): Path {
  let path = compiled.get(text);
  if (path !== undefined) return path;
  try {
    path = compileJsonPath(text);
  } catch {
    path = NOWHERE;
  }
  if (compiled.size >= MOST_KEPT) compiled.clear();
  compiled.set(text, path);
  return path;
}

/**
 * A path such as `.status.conditions[?(@.type=="Ready")].status`: members (dots in names are escaped by a backslash),
 * places and ranges of lists, `*`, `..`, several names or places, and filters that compare with a constant.
 *
 * @throws {Error} In a few words, where it is none.
 */
export function compileJsonPath(text: string): Path {
  if (text.length > MOST_CHARACTERS) throw new Error(`it has more than ${MOST_CHARACTERS} characters`);
  const steps = new Reader(text).steps();
  const all = (root: unknown): Values => {
    let values: Values = [root];
    for (const step of steps) values = step(values).slice(0, MOST_VALUES);
    return values;
  };
  const first = (root: unknown): unknown => all(root).find((value) => value !== undefined && value !== null);
  return { all, first };
}

const each =
  (find: (value: unknown) => Values): Step =>
  (values) =>
    values.flatMap((value) => find(value));

const given = (value: unknown): Values => (value === undefined ? NONE : [value]);

const member =
  (name: string) =>
  (value: unknown): Values =>
    isJsonObject(value) ? given(getOwn(value, name)) : NONE;

const childrenOf = (value: unknown): Values => {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : NONE;
};

const place =
  (index: number) =>
  (value: unknown): Values =>
    Array.isArray(value) ? given(value.at(index)) : NONE;

function range(from: number | undefined, to: number | undefined, by = 1) {
  return (value: unknown): Values => {
    if (!Array.isArray(value) || by < 1) return NONE;
    return value.slice(from ?? 0, to ?? value.length).filter((_, i) => i % by === 0);
  };
}

/** A value and all that is in it, as deep as bodies may nest. */
function descendants(value: unknown, found: unknown[] = []): unknown[] {
  if (found.length >= MOST_VALUES) return found;
  found.push(value);
  for (const child of childrenOf(value)) descendants(child, found);
  return found;
}

type Compare = (left: unknown, right: unknown) => boolean;

const ordered =
  (holds: (order: number) => boolean): Compare =>
  (left, right) => {
    if (typeof left === 'number' && typeof right === 'number') return holds(left - right);
    if (typeof left !== 'string' || typeof right !== 'string') return false;
    return holds(left < right ? -1 : left > right ? 1 : 0);
  };

const COMPARISONS: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ['==', (left, right) => left === right],
  ['!=', (left, right) => left !== right],
  ['<=', ordered((order) => order <= 0)],
  ['>=', ordered((order) => order >= 0)],
  ['<', ordered((order) => order < 0)],
  ['>', ordered((order) => order > 0)],
]);

const NAME = /(?:\\.|[^\s.[\]{}'"\\()])+/y;
const QUOTED = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/y;
const SLICE = /(-?\d+)?:(-?\d+)?(?::(\d+))?/y;
const INTEGER = /-?\d+/y;
const FILTER =
  /\?\(\s*(@[^=!<>]*?)\s*(?:(==|!=|<=|>=|<|>)\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false)\s*)?\)/y;

const unescaped = (text: string): string => text.replaceAll(/\\(.)/g, '$1');

/** Reads a path from left to right. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  steps(): Step[] {
    const steps: Step[] = [];
    if (!this.#text.startsWith('.') && !this.#text.startsWith('[')) steps.push(this.#named());
    while (this.#at < this.#text.length) {
      if (this.#skip('..')) {
        steps.push(each((value) => descendants(value)));
        if (!this.#text.startsWith('[', this.#at)) steps.push(this.#named());
      } else if (this.#skip('.')) {
        if (this.#at < this.#text.length || steps.length > 0) {
          if (!this.#text.startsWith('[', this.#at)) steps.push(this.#named());
        }
      } else if (this.#skip('[')) steps.push(this.#bracketed());
      else throw this.#wrong();
    }
    return steps;
  }

  #wrong(): Error {
    return new Error(`not a path at character ${this.#at}`);
  }

  #skip(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    const sticky = new RegExp(pattern);
    sticky.lastIndex = this.#at;
    const match = sticky.exec(this.#text);
    if (match === null) return undefined;
    this.#at = sticky.lastIndex;
    return match;
  }

  #named(): Step {
    if (this.#skip('*')) return each(childrenOf);
    const [name] = this.#match(NAME) ?? [];
    if (name === undefined) throw this.#wrong();
    return each(member(unescaped(name)));
  }

  #bracketed(): Step {
    const finders: ((value: unknown) => Values)[] = [];
    do {
      this.#match(/\s*/y);
      finders.push(this.#choice());
      this.#match(/\s*/y);
    } while (this.#skip(','));
    if (!this.#skip(']')) throw this.#wrong();
    return each((value) => finders.flatMap((find) => find(value)));
  }

  #choice(): (value: unknown) => Values {
    if (this.#skip('*')) return childrenOf;
    const quoted = this.#match(QUOTED);
    if (quoted !== undefined) return member(unescaped(quoted[1] ?? quoted[2] ?? ''));
    const filter = this.#match(FILTER);
    if (filter !== undefined) return filtered(filter);
    const slice = this.#match(SLICE);
    if (slice !== undefined) {
      const [from, to, by] = slice
        .slice(1)
        .map((it: string | undefined) => (it === undefined ? undefined : Number(it)));
      return range(from, to, by);
    }
    const [index] = this.#match(INTEGER) ?? [];
    if (index === undefined) throw this.#wrong();
    return place(Number(index));
  }
}

function filtered([, left = '', operator, right]: RegExpExecArray): (value: unknown) => Values {
  const path = left === '@' ? undefined : compileJsonPath(left.slice(1));
  const valueOf = (item: unknown): unknown => (path === undefined ? item : path.all(item)[0]);
  if (operator === undefined || right === undefined)
    return (value) => childrenOf(value).filter((it) => valueOf(it) !== undefined);
  const constant = constantOf(right);
  const compare = COMPARISONS.get(operator);
  return (value) => childrenOf(value).filter((it) => compare?.(valueOf(it), constant) === true);
}

const constantOf = (text: string): unknown =>
  /^['"]/.test(text) ? unescaped(text.slice(1, -1)) : (JSON.parse(text) as unknown);
