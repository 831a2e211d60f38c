const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const SMALL_E = 0x65;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** How numbers were written that a text gives a fraction or an exponent, by `literalKey` of their place. */
export type Literals = ReadonlyMap<string, string>;

/** The way to a value: names of members and places in lists, from the outside in. */
export const literalKey = (steps: readonly (string | number)[]): string => JSON.stringify(steps);

/** Most numbers that are noted; those behind them are what the parser took them for. */
export const MOST_LITERALS = 1_000;
/** Characters of a number that are noted: longer ones are no numbers that are meant. */
const NOTED = 300;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE;

/**
 * Notes the numbers of a JSON text that have a fraction or an exponent: `1.0` is no integer where one is declared, and
 * a parser gives back the same for both. Without any, this costs one pass over the bytes.
 *
 * @param bytes JSON that has been parsed: anything else gives nonsense, and an end.
 */
export function noteLiterals(bytes: Buffer, notes: Map<string, string>): void {
  if (hasFraction(bytes)) walk(bytes, notes);
}

/** Looks outside strings. By index, for these are the bytes of every body that is written. */
function hasFraction(bytes: Buffer): boolean {
  const end = bytes.length;
  for (let i = 0; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === QUOTE) i = endOfString(bytes, i);
    // The letter is in `true` and `false` as well, and in capitals only in numbers.
    else if (byte === DOT || ((byte | 0x20) === SMALL_E && isDigit(bytes[i - 1]))) return true;
  }
  return false;
}

/** The index of the closing quote. */
function endOfString(bytes: Buffer, opening: number): number {
  let i = opening + 1;
  for (; i < bytes.length && bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++;
  return i;
}

/** Where the walk is in an object (the name of a member) or a list (a place). */
type Step = string | number;

function walk(bytes: Buffer, notes: Map<string, string>): void {
  const steps: Step[] = [];
  let text: readonly [from: number, to: number] = [0, 0]; // the string that was read last
  for (let i = 0; i < bytes.length && notes.size < MOST_LITERALS; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === QUOTE) {
      text = [i, endOfString(bytes, i) + 1];
      i = text[1] - 1;
    } else if (byte === COLON) steps[steps.length - 1] = JSON.parse(bytes.toString('utf8', ...text)) as string;
    else if (byte === OPENING_BRACE) steps.push('');
    else if (byte === OPENING_BRACKET) steps.push(0);
    else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) steps.pop();
    else if (byte === COMMA) nextPlace(steps);
    else if (byte === MINUS || isDigit(byte)) {
      const end = endOfNumber(bytes, i);
      const literal = bytes.toString('latin1', i, Math.min(end, i + NOTED));
      if (/[.eE]/.test(literal)) notes.set(literalKey(steps), literal);
      i = end - 1;
    }
  }
}

function nextPlace(steps: Step[]): void {
  const place = steps.at(-1);
  if (typeof place === 'number') steps[steps.length - 1] = place + 1;
}

function endOfNumber(bytes: Buffer, start: number): number {
  let i = start;
  for (; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (!isDigit(byte) && byte !== DOT && byte !== MINUS && byte !== PLUS && (byte | 0x20) !== SMALL_E) break;
  }
  return i;
}
