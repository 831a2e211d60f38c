import { addQuantities, canonicalQuantity, negatedQuantity, quantityAmount } from '../../schema/quantity.js';
import { reading, type Library } from '../functions.js';
import { CelError, type Opaque, type Value } from '../values.js';

const QUANTITY = 'kubernetes.Quantity';
const SEMVER = 'kubernetes.Semver';

const text = (value: Value | undefined): string => value as string;
const keyOf = (value: Value | undefined): string => (value as Opaque).key;

function quantity(source: string): Opaque {
  const key = canonicalQuantity(source);
  if (key === undefined) throw new CelError('quantities must match the regular expression of quantities');
  return { opaque: QUANTITY, key };
}

/** In billionths. */
const amount = (value: Value | undefined): bigint => quantityAmount(keyOf(value)) ?? 0n;
const PER_UNIT = 10n ** 9n;

const compared = (a: Value | undefined, b: Value | undefined): bigint => {
  const [x, y] = [amount(a), amount(b)];
  return x < y ? -1n : x > y ? 1n : 0n;
};

/** A number of an integer type as a quantity. */
const added = (value: Value | undefined, other: string): Opaque => quantity(addQuantities(keyOf(value), other));
const canonical = (value: Value | undefined): string => canonicalQuantity((value as bigint).toString()) ?? '0';

interface Version extends Opaque {
  readonly parts: readonly [bigint, bigint, bigint];
  readonly pre: readonly string[];
}

const NUMBER = '0|[1-9]\\d*';
const VERSION = new RegExp(`^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-([0-9A-Za-z.-]+))?(?:\\+[0-9A-Za-z.-]+)?$`);
/** With a `v` in front, parts left out, and zeros in front of numbers. */
const LAX = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?((?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$/;

/** Semantic Versioning 2.0.0. */
function readVersion(source: string, normalize = false): Version | undefined {
  if (source.length > 256) return undefined;
  const lax = normalize ? LAX.exec(source.trim()) : null;
  const plain = (part: string | undefined): string => String(BigInt(part ?? '0'));
  const whole = lax === null ? source : `${plain(lax[1])}.${plain(lax[2])}.${plain(lax[3])}${lax[4] ?? ''}`;
  const [, major = '', minor = '', patch = '', pre = ''] = VERSION.exec(whole) ?? [];
  const names = pre === '' ? [] : pre.split('.');
  if (major === '' || names.some((it) => it === '' || /^0\d+$/.test(it))) return undefined;
  return {
    opaque: SEMVER,
    key: whole.replace(/\+.*$/, ''),
    parts: [BigInt(major), BigInt(minor), BigInt(patch)],
    pre: names,
  };
}

function version(source: string, normalize = false): Value {
  const found = readVersion(source, normalize);
  if (found === undefined) throw new CelError(`Invalid Semantic Version ${JSON.stringify(source)}`);
  return found;
}

/** Which class a value is of was checked when its function was chosen. */
const versionOf = (value: Value | undefined): Version => value as unknown as Version;

function comparedVersions(a: Value | undefined, b: Value | undefined): bigint {
  const [x, y] = [versionOf(a), versionOf(b)];
  for (const [i, part] of x.parts.entries()) {
    const other = y.parts[i] ?? 0n;
    if (part !== other) return part < other ? -1n : 1n;
  }
  if (x.pre.length === 0 || y.pre.length === 0) return BigInt(Math.sign(y.pre.length - x.pre.length));
  for (let i = 0; i < Math.max(x.pre.length, y.pre.length); i++) {
    const order = comparedNames(x.pre[i], y.pre[i]);
    if (order !== 0) return BigInt(order);
  }
  return 0n;
}

/** Numbers come before names, and what is not there before both. */
function comparedNames(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  const [x, y] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (x && y) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
  if (x !== y) return x ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

const part =
  (i: 0 | 1 | 2) =>
  ([value]: readonly Value[]): bigint =>
    (value as unknown as Version).parts[i];

/** Functions of amounts and of versions. */
export const QUANTITIES: Library = reading({
  'quantity(string): kubernetes.Quantity': ([value]) => quantity(text(value)),
  'isQuantity(string): bool': ([value]) => canonicalQuantity(text(value)) !== undefined,
  'kubernetes.Quantity.sign(): int': ([value]) => (amount(value) > 0n ? 1n : amount(value) < 0n ? -1n : 0n),
  'kubernetes.Quantity.isInteger(): bool': ([value]) => amount(value) % PER_UNIT === 0n,
  'kubernetes.Quantity.asInteger(): int': ([value]) => {
    if (amount(value) % PER_UNIT !== 0n) throw new CelError('cannot convert value to integer');
    return amount(value) / PER_UNIT;
  },
  'kubernetes.Quantity.asApproximateFloat(): double': ([value]) => Number(amount(value)) / 1e9,
  'kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity': ([a, b]) => added(a, keyOf(b)),
  'kubernetes.Quantity.add(int): kubernetes.Quantity': ([a, b]) => added(a, canonical(b)),
  'kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity': ([a, b]) => added(a, negatedQuantity(keyOf(b))),
  'kubernetes.Quantity.sub(int): kubernetes.Quantity': ([a, b]) => added(a, negatedQuantity(canonical(b))),
  'kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool': ([a, b]) => compared(a, b) < 0n,
  'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool': ([a, b]) => compared(a, b) > 0n,
  'kubernetes.Quantity.compareTo(kubernetes.Quantity): int': ([a, b]) => compared(a, b),
  'semver(string): kubernetes.Semver': ([value]) => version(text(value)),
  'semver(string, bool): kubernetes.Semver': ([value, normalize]) => version(text(value), normalize === true),
  'isSemver(string): bool': ([value]) => readVersion(text(value)) !== undefined,
  'isSemver(string, bool): bool': ([value, normalize]) => readVersion(text(value), normalize === true) !== undefined,
  'kubernetes.Semver.major(): int': part(0),
  'kubernetes.Semver.minor(): int': part(1),
  'kubernetes.Semver.patch(): int': part(2),
  'kubernetes.Semver.isLessThan(kubernetes.Semver): bool': ([a, b]) => comparedVersions(a, b) < 0n,
  'kubernetes.Semver.isGreaterThan(kubernetes.Semver): bool': ([a, b]) => comparedVersions(a, b) > 0n,
  'kubernetes.Semver.compareTo(kubernetes.Semver): int': ([a, b]) => comparedVersions(a, b),
});
