export interface Token {
  readonly type: 'ident' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'symbol' | 'end';
  /** The name, the symbol, the digits, or the text without quotes and escapes. */
  readonly text: string;
  readonly at: number;
  readonly bytes?: Uint8Array;
  /** A name in backquotes, which may be any. */
  readonly isQuoted?: true;
}

/** An expression that is none. The message shows the place in the text. */
export class CelSyntaxError extends Error {
  override readonly name = 'CelSyntaxError';
  readonly at: number;

  constructor(source: string, at: number, why: string) {
    super(shownAt(source, at, why));
    this.at = at;
  }
}

/** Longest line of an expression that is shown in messages, in characters. */
const LONGEST_SHOWN = 2_000;

/** What is wrong with an expression: line and column of the place, from 1 on, and the line with a mark below it. */
export function shownAt(source: string, at: number, why: string): string {
  const before = source.slice(0, at).split('\n');
  const column = before.at(-1)?.length ?? 0;
  const line = source.split('\n', before.length).at(-1) ?? '';
  const shown = line.length > LONGEST_SHOWN ? '' : `\n | ${line}\n | ${'.'.repeat(column)}^`;
  return `ERROR: <input>:${before.length}:${column + 1}: ${why}${shown}`;
}

const SPACE = /(?:[\t\n\f\r ]+|\/\/[^\n]*)+/y;
const NUMBER = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|(0x[0-9a-fA-F]+|\d+)(u?)/iy;
const IDENT = /[_a-zA-Z][_a-zA-Z0-9]*/y;
const STRING_START = /([rRbB]{0,2})("""|'''|"|')/y;
const SYMBOL = /&&|\|\||<=|>=|==|!=|\.\?|\[\?|[-+*/%<>!?:.,()[\]{}`]/y;
const QUOTED_IDENT = /`([a-zA-Z0-9_.\-/ ]+)`/y;

/** Longest expression, in characters. */
export const MOST_CHARACTERS = 100_000;

/** @throws {CelSyntaxError} */
export function tokens(source: string): Token[] {
  if (source.length > MOST_CHARACTERS)
    throw new CelSyntaxError(source, 0, `it has more than ${MOST_CHARACTERS} characters`);
  const found: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  for (;;) {
    at += match(SPACE)?.[0].length ?? 0;
    if (at >= source.length) break;
    const text = readString(source, at, match(STRING_START));
    if (text !== undefined) {
      found.push(text.token);
      at = text.end;
      continue;
    }
    const token = readPlain(match, at, found.at(-1));
    if (token === undefined)
      throw new CelSyntaxError(source, at, `Syntax error: unexpected character ${JSON.stringify(source[at])}`);
    found.push(token.token);
    at += token.length;
  }
  found.push({ type: 'end', text: '', at });
  return found;
}

interface Found {
  readonly token: Token;
  readonly length: number;
}

function readPlain(
  match: (pattern: RegExp) => RegExpExecArray | null,
  at: number,
  before: Token | undefined,
): Found | undefined {
  const ident = match(IDENT);
  if (ident !== null) return { token: { type: 'ident', text: ident[0], at }, length: ident[0].length };
  const number = match(NUMBER);
  // `.5` after a value is a field that is none, but `x.5` is no expression anyway.
  if (number !== null && !(number[0].startsWith('.') && before?.type === 'ident')) {
    const [whole, integer, unsigned] = number;
    const type = integer === undefined ? 'double' : unsigned === '' ? 'int' : 'uint';
    return { token: { type, text: integer ?? whole, at }, length: whole.length };
  }
  const quoted = before?.text === '.' || before?.text === '.?' ? match(QUOTED_IDENT) : null;
  if (quoted !== null)
    return { token: { type: 'ident', text: quoted[1] ?? '', at, isQuoted: true }, length: quoted[0].length };
  const symbol = match(SYMBOL);
  return symbol === null ? undefined : { token: { type: 'symbol', text: symbol[0], at }, length: symbol[0].length };
}

function readString(
  source: string,
  at: number,
  start: RegExpExecArray | null,
): { token: Token; end: number } | undefined {
  if (start === null) return undefined;
  const [whole, prefix = '', quote = ''] = start;
  const flags = prefix.toLowerCase();
  if (flags === 'rr' || flags === 'bb') return undefined;
  const isRaw = flags.includes('r');
  const isBytes = flags.includes('b');
  const from = at + whole.length;
  const end = endOfString(source, from, quote, isRaw);
  if (end < 0) throw new CelSyntaxError(source, at, 'Syntax error: a text that does not end');
  const inner = source.slice(from, end);
  if (quote.length === 1 && /[\n\r]/.test(inner))
    throw new CelSyntaxError(source, at, 'Syntax error: a text that does not end in its line');
  const bytes = isRaw ? Buffer.from(inner) : unescaped(source, at, inner, isBytes);
  const token: Token = {
    type: isBytes ? 'bytes' : 'string',
    text: bytes.toString('utf8'),
    at,
    ...(isBytes ? { bytes } : {}),
  };
  return { token, end: end + quote.length };
}

function endOfString(source: string, from: number, quote: string, isRaw: boolean): number {
  for (let i = from; i < source.length; i++) {
    if (!isRaw && source[i] === '\\') i++;
    else if (source.startsWith(quote, i)) return i;
  }
  return -1;
}

const SIMPLE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: '\x07',
    b: '\b',
    f: '\f',
    n: '\n',
    r: '\r',
    t: '\t',
    v: '\v',
    '\\': '\\',
    '?': '?',
    '"': '"',
    "'": "'",
    '`': '`',
  }),
);
const ESCAPE = /\\(?:([abfnrtv\\?"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/y;

/** Escapes of bytes stand for bytes, those of texts for characters. */
function unescaped(source: string, at: number, text: string, isBytes: boolean): Buffer {
  const parts: Buffer[] = [];
  for (let i = 0; i < text.length;) {
    const next = text.indexOf('\\', i);
    parts.push(Buffer.from(next < 0 ? text.slice(i) : text.slice(i, next)));
    if (next < 0) break;
    ESCAPE.lastIndex = next;
    const match = ESCAPE.exec(text);
    if (match === null) throw new CelSyntaxError(source, at, 'Syntax error: an escape that is none');
    parts.push(escaped(source, at, match, isBytes));
    i = ESCAPE.lastIndex;
  }
  return Buffer.concat(parts);
}

function escaped(
  source: string,
  at: number,
  [, simple, hex, short, long, octal]: RegExpExecArray,
  isBytes: boolean,
): Buffer {
  if (simple !== undefined) return Buffer.from(SIMPLE.get(simple) ?? '');
  const isOfByte = hex !== undefined || octal !== undefined;
  const code = octal === undefined ? Number.parseInt(hex ?? short ?? long ?? '', 16) : Number.parseInt(octal, 8);
  if (isBytes && !isOfByte) throw new CelSyntaxError(source, at, 'Syntax error: a character among bytes');
  if (isBytes) return Buffer.from([code]);
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    throw new CelSyntaxError(source, at, 'Syntax error: an escape of no character');
  return Buffer.from(String.fromCodePoint(code));
}
