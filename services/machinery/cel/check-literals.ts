import type { Expr } from './ast.js';
import { regularExpression } from './libraries/expressions.js';
import { parseDuration, parseTimestamp } from './libraries/times.js';
import { CelError } from './values.js';

/** Functions that read a text in a language of its own: which argument it is, and what reads it. */
const READERS: ReadonlyMap<string, { readonly argument: number; readonly read: (text: string) => unknown }> = new Map([
  ['duration', { argument: 0, read: parseDuration }],
  ['timestamp', { argument: 0, read: parseTimestamp }],
  ['matches', { argument: 1, read: regularExpression }],
]);

/** A text that is written in a call, and that the function would not be able to read. */
export function unreadable(
  name: string,
  args: readonly Expr[],
): { readonly at: number; readonly why: string } | undefined {
  const reader = READERS.get(name);
  const arg = reader === undefined ? undefined : args[reader.argument];
  if (reader === undefined || arg?.kind !== 'literal' || arg.value.type !== 'string') return undefined;
  try {
    reader.read(arg.value.value);
    return undefined;
  } catch (err) {
    if (err instanceof CelError) return { at: arg.at, why: `invalid ${name} argument` };
    throw err;
  }
}
