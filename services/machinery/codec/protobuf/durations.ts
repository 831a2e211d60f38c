/*
 * Durations: a count of nanoseconds on the wire, a text such as `1h2m0.5s` in JSON. Sixty-four bits of nanoseconds are
 * more than a number holds exactly (104 days), so they are counted in big integers.
 */

const SECOND = 1_000_000_000n;
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n], // micro sign
  ['μs', 1_000n], // Greek letter
  ['ms', 1_000_000n],
  ['s', SECOND],
  ['m', 60n * SECOND],
  ['h', 3600n * SECOND],
]);
const PART = /(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g;
const MOST = 2n ** 63n - 1n;
const FRACTION_DIGITS = 18;

/** Nanoseconds of a valid text; the longest that there is instead of a longer one. */
export function parseDuration(text: string): bigint {
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(PART)) {
    const size = UNITS.get(unit) ?? 0n;
    const digits = fraction.slice(0, FRACTION_DIGITS);
    total += BigInt(whole) * size + (BigInt(digits) * size) / 10n ** BigInt(digits.length);
  }
  const bounded = total > MOST ? MOST : total;
  return text.startsWith('-') ? -bounded : bounded;
}

/** The canonical text: `0s`, `1.5ms`, `1m30s`, `2h0m0s`. */
export function formatDuration(nanos: bigint): string {
  const amount = nanos < 0n ? -nanos : nanos;
  const sign = nanos < 0n ? '-' : '';
  if (amount === 0n) return '0s';
  if (amount < 1_000n) return `${sign}${amount}ns`;
  if (amount < 1_000_000n) return `${sign}${decimal(amount, 1_000n)}µs`;
  if (amount < SECOND) return `${sign}${decimal(amount, 1_000_000n)}ms`;
  const minutes = amount / (60n * SECOND);
  const seconds = `${decimal(amount % (60n * SECOND), SECOND)}s`;
  if (minutes === 0n) return sign + seconds;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** `amount / unit`, a power of ten, without trailing zeros. */
function decimal(amount: bigint, unit: bigint): string {
  const digits = String(unit).length - 1;
  const fraction = String(amount % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return fraction === '' ? String(amount / unit) : `${amount / unit}.${fraction}`;
}
