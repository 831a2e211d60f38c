import { reading, type Library, type Run } from '../functions.js';
import {
  CelError,
  CelMap,
  Duration,
  isList,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
  type Spending,
  type Value,
} from '../values.js';
import { fixedText, scientificText } from './decimals.js';
import { doubleText, lengthOf } from './standard.js';
import { durationText, timestampText } from './times.js';

const text = (value: Value | undefined): string => value as string;
const number = (value: Value | undefined): number => Number(value);

/** Places in texts count code points. */
const points = (value: string): string[] => Array.from(value);

const inside = (at: number, length: number): number => {
  if (at < 0 || at > length) throw new CelError(`index out of range: ${at}`);
  return at;
};

const isPair = (value: string, at: number): boolean =>
  (value.charCodeAt(at) & 0xfc00) === 0xd800 && (value.charCodeAt(at + 1) & 0xfc00) === 0xdc00;

/** Where a code point stands, in units. */
function unitOf(value: string, point: number): number {
  let at = 0;
  for (let i = 0; i < point; i++) at += isPair(value, at) ? 2 : 1;
  return at;
}

function indexOf(args: readonly Value[], isLast: boolean): bigint {
  const [all, part] = [text(args[0]), text(args[1])];
  const length = lengthOf(all);
  const from = unitOf(all, args[2] === undefined ? (isLast ? length : 0) : inside(number(args[2]), length));
  const found = isLast ? all.lastIndexOf(part, from) : all.indexOf(part, from);
  return BigInt(found < 0 ? -1 : lengthOf(all.slice(0, found)));
}

/** Twice looked at, once for each character of either. */
const looking =
  (run: (args: readonly Value[]) => Value): Run =>
  (args, meter) => {
    meter.spend(text(args[0]).length / 10 + (typeof args[1] === 'string' ? args[1].length / 10 : 0));
    return run(args);
  };

/** Both are as long as the product of the two at most. */
const searching =
  (isLast: boolean): Run =>
  (args, meter) => {
    meter.spend(((text(args[0]).length + 1) * (text(args[1]).length + 1)) / 10);
    return indexOf(args, isLast);
  };

function substring([value, from, to]: readonly Value[]): string {
  const all = text(value);
  const length = lengthOf(all);
  const [start, end] = [inside(number(from), length), to === undefined ? length : inside(number(to), length)];
  if (start > end) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  return all.slice(unitOf(all, start), unitOf(all, end));
}

function charAt([value, at]: readonly Value[]): string {
  const all = text(value);
  const unit = unitOf(all, inside(number(at), lengthOf(all)));
  return all.slice(unit, unit + (isPair(all, unit) ? 2 : 1));
}

/** The units from the last to the first; those of a code point stay in their order. */
function reversed([value]: readonly Value[]): string {
  const bytes = Buffer.from(text(value), 'utf16le').swap16().reverse();
  const all = bytes.toString('utf16le');
  return all.replace(/[\udc00-\udfff][\ud800-\udbff]/g, ([low = '', high = '']) => high + low);
}

/** What comes of it may be far longer than what went in, and is paid for before it is made. */
const replaced: Run = ([value, from, to, most], meter) => {
  meter.spend(text(value).length / 10);
  const limit = most === undefined ? -1 : number(most);
  const parts = text(value).split(text(from));
  const times = limit < 0 ? parts.length : Math.min(limit, parts.length);
  meter.spend(parts.length + (times * text(to).length) / 10);
  if (limit < 0 || parts.length - 1 <= limit) return parts.join(text(to));
  return [parts.slice(0, limit + 1).join(text(to)), ...parts.slice(limit + 1)].join(text(from));
};

/** Most parts that are made at once: more are more than an expression can pay for. */
const MOST_PARTS = 500_000;

const split: Run = ([value, by, most], meter) => {
  const limit = most === undefined ? -1 : number(most);
  if (limit === 0) return [];
  const all = text(value);
  meter.spend((all.length + text(by).length) / 10);
  const parts = text(by) === '' ? points(all.slice(0, 2 * MOST_PARTS)) : all.split(text(by), MOST_PARTS);
  meter.spend(2 * parts.length);
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(text(by))];
};

const ascii = (value: string, from: RegExp, to: (letter: string) => string): string => value.replace(from, to);

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '\x07': '\\a',
    '\b': '\\b',
    '\f': '\\f',
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
    '\v': '\\v',
    '\\': '\\\\',
    '"': '\\"',
  }),
);

const SPACES = '\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
/** White space of Unicode; the mark of byte order is none. */
const OUTER_SPACE = new RegExp(`^[${SPACES}]+|(?<![${SPACES}])[${SPACES}]+$`, 'g');

/** Functions of texts beside the standard ones. */
export const TEXTS: Library = {
  'string.charAt(int): string': looking(charAt),
  'string.indexOf(string): int': searching(false),
  'string.indexOf(string, int): int': searching(false),
  'string.lastIndexOf(string): int': searching(true),
  'string.lastIndexOf(string, int): int': searching(true),
  'string.lowerAscii(): string': looking(([value]) => ascii(text(value), /[A-Z]+/g, (it) => it.toLowerCase())),
  'string.upperAscii(): string': looking(([value]) => ascii(text(value), /[a-z]+/g, (it) => it.toUpperCase())),
  'string.replace(string, string): string': replaced,
  'string.replace(string, string, int): string': replaced,
  'string.split(string): list<string>': split,
  'string.split(string, int): list<string>': split,
  'string.substring(int): string': looking(substring),
  'string.substring(int, int): string': looking(substring),
  'string.trim(): string': looking(([value]) => text(value).replace(OUTER_SPACE, '')),
  'string.reverse(): string': looking(reversed),
  'list<string>.join(): string': ([list], meter) => joined(list, '', meter),
  'list<string>.join(string): string': ([list, by], meter) => joined(list, text(by), meter),
  '"strings".quote(string): string': looking(
    ([value]) => `"${text(value).replace(/[\x07\b\f\n\r\t\v\\"]/g, (it) => ESCAPES.get(it) ?? it)}"`,
  ),
  'string.format(list<dyn>): string': (args, meter) => formatted(text(args[0]), args[1] as readonly Value[], meter),
  ...reading({
    '"base64".encode(bytes): string': ([value]) => Buffer.from(value as Uint8Array).toString('base64'),
    '"base64".decode(string): bytes': ([value]) => {
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text(value))) throw new CelError('illegal base64 data');
      return Buffer.from(text(value), 'base64');
    },
  }),
};

function joined(list: Value | undefined, by: string, meter: { spend(cost: number): void }): string {
  const parts = list as readonly string[];
  meter.spend(parts.reduce((sum, it) => sum + it.length + by.length, 0) / 10);
  return parts.join(by);
}

/** Most digits after the point that may be asked for. */
const MOST_DIGITS = 100;

function formatted(format: string, args: readonly Value[], meter: { spend(cost: number): void }): string {
  let next = 0;
  const out = format.replace(
    /%(?:\.(\d+))?([a-zA-Z%])?/g,
    (_, digits: string | undefined, clause: string | undefined) => {
      if (clause === '%') return '%';
      const value = args[next++];
      if (value === undefined) throw new CelError(`index ${next - 1} out of range`);
      const precision = digits === undefined ? 6 : Number(digits);
      if (precision > MOST_DIGITS) throw new CelError(`precision ${precision} is more than ${MOST_DIGITS}`);
      if (clause === 's') return shown(value, meter);
      const show = CLAUSES.get(clause ?? '');
      if (show === undefined) throw new CelError(`unrecognized formatting clause "${clause ?? ''}"`);
      return show(value, precision);
    },
  );
  meter.spend((format.length + out.length) / 10);
  return out;
}

const bad = (clause: string, value: Value): CelError =>
  new CelError(`error during formatting: ${clause} clause cannot be used on ${typeNameOf(value)}`);

function whole(value: Value, clause: string): bigint {
  if (typeof value === 'bigint') return value;
  if (value instanceof Uint) return value.value;
  throw bad(clause, value);
}

function real(value: Value, clause: string): number {
  if (typeof value === 'number') return value;
  return Number(whole(value, clause));
}

const inBase = (value: Value, base: number, clause: string): string => whole(value, clause).toString(base);

function hex(value: Value): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : inBase(value, 16, 'hex');
}

const finite =
  (show: (value: number, precision: number) => string) =>
  (value: number, precision: number): string =>
    Number.isFinite(value) ? show(value, precision) : infinite(value);

/** As texts with values in them have it, which is not how such a double becomes a text by itself. */
const infinite = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity');
const [fixed, scientific] = [finite(fixedText), finite(scientificText)];

const CLAUSES: ReadonlyMap<string, (value: Value, precision: number) => string> = new Map<
  string,
  (value: Value, precision: number) => string
>([
  [
    'd',
    (value) =>
      typeof value === 'number' && !Number.isFinite(value) ? infinite(value) : String(whole(value, 'decimal')),
  ],
  ['f', (value, precision) => fixed(real(value, 'fixed-point'), precision)],
  ['e', (value, precision) => scientific(real(value, 'scientific'), precision)],
  ['b', (value) => (typeof value === 'boolean' ? (value ? '1' : '0') : inBase(value, 2, 'binary'))],
  ['o', (value) => inBase(value, 8, 'octal')],
  ['x', hex],
  ['X', (value) => hex(value).toUpperCase()],
]);

/** What it costs to show a value, in steps: most of it is the sorting and joining of what is around it. */
const SHOWN_COST = 10;

/** A value as `%s` shows it; each text, and each value inside, is paid for. */
export function shown(value: Value, meter: Spending): string {
  meter.spend(SHOWN_COST + (typeof value === 'string' ? value.length / 10 : 0));
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isFinite(value) ? doubleText(value) : infinite(value);
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (isList(value)) return `[${value.map((item) => shown(item, meter)).join(', ')}]`;
  if (value instanceof CelMap) {
    const entries = [...value.entries()].map(([key, it]) => `${shown(key, meter)}: ${shown(it, meter)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  if (value instanceof Timestamp) return timestampText(value.nanos);
  if (value instanceof Duration) return durationText(value.nanos);
  if (value instanceof TypeValue) return value.name;
  throw bad('string', value);
}
