import type { FlagTypes } from '../flags/flags.js';

type Options = object;

/** Some plugins hold what has to be closed. */
interface Closable {
  readonly close?: () => Promise<void> | void;
}

/**
 * One line of a table of what a process can do, e.g. of its authenticators. A table is read once, at the start.
 *
 * @typeParam O The options of the process. @typeParam D Dependencies of every entry of the table.
 */
export interface Plugin<O extends Options, D, T> {
  /** No other entry of the table has it. */
  readonly name: string;
  /** The option that turns the plugin on by being set. Absent: `open` decides alone. */
  readonly flag?: keyof O & string;
  /** @returns undefined: not with these options. @throws {Error} In one line, for files that cannot be used. */
  readonly open: (o: O, d: D) => Promise<T | undefined> | T | undefined;
}

/** Whether an option has been given a value: not false, 0 or empty. */
export function isSet<O extends Options>(o: O, key: keyof O): boolean {
  const value = o[key] as FlagTypes[keyof FlagTypes] | undefined;
  if (Array.isArray(value)) return value.length > 0;
  return value instanceof Map ? value.size > 0 : Boolean(value);
}

/** Whether the options turn a plugin on, as far as its flag says. */
export const isWanted = <O extends Options>(o: O, { flag }: Pick<Plugin<O, never, unknown>, 'flag'>): boolean =>
  flag === undefined || isSet(o, flag);

/**
 * Opens those that the options want, one after the other.
 *
 * @returns By name, in the order of the table.
 * @throws {Error} for two of one name; of an entry that cannot be opened, after those before it were closed
 */
export async function openPlugins<O extends Options, D, T>(
  table: readonly Plugin<O, D, T>[],
  o: O,
  d: D,
): Promise<ReadonlyMap<string, T>> {
  const names = new Set(table.map(({ name }) => name));
  if (names.size < table.length) throw new Error('Two plugins of a table have the same name');
  const opened = new Map<string, T>();
  try {
    for (const plugin of table) {
      const made = isWanted(o, plugin) ? await plugin.open(o, d) : undefined;
      if (made !== undefined) opened.set(plugin.name, made);
    }
    return opened;
  } catch (err) {
    for (const made of opened.values()) await (made as Closable).close?.();
    throw err;
  }
}
