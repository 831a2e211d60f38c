/** A double is `units` * 2^`exponent`, exactly. */
function partsOf(value: number): { readonly units: bigint; readonly exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const biased = Number(bits >> 52n);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  return biased === 0
    ? { units: fraction, exponent: -1074 }
    : { units: fraction | 0x10_0000_0000_0000n, exponent: biased - 1075 };
}

/** |value| * 10^`places`, rounded: halves go to the even neighbour. */
function scaled(value: number, places: number): bigint {
  const { units, exponent } = partsOf(value);
  const above = units * (exponent > 0 ? 1n << BigInt(exponent) : 1n) * (places > 0 ? 10n ** BigInt(places) : 1n);
  const below = (exponent < 0 ? 1n << BigInt(-exponent) : 1n) * (places < 0 ? 10n ** BigInt(-places) : 1n);
  const whole = above / below;
  const twice = (above % below) * 2n;
  return twice > below || (twice === below && whole % 2n === 1n) ? whole + 1n : whole;
}

const signOf = (value: number): string => (value < 0 || Object.is(value, -0) ? '-' : '');

const withPoint = (digits: string, places: number): string =>
  places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;

/** A finite double with so many digits after the point. */
export function fixedText(value: number, places: number): string {
  return (
    signOf(value) +
    withPoint(
      scaled(value, places)
        .toString()
        .padStart(places + 1, '0'),
      places,
    )
  );
}

/** The same with one digit before the point, and the power of ten: `1.5e+02`. */
export function scientificText(value: number, places: number): string {
  let power = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  let digits = scaled(value, places - power).toString();
  // The logarithm may be off by one, and rounding may have made another digit.
  for (let tries = 0; value !== 0 && digits.length !== places + 1 && tries < 2; tries++) {
    power += digits.length - (places + 1);
    digits = scaled(value, places - power).toString();
  }
  const size = String(Math.abs(power)).padStart(2, '0');
  return `${signOf(value)}${withPoint(digits.padEnd(places + 1, '0'), places)}e${power < 0 ? '-' : '+'}${size}`;
}
