import { FlagError } from '../../machinery/flags/flags.js';

interface Choosable {
  readonly name: string;
  readonly isOnByDefault: boolean;
}

/**
 * The entries that `--controllers` means. `-name` counts wherever it stands; `*` are those that run by default, `-*` is none
 * of them, and a name one whether it does or not.
 *
 * @throws {FlagError} for a name that no entry has
 */
export function chosen<E extends Choosable>(words: readonly string[], entries: readonly E[]): readonly E[] {
  const known = new Set(['*', ...entries.map(({ name }) => name)]);
  const unknown = words.find((word) => !known.has(word.replace(/^-/, '')));
  if (unknown !== undefined) {
    throw new FlagError(`--controllers: there is no controller "${unknown.replace(/^-/, '')}"`);
  }
  const said = new Set(words);
  const isAll = said.has('*') && !said.has('-*');
  return entries.filter(
    ({ name, isOnByDefault }) => !said.has(`-${name}`) && (said.has(name) || (isAll && isOnByDefault)),
  );
}
