import { ByteWriter } from './byte-writer.js';
import { turns, type Asker } from './turns.js';

/** Rewrites JSON in another form. What it is given comes in order, and no word of it lies in two pieces. */
export interface Printer {
  /** Reads a piece and writes what is known of it, up to some 32 KB between two yields. */
  print(piece: Buffer): Generator<Buffer>;
  /** Closing text, written when all is read. */
  end(): Buffer;
}

/** Prints a body in stints. The pieces belong to the caller. @throws `asker.signal.reason` */
export async function printed(asker: Asker, pieces: readonly Buffer[], printer: Printer): Promise<Buffer[]> {
  const out: Buffer[] = [];
  const stint = await turns.begin(asker);
  try {
    for (const piece of pieces) {
      for (const part of printer.print(piece)) {
        out.push(part);
        if (stint.over) await stint.pause();
      }
    }
    out.push(printer.end());
    return out;
  } finally {
    stint.end();
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const PART_BYTES = 32 * 1024;
/** Deeper, JSON is indented no further and YAML is in its inline form: the spaces alone would be too many. */
const MAX_DEPTH = 64;

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const endsWord = (byte: number): boolean =>
  byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || byte === COLON || isSpace(byte);

/** Where the string or word that begins at `at` ends. */
function wordEnd(bytes: Buffer, at: number): number {
  let end = at + 1;
  if (bytes[at] !== QUOTE) {
    while (end < bytes.length && !endsWord(bytes[end] ?? 0)) end++;
    return end;
  }
  for (;;) {
    const quote = bytes.indexOf(QUOTE, end);
    if (quote < 0) return bytes.length;
    let escapes = 0;
    while (bytes[quote - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return quote + 1;
    end = quote + 1;
  }
}

const LINES: readonly string[] = Array.from({ length: MAX_DEPTH + 1 }, (_, depth) => `\n${'  '.repeat(depth)}`);
const lineAt = (depth: number): string => LINES[Math.min(depth, MAX_DEPTH)] ?? '';

/** The part of both printers: goes through the tokens, and hands over what is written from time to time. */
abstract class WordPrinter implements Printer {
  protected out = new ByteWriter();
  /** A bracket was read last: whether something is in it is not known yet. */
  protected opened = 0;

  *print(piece: Buffer): Generator<Buffer> {
    for (let at = 0; at < piece.length;) {
      const byte = piece[at] ?? 0;
      if (isSpace(byte)) at++;
      else if (byte === COMMA || byte === COLON || byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        this.mark(byte);
        at++;
      } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        this.open(byte);
        at++;
      } else {
        const end = wordEnd(piece, at);
        this.word(piece.subarray(at, end));
        at = end;
      }
      if (this.out.length >= PART_BYTES) yield this.#part();
    }
  }

  end(): Buffer {
    return this.#part();
  }

  /** A comma, a colon or a closing bracket. */
  protected abstract mark(byte: number): void;
  protected abstract open(byte: number): void;
  /** A string with its quotes, a number, true, false or null. */
  protected abstract word(bytes: Buffer): void;

  #part(): Buffer {
    const part = this.out.finish();
    this.out = new ByteWriter();
    return part;
  }
}

const TEXT = new Map([COMMA, COLON, CLOSE_OBJECT, CLOSE_LIST, OPEN_OBJECT, OPEN_LIST].map((b) => [b, String.fromCharCode(b)])); // prettier-ignore
const textOf = (byte: number): string => TEXT.get(byte) ?? '';

/** JSON with one member a line. */
export class IndentedJson extends WordPrinter {
  #depth = 0;

  protected mark(byte: number): void {
    if (byte === COLON) this.out.text(': ');
    else if (byte === COMMA) this.out.text(`,${lineAt(this.#depth)}`);
    else {
      this.#depth--;
      this.out.text(this.opened === 0 ? `${lineAt(this.#depth)}${textOf(byte)}` : textOf(byte));
      this.opened = 0;
    }
  }

  protected open(byte: number): void {
    this.#begin();
    this.out.text(textOf(byte));
    this.#depth++;
    this.opened = byte;
  }

  protected word(bytes: Buffer): void {
    this.#begin();
    this.out.bytes(bytes);
  }

  #begin(): void {
    if (this.opened !== 0) this.out.text(lineAt(this.#depth));
    this.opened = 0;
  }
}

/** Texts that YAML reads as such without quotes, in any of its versions. */
const PLAIN = /^[A-Za-z_/][\w./+=@%-]*(?:[ :][\w./+=@%(]+[\w./+=@%,()-]*)*$/;
const NO_TEXT = /^(?:true|false|yes|no|on|off|y|n|null|e\d+)$/i;
const MAX_PLAIN_BYTES = 128;
/** A longer one has to be announced. */
const MAX_KEY_BYTES = 1000;
/** Line ends and controls that JSON leaves as they are. */
const NOT_PRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const isAscii = (bytes: Buffer): boolean => bytes.every((byte) => byte < 0x7f);

/** A string of JSON is one of YAML as well; what needs no quotes reads better without. */
function scalar(bytes: Buffer): Buffer | string {
  if (bytes[0] !== QUOTE) return bytes;
  if (bytes.length <= MAX_PLAIN_BYTES) {
    const text = bytes.toString('latin1', 1, bytes.length - 1);
    if (PLAIN.test(text) && !NO_TEXT.test(text)) return text;
  }
  return isAscii(bytes) ? bytes : bytes.toString('utf8').replaceAll(NOT_PRINTABLE, escaped);
}

/** An object or a list that is being written. */
interface Level {
  readonly isObject: boolean;
  /** Of its members. */
  readonly depth: number;
  /** Its first member stands where it begins: behind the dash of a list, or at the very start. */
  readonly inline: boolean;
}

/** YAML in its block style, in the order of the JSON. */
export class BlockYaml extends WordPrinter {
  readonly #levels: Level[] = [];
  /** The name of a member was read, and its value comes. */
  #named = false;
  /** Depth within what is too deep to be indented: it stays JSON, which is YAML. */
  #flow = 0;

  override end(): Buffer {
    this.out.text('\n');
    return super.end();
  }

  protected mark(byte: number): void {
    if (this.#flow > 0) this.#flowMark(byte);
    else if (byte === COLON) this.#named = true;
    else if (byte === COMMA) this.#named = false;
    else {
      this.#levels.pop();
      if (this.opened !== 0) this.#put(byte === CLOSE_OBJECT ? '{}' : '[]');
      this.opened = 0;
      this.#named = false;
    }
  }

  protected open(byte: number): void {
    if (this.#flow === 0) this.#begin();
    const outer = this.#levels.at(-1);
    if (this.#flow > 0 || (outer?.depth ?? 0) >= MAX_DEPTH) {
      if (this.#flow++ === 0) this.#put('');
      this.out.text(textOf(byte));
      return;
    }
    const isObject = byte === OPEN_OBJECT;
    const inline = outer?.isObject !== true;
    const depth = outer === undefined ? 0 : outer.depth + (outer.isObject && !isObject ? 0 : 1);
    this.#levels.push({ isObject, depth, inline });
    this.#named = false;
    this.opened = byte;
  }

  protected word(bytes: Buffer): void {
    if (this.#flow > 0) this.out.bytes(bytes);
    else if (this.#levels.at(-1)?.isObject === true && !this.#named) this.#key(bytes);
    else {
      this.#begin();
      this.#put(scalar(bytes));
      this.#named = false;
    }
  }

  #flowMark(byte: number): void {
    this.out.text(byte === COLON ? ': ' : textOf(byte));
    if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#flow--;
  }

  #key(bytes: Buffer): void {
    const { depth } = this.#line();
    const long = bytes.length > MAX_KEY_BYTES;
    if (long) this.out.text('? ');
    this.#write(scalar(bytes));
    this.out.text(long ? `${lineAt(depth)}:` : ':');
  }

  /** Begins the line of a list's item. That of a member has begun with its name. */
  #begin(): void {
    if (this.#levels.at(-1)?.isObject !== false) return;
    this.#line();
    this.out.text('- ');
  }

  #line(): Pick<Level, 'depth'> {
    const level = this.#levels.at(-1) ?? { depth: 0, inline: true };
    const stays = this.opened !== 0 && level.inline;
    this.opened = 0;
    if (!stays) this.out.text(lineAt(level.depth));
    return level;
  }

  /** Writes a value on the line that has begun. */
  #put(value: Buffer | string): void {
    if (this.#levels.at(-1)?.isObject === true) this.out.text(' ');
    this.#write(value);
  }

  #write(value: Buffer | string): void {
    if (typeof value === 'string') this.out.text(value);
    else this.out.bytes(value);
  }
}
