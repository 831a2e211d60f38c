import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import type { Library, Run } from '../functions.js';
import { CelError, type Value } from '../values.js';

const require = createRequire(import.meta.url);

/** Expressions that are kept compiled. */
const MOST_KEPT = 1_000;
const compiled = new Map<string, Re2.RE2JS>();

/** Kept compiled. @throws {CelError} */
export function regularExpression(source: string): Re2.RE2JS {
  let found = compiled.get(source);
  if (found !== undefined) return found;
  try {
    found = (require('re2js') as typeof Re2).RE2JS.compile(source);
  } catch (err) {
    throw new CelError((err as Error).message);
  }
  if (compiled.size >= MOST_KEPT) compiled.clear();
  compiled.set(source, found);
  return found;
}

const text = (value: Value | undefined): string => value as string;

/** Characters from which on each costs ten times as much: one match cannot be interrupted. */
const LONG = 10_000;
/** Of one match that is kept, in steps. */
const MATCH_COST = 50;

/** Time is linear in the text, times the length of the expression. */
function matcher(args: readonly Value[], meter: { spend(cost: number): void }): Re2.Matcher {
  const [subject, source] = [text(args[0]), text(args[1])];
  const characters = subject.length / 10 + Math.max(0, subject.length - LONG);
  meter.spend((characters + 1) * (source.length / 4 + 1));
  return regularExpression(source).matcher(subject);
}

export const matches: Run = (args, meter) => matcher(args, meter).find();

function all(args: readonly Value[], most: number, meter: { spend(cost: number): void }): Value {
  const found: string[] = [];
  const it = matcher(args, meter);
  while ((most < 0 || found.length < most) && it.find()) {
    meter.spend(MATCH_COST);
    found.push(it.group() ?? '');
  }
  return found;
}

/** Functions that find what expressions match. */
export const EXPRESSIONS: Library = {
  'string.find(string): string': (args, meter) => {
    const it = matcher(args, meter);
    return it.find() ? (it.group() ?? '') : '';
  },
  'string.findAll(string): list<string>': (args, meter) => all(args, -1, meter),
  'string.findAll(string, int): list<string>': (args, meter) => all(args, Number(args[2]), meter),
};
