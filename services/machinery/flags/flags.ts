/** The type of a flag: the values that it takes, and the type of the option. */
export interface FlagTypes {
  readonly string: string;
  readonly int: number;
  /** Written with a point, `0.01`. */
  readonly decimal: number;
  readonly bool: boolean;
  /** In milliseconds; written `300ms`, `30s`, `5m`, `1h30m`. */
  readonly duration: number;
  /** Comma separated; the flag may be given several times. */
  readonly list: readonly string[];
  /** `key=value` pairs, comma separated; the flag may be given several times. A key alone means `true`. */
  readonly map: ReadonlyMap<string, string>;
}

interface FlagBase<T extends keyof FlagTypes> {
  /** Without the dashes. */
  readonly flag: string;
  /** A letter that stands for it after one dash: `-v=2`, `-v2`, `-v 2`. */
  readonly short?: string;
  readonly type: T;
  readonly help: string;
  /** As it would be written. Absent: empty, 0, false. */
  readonly default?: string;
  /** Shown in place of the value, e.g. `DIR`. */
  readonly metavar?: string;
  /** For numbers and durations, as it would be written. */
  readonly min?: string;
  readonly max?: string;
  /** The values that are allowed; for a list, its members. */
  readonly choices?: readonly string[];
  /** The release since which it should not be used, and what to do instead. */
  readonly deprecated?: { readonly since: string; readonly instead: string };
}
export type Flag = { readonly [T in keyof FlagTypes]: FlagBase<T> }[keyof FlagTypes];
export type FlagTable = Readonly<Record<string, Flag>>;
export type OptionsOf<T extends FlagTable> = { readonly [K in keyof T]: FlagTypes[T[K]['type']] };

/** A command line that cannot be used. Its message is one line for the user. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
}

export interface ParsedFlags<T extends FlagTable> {
  readonly options: OptionsOf<T>;
  /** One line for each deprecated flag that was used. */
  readonly warnings: readonly string[];
  /** Names (keys of the table) that the command line set. */
  readonly given: ReadonlySet<keyof T>;
}

/**
 * Parses `--name value`, `--name=value` and `--switch`.
 *
 * @throws {FlagError} for an unknown flag, a missing or wrong value, or a word that is no flag
 */
export function parseFlags<T extends FlagTable>(table: T, argv: readonly string[]): ParsedFlags<T> {
  const byName = new Map(Object.entries(table).map(([key, flag]) => [flag.flag, { key, flag }]));
  const byShort = new Map(Object.values<Flag>(table).map(({ short = '', flag }) => [short, flag]));
  const texts = new Map<string, string[]>();
  const warnings: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    const [name, value] = split(word, byShort);
    const entry = byName.get(name);
    if (entry === undefined) throw new FlagError(`Unknown flag: ${word}`);
    const text = value ?? (entry.flag.type === 'bool' ? 'true' : argv[++i]);
    if (text === undefined) throw new FlagError(`--${name} needs a value`);
    texts.set(entry.key, [...(texts.get(entry.key) ?? []), text]);
    const { deprecated } = entry.flag;
    if (deprecated !== undefined) {
      warnings.push(`--${name} is deprecated since ${deprecated.since}: ${deprecated.instead}`);
    }
  }
  const options = Object.fromEntries(
    Object.entries(table).map(([key, flag]) => [key, readValue(flag, texts.get(key))]),
  ) as unknown as OptionsOf<T>; // one entry for each of the table, of its type
  return { options, warnings, given: new Set(texts.keys()) };
}

/** The name of the flag in a word, and its value where the word has one. */
function split(word: string, byShort: ReadonlyMap<string, string>): readonly [name: string, value: string | undefined] {
  const [, letter = '', after = ''] = /^-([a-z])(?:=?(.*))$/s.exec(word) ?? [];
  const long = byShort.get(letter);
  if (letter !== '' && long !== undefined) return [long, after === '' ? undefined : after];
  const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
  return [name, value];
}

function readValue(flag: Flag, given: readonly string[] | undefined): FlagTypes[keyof FlagTypes] {
  const texts = given ?? (flag.default === undefined ? [] : [flag.default]);
  const last = texts.at(-1);
  for (const text of texts) checkChoice(flag, text);
  switch (flag.type) {
    case 'string':
      return last ?? '';
    case 'bool':
      return readBool(flag, last ?? 'false');
    case 'int':
      return readBounded(flag, last ?? '0', readInt);
    case 'decimal':
      return readBounded(flag, last ?? '0', readDecimal);
    case 'duration':
      return readBounded(flag, last ?? '0s', parseDuration);
    case 'list':
      return texts.flatMap(splitList);
    case 'map':
      return new Map(texts.flatMap(splitList).map((pair) => readPair(flag, pair)));
  }
}

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

function checkChoice(flag: Flag, text: string): void {
  const { choices } = flag;
  if (choices === undefined) return;
  if ((flag.type === 'list' ? splitList(text) : [text]).every((one) => choices.includes(one))) return;
  throw wrong(flag, text, `choose one of ${choices.join(', ')}`);
}

function readBool(flag: Flag, text: string): boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw wrong(flag, text, 'is neither true nor false');
}

const readInt = (text: string): number => (/^-?\d{1,15}$/.test(text) ? Number(text) : NaN);

const readDecimal = (text: string): number => (/^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : NaN);

const UNITS_MS: ReadonlyMap<string, number> = new Map(
  Object.entries<number>({ ms: 1, s: 1000, m: 60_000, h: 3_600_000 }),
);

/** `1h30m` in milliseconds; NaN when it is none. */
export function parseDuration(text: string): number {
  if (text === '0') return 0;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return NaN;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    total += Number(amount) * (UNITS_MS.get(unit ?? '') ?? NaN);
  }
  return total;
}

function readBounded(flag: Flag, text: string, read: (text: string) => number): number {
  const n = read(text);
  if (Number.isNaN(n))
    throw wrong(
      flag,
      text,
      flag.type === 'duration'
        ? 'is no duration such as 30s or 5m'
        : flag.type === 'int'
          ? 'is no integer'
          : 'is no number',
    );
  if (flag.min !== undefined && n < read(flag.min)) throw wrong(flag, text, `is below ${flag.min}`);
  if (flag.max !== undefined && n > read(flag.max)) throw wrong(flag, text, `is above ${flag.max}`);
  return n;
}

function readPair(flag: Flag, pair: string): [string, string] {
  const eq = pair.indexOf('=');
  if (eq === 0) throw wrong(flag, pair, 'is no key=value pair');
  return eq < 0 ? [pair, 'true'] : [pair.slice(0, eq), pair.slice(eq + 1)];
}

const wrong = (flag: Flag, text: string, why: string): FlagError =>
  new FlagError(`Cannot parse --${flag.flag}: ${JSON.stringify(text)} ${why}`);

/** The flags of a table as text for `--help`. */
export function helpText(usage: string, table: FlagTable): string {
  const flags = Object.values(table).sort((a, b) => (a.flag < b.flag ? -1 : 1));
  return [`Usage: ${usage}`, '', ...flags.map(helpEntry), ''].join('\n');
}

function helpEntry(flag: Flag): string {
  const value = flag.type === 'bool' ? '' : ` ${flag.metavar ?? flag.type.toUpperCase()}`;
  const notes = [
    flag.choices === undefined ? '' : `one of ${flag.choices.join(', ')}`,
    flag.default === undefined || flag.default === '' ? '' : `default ${flag.default}`,
    flag.deprecated === undefined ? '' : `deprecated since ${flag.deprecated.since}: ${flag.deprecated.instead}`,
  ].filter((note) => note !== '');
  return `  ${flag.short === undefined ? '' : `-${flag.short}, `}--${flag.flag}${value}\n        ${flag.help}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`;
}
