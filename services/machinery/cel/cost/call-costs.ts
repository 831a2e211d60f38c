import type { Expr } from '../ast.js';
import type { Overload } from '../functions.js';
import { typeText, type CelType } from '../types.js';
import { added, ANY_SIZE, COSTS, either, fixed, MOST, multiplied, plus, share, times, type Range } from './ranges.js';

/** A value that a function gets: its type, and how long it may be as far as that is known. */
export interface Argument {
  readonly type: CelType;
  readonly expr: Expr | undefined;
  readonly size: Range | undefined;
  /** Of a list, one of its items. */
  readonly item: () => Argument | undefined;
}

/** What a call costs at most beside its arguments, and how long its result may be. */
export interface CallCost {
  readonly cost: number;
  readonly size?: Range;
}

interface Call {
  readonly overload: Overload;
  /** Of a method, what it is called on comes first. */
  readonly args: readonly Argument[];
}

type Estimate = (call: Call) => CallCost | undefined;

const NOTHING: Argument = {
  type: { kind: 'simple', name: 'dyn' },
  expr: undefined,
  size: undefined,
  item: () => undefined,
};
const at = ({ args }: Call, i: number): Argument => args[i] ?? NOTHING;
const sizeOf = (argument: Argument): Range => argument.size ?? ANY_SIZE;
const first = (call: Call): Range => sizeOf(at(call, 0));
const isOf = (type: CelType | undefined, name: string): boolean =>
  type !== undefined && (type.kind === 'simple' || type.kind === 'opaque' ? type.name : type.kind) === name;
const parameter = ({ overload }: Call, i: number): CelType | undefined => overload.parameters[i];

/** The integer that is written there; the other where there is none. */
function written(argument: Argument, otherwise: number): number {
  const { expr } = argument;
  if (expr?.kind !== 'literal' || expr.value.type !== 'int') return otherwise;
  return expr.value.value < 0n ? 0 : Number(expr.value.value);
}

const one: Estimate = () => ({ cost: 1 });

/** Reading a text once, or so many times. */
const readingOf =
  (i: number, passes = 1): Estimate =>
  (call) => ({ cost: share(sizeOf(at(call, i)).max, passes * COSTS.character) });

/** The same where what comes of it is as long as the text. */
const changing: Estimate = (call) => ({ cost: share(first(call).max, COSTS.character), size: first(call) });

/** Looking at each item; at each character of those that are texts. */
const walking: Estimate = (call) => {
  const list = at(call, 0);
  const item = list.item();
  if (item === undefined) return readingOf(0)(call);
  const isText = isOf(item.type, 'string') || isOf(item.type, 'bytes');
  return { cost: times(sizeOf(list).max, plus(1, isText ? share(sizeOf(item).max, COSTS.character) : 0)) };
};

/** A text of which each part is replaced by another: how long it may become. */
function replacedSize(text: Range, from: Range, to: Range): Range {
  const most = (): { count: number; kept: number } => {
    if (from.min === 0) return { count: plus(text.max, 1), kept: text.max };
    if (to.max <= from.min) return { count: 0, kept: text.max };
    return { count: Math.ceil(text.max / from.min), kept: 0 };
  };
  const least = (): { count: number; kept: number } => {
    if (from.max === 0) return { count: plus(text.min, 1), kept: text.min };
    if (from.max <= to.min) return { count: 0, kept: text.min };
    return { count: Math.ceil(text.min / from.max), kept: 0 };
  };
  const [a, b] = [least(), most()];
  return { min: plus(times(a.count, to.min), a.kept), max: plus(times(b.count, to.max), b.kept) };
}

const replacing: Estimate = (call) => ({
  cost: share(first(call).max, 2 * COSTS.character),
  size: replacedSize(first(call), sizeOf(at(call, 1)), sizeOf(at(call, 2))),
});

/** At worst there is a part for each character. */
const splitting: Estimate = (call) => ({
  cost: share(first(call).max, 2 * COSTS.character),
  size: { min: 0, max: written(at(call, 2), first(call).max) },
});

const joining: Estimate = (call) => {
  const [list, by] = [first(call), call.args[1]];
  const item = at(call, 0).item();
  const parts = item === undefined ? fixed(0) : multiplied(list, sizeOf(item));
  const between = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) };
  const size = by === undefined ? parts : added(parts, multiplied(sizeOf(by), between));
  return { cost: share(size.max, COSTS.character), size };
};

const matching = (text: Range, pattern: Range): number =>
  times(share(plus(text.max, 1), COSTS.character), share(pattern.max, COSTS.pattern));

const finding: Estimate = (call) => ({
  cost: matching(first(call), sizeOf(at(call, 1))),
  size: { min: 0, max: first(call).max },
});

/** Bytes of an address at most. */
const ADDRESS = 16;
/** Longest regular expression of a named format, and longest name of one. */
const FORMAT_PATTERN = 128;
const FORMAT_NAME = 64;

/** Comparing networks, and reading what is given as a text. */
const containing =
  (further: number): Estimate =>
  (call) => {
    const read = isOf(parameter(call, 1), 'string') ? share(sizeOf(at(call, 1)).max, COSTS.character) : 0;
    return { cost: plus(share(2 * ADDRESS, COSTS.character) + further, read) };
  };

/** A list is made, of so many items, for each of which so much is done. */
const making = (size: Range, factor: number): CallCost => ({
  cost: plus(share(size.max, factor), 1 + COSTS.list),
  size,
});

const squared = (size: Range): Range => multiplied(size, size);

/** Making lists; none of these is about texts, which have functions of the same names. */
const ofLists =
  (estimate: Estimate): Estimate =>
  (call) =>
    isOf(parameter(call, 0), 'list') ? estimate(call) : undefined;

const sorting: Estimate = (call) => {
  const type = at(call, call.args.length - 1).item()?.type;
  const isText = isOf(type, 'string') || isOf(type, 'bytes');
  return making(squared(sizeOf(at(call, call.args.length - 1))), 2 + (isText ? COSTS.character : 0));
};

const crossing =
  (factor: number): Estimate =>
  (call) => ({ cost: plus(share(multiplied(first(call), sizeOf(at(call, 1))).max, factor), 1) });

/** Values of libraries are compared at once. */
const comparing: Estimate = (call) => {
  const [a, b] = [at(call, 0), at(call, 1)];
  const isSame = typeText(a.type) === typeText(b.type);
  if (call.overload.name === '_==_' && isSame && a.type.kind === 'opaque') {
    if (AT_ONCE.has(a.type.name)) return { cost: 1 };
    if (a.type.name === FORMAT) return { cost: share(FORMAT_NAME, COSTS.character) };
    if (a.type.name === URL_TYPE) return { cost: share(b.size?.max ?? 1, COSTS.character) };
  }
  return { cost: share(Math.min(sizeOf(a).max, sizeOf(b).max), COSTS.character) };
};

const FORMAT = 'kubernetes.NamedFormat';
const URL_TYPE = 'kubernetes.URL';
const AT_ONCE: ReadonlySet<string> = new Set(['net.IP', 'net.CIDR', 'kubernetes.Quantity', 'kubernetes.Semver']);

/** Numbers are compared at once, texts by their characters. */
const ordering: Estimate = (call) => {
  const isText = isOf(parameter(call, 0), 'string') || isOf(parameter(call, 0), 'bytes');
  return isText ? comparing(call) : { cost: 1 };
};

const adding: Estimate = (call) => {
  const size = added(first(call), sizeOf(at(call, 1)));
  if (isOf(parameter(call, 0), 'list')) return { cost: 1, size };
  const isText = isOf(parameter(call, 0), 'string') || isOf(parameter(call, 0), 'bytes');
  return isText ? { cost: share(size.max, COSTS.character), size } : { cost: 1 };
};

/** Only between texts and bytes are there characters to read. */
const converting =
  (from: string, size: (of: Range) => Range): Estimate =>
  (call) =>
    isOf(parameter(call, 0), from)
      ? { cost: share(first(call).max, COSTS.character), size: size(first(call)) }
      : { cost: 1 };

const names = (estimate: Estimate, ...all: readonly string[]): [string, Estimate][] =>
  all.map((name) => [name, estimate]);

const ESTIMATES: ReadonlyMap<string, Estimate> = new Map<string, Estimate>([
  ...names(walking, 'isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'),
  ...names(changing, 'url', 'lowerAscii', 'upperAscii', 'substring', 'trim', 'jsonpatch.escapeKey'),
  ['replace', replacing],
  ['split', splitting],
  ['join', joining],
  ...names(finding, 'find', 'findAll'),
  ...names(readingOf(0), 'cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver'),
  ['ip', (call) => (isOf(parameter(call, 0), 'net.CIDR') ? one(call) : readingOf(0)(call))],
  ['ip.isCanonical', readingOf(0, 2)],
  ['containsIP', containing(0)],
  ['containsCIDR', containing(share(ADDRESS, COSTS.character) + 1)],
  [
    'validate',
    (call) => ({ cost: share(share(sizeOf(at(call, 1)).max, COSTS.character), FORMAT_PATTERN * COSTS.pattern) }),
  ],
  ['check', () => ({ cost: 350_000 })],
  [
    'slice',
    ofLists((call) => making(fixed(Math.max(0, written(at(call, 2), first(call).max) - written(at(call, 1), 0))), 1)),
  ],
  ['flatten', (call) => making(first(call), call.args.length === 1 ? 1 : written(at(call, 1), MOST))],
  ['lists.range', (call) => making(fixed(written(at(call, 0), MOST)), 1)],
  ['reverse', ofLists((call) => making(first(call), 1))],
  ['distinct', (call) => making(squared(first(call)), 2)],
  ...names(sorting, 'sort', '@sortByAssociatedKeys'),
  ...names(crossing(1), 'sets.contains', 'sets.intersects'),
  ['sets.equivalent', crossing(2)],
  ['format', readingOf(0)],
  ['bytes', converting('string', ({ min, max }) => ({ min, max: times(max, 4) }))],
  ['string', converting('bytes', ({ min, max }) => ({ min: Math.floor(min / 4), max }))],
  [
    'strings.quote',
    (call) => ({
      cost: share(first(call).max, COSTS.character),
      size: { min: plus(first(call).min, 2), max: plus(times(first(call).max, 2), 2) },
    }),
  ],
  ...names(readingOf(1), 'startsWith', 'endsWith'),
  ['@in', (call) => (isOf(parameter(call, 1), 'list') ? { cost: sizeOf(at(call, 1)).max } : one(call))],
  ['matches', (call) => (call.overload.isMethod ? { cost: matching(first(call), sizeOf(at(call, 1))) } : { cost: 1 })],
  [
    'contains',
    (call) =>
      isOf(parameter(call, 0), 'string')
        ? { cost: times(share(first(call).max, COSTS.character), share(sizeOf(at(call, 1)).max, COSTS.character)) }
        : one(call),
  ],
  ['_+_', adding],
  ...names(comparing, '_==_', '_!=_'),
  ...names(ordering, '_<_', '_<=_', '_>_', '_>=_'),
]);

/** What a call of a function costs at most. All that is not in the table costs one. */
export const callCost = (call: Call): CallCost => ESTIMATES.get(call.overload.name)?.(call) ?? { cost: 1 };

/** The size of one of two values. */
export const eitherSize = (a: Argument, b: Argument): Range => either(sizeOf(a), sizeOf(b));
