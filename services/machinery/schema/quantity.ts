/*
 * Quantities: a decimal number with a suffix, in three families (1500m, 1.5Gi, 2e3). Every amount has one canonical
 * text in its family: no fraction, and the largest suffix that allows that. Amounts are kept to the billionth, rounded
 * away from zero, and end at 2^63 - 1.
 */

const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const EXPONENT_OF: ReadonlyMap<string, number> = new Map(DECIMAL_SUFFIXES.map((s, i) => [s, (i - 3) * 3]));
const PER_UNIT = 10n ** 9n; // we count billionths
const MOST = (2n ** 63n - 1n) * PER_UNIT;
/** Powers of ten beyond this are at an end of the range whatever they are multiplied with. */
const EXPONENT_BOUND = 1000;
const MAX_LENGTH = 256;

/** The form of most quantities, which is canonical already. */
const PLAIN = /^(?:0|[1-9]\d{0,2}(?:[mkMGTP]|[KMGTP]i)?)$/;
const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d+))?$/;

interface Parsed {
  readonly negative: boolean;
  /** Without the sign. */
  readonly amount: bigint;
  readonly binary: boolean;
  readonly exponential: boolean;
}

/** The canonical text, or undefined when `text` is no quantity. */
export function canonicalQuantity(text: string): string | undefined {
  if (PLAIN.test(text)) return text;
  const found = parse(text);
  if (found === undefined) return undefined;
  const { negative, amount, binary, exponential } = found;
  if (amount === 0n) return '0';
  return (negative ? '-' : '') + written(amount, binary, exponential);
}

/** The amount in billionths, for comparing and adding; undefined when `text` is no quantity. */
export function quantityAmount(text: string): bigint | undefined {
  const found = parse(text);
  return found === undefined ? undefined : signed(found);
}

/**
 * The canonical sum of two quantities, in the family of the first one; of the second where the first is 0.
 *
 * @throws {RangeError} for what is no quantity
 */
export function addQuantities(a: string, b: string): string {
  const [first, second] = [parsed(a), parsed(b)];
  const { binary, exponential } = first.amount === 0n ? second : first;
  const sum = signed(first) + signed(second);
  if (sum === 0n) return '0';
  const amount = sum < 0n ? -sum : sum;
  return (sum < 0n ? '-' : '') + written(amount > MOST ? MOST : amount, binary, exponential);
}

/** A canonical quantity with the other sign. */
export const negatedQuantity = (text: string): string =>
  text === '0' ? text : text.startsWith('-') ? text.slice(1) : `-${text}`;

function parsed(text: string): Parsed {
  const found = parse(text);
  if (found === undefined) throw new RangeError(`No quantity: ${JSON.stringify(text.slice(0, MAX_LENGTH))}`);
  return found;
}

const signed = ({ negative, amount }: Parsed): bigint => (negative ? -amount : amount);

function parse(text: string): Parsed | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix, exponent] = match;
  if (whole === '' && fraction === '') return undefined;
  const binary = suffix === undefined ? -1 : BINARY_SUFFIXES.indexOf(suffix);
  const power = exponent === undefined ? (EXPONENT_OF.get(suffix ?? '') ?? 0) : bounded(Number(exponent));
  const amount = billionths(BigInt(whole + fraction), power - fraction.length, Math.max(binary, 0));
  return {
    negative: sign === '-',
    amount: amount > MOST ? MOST : amount,
    binary: binary > 0,
    exponential: exponent !== undefined,
  };
}

const bounded = (n: number): number => Math.min(Math.max(n, -EXPONENT_BOUND), EXPONENT_BOUND);

/** digits x 10^power x 1024^binary, in billionths, rounded up. */
function billionths(digits: bigint, power: number, binary: number): bigint {
  const scaled = digits * 1024n ** BigInt(binary);
  const shift = power + 9;
  if (shift >= 0) return scaled * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return (scaled + divisor - 1n) / divisor;
}

function written(amount: bigint, binary: boolean, exponential: boolean): string {
  // Below 1024 and with a fraction, powers of two would say less than powers of ten.
  if (binary && amount >= 1024n * PER_UNIT && amount % PER_UNIT === 0n) {
    const [n, steps] = reduced(amount / PER_UNIT, 1024n, BINARY_SUFFIXES.length - 1);
    return `${n}${BINARY_SUFFIXES[steps] ?? ''}`;
  }
  const [n, steps] = reduced(amount, 1000n, DECIMAL_SUFFIXES.length - 1);
  const exponent = (steps - 3) * 3;
  if (exponential) return exponent === 0 ? `${n}` : `${n}e${exponent}`;
  return `${n}${DECIMAL_SUFFIXES[steps] ?? ''}`;
}

/** Divides by `factor` as often as nothing is left over, at most `most` times. */
function reduced(amount: bigint, factor: bigint, most: number): readonly [amount: bigint, steps: number] {
  let n = amount;
  let steps = 0;
  while (steps < most && n % factor === 0n) {
    n /= factor;
    steps++;
  }
  return [n, steps];
}
