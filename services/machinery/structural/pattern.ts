import { createRequire } from 'node:module';
import { LRUCache } from 'lru-cache';
import type * as Re2 from 're2js';

const require = createRequire(import.meta.url);

/** Loaded when the first definition with a pattern comes: a server without any starts sooner. */
const compile = (source: string): Re2.RE2JS => (require('re2js') as typeof Re2).RE2JS.compile(source);

/** A regular expression without back-references: matching takes time that is linear in the text. */
export interface Pattern {
  readonly source: string;
  /** Whether it is found anywhere in the text. */
  test(text: string): boolean;
}

/**
 * Compiled at the first text, for most definitions have patterns that few objects are asked about.
 *
 * @param source In the syntax of RE2; one that is wrong matches nothing.
 */
export function pattern(source: string): Pattern {
  let compiled: Re2.RE2JS | undefined;
  return {
    source,
    test(text) {
      if (compiled === undefined && whatIsWrong(source) !== undefined) return false;
      return (compiled ??= compile(source)).matcher(text).find();
    },
  };
}

/** Longest expression, in characters: what it is compiled to grows with it. */
const MOST_CHARACTERS = 64 * 1024;

/** What was found of texts, '' for those that are right: a definition has the same few patterns in hundreds of places. */
const known = new LRUCache<string, string>({
  max: 1000,
  maxSize: 4 * MOST_CHARACTERS,
  sizeCalculation: ({ length }, source) => length + source.length + 1,
});

/** Why a text is no regular expression of RE2; undefined for one that is. */
export function whatIsWrong(source: string): string | undefined {
  if (source.length > MOST_CHARACTERS) return `it has more than ${MOST_CHARACTERS} characters`;
  let why = known.get(source);
  if (why === undefined) known.set(source, (why = problemOf(source)));
  return why === '' ? undefined : why;
}

function problemOf(source: string): string {
  try {
    compile(source);
    return '';
  } catch (err) {
    return (err as Error).message;
  }
}
