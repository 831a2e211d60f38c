import { StoreError } from '../store.js';

/** Wire types of the protobuf encoding. Groups (3 and 4) are not in use. */
export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;

const KEEP_BYTES = 1 << 20;
const TWO_28 = 2 ** 28;
const TWO_56 = 2 ** 56;

/**
 * Writes protobuf messages from their end to their beginning, so that the length of a nested message is known when it
 * is written: no second pass and no copies between. Fields are therefore given in reverse order, and a nested message
 * is `const end = w.mark(); ...its fields...; w.nested(field, end)`.
 *
 * One writer serves one message at a time, from `begin` to `finish`.
 */
export class ReverseWriter {
  #buffer = Buffer.allocUnsafeSlow(64 * 1024);
  /** First byte that is written; what lies below is free. */
  #start = this.#buffer.length;

  /** Forgets what a message that failed half way has left. */
  begin(): void {
    this.#start = this.#buffer.length;
  }

  /** Distance from the end of the message, which stays true when the buffer grows. */
  mark(): number {
    return this.#buffer.length - this.#start;
  }

  nested(field: number, mark: number): void {
    this.varint(this.mark() - mark);
    this.tag(field, BYTES);
  }

  bytes(field: number, value: Buffer): void {
    this.#room(value.length);
    this.#start -= value.length;
    value.copy(this.#buffer, this.#start);
    this.varint(value.length);
    this.tag(field, BYTES);
  }

  /** A string, or two that follow each other. */
  text(field: number, value: string, before = ''): void {
    const mark = this.mark();
    this.#text(value);
    if (before !== '') this.#text(before);
    this.nested(field, mark);
  }

  /** An int64, bool or enum from 0 up to 2^53. */
  uint(field: number, value: number): void {
    this.varint(value);
    this.tag(field, VARINT);
  }

  /** A positive int64 that may be too wide for a number. */
  big(field: number, value: bigint): void {
    const groups: number[] = [];
    for (let rest = value; rest > 0n || groups.length === 0; rest >>= 7n) groups.push(Number(rest & 0x7fn));
    this.#room(groups.length);
    for (let i = groups.length - 1; i >= 0; i--) {
      this.#buffer[--this.#start] = (groups[i] ?? 0) | (i === groups.length - 1 ? 0 : 0x80);
    }
    this.tag(field, VARINT);
  }

  /** A copy of what was written, at `headroom` bytes from the start of a buffer. */
  finish(headroom = 0): Buffer {
    const size = this.mark();
    const out = Buffer.allocUnsafe(headroom + size);
    this.#buffer.copy(out, headroom, this.#start);
    if (this.#buffer.length > KEEP_BYTES) this.#buffer = Buffer.allocUnsafeSlow(64 * 1024);
    this.#start = this.#buffer.length;
    return out;
  }

  tag(field: number, wireType: number): void {
    this.varint(field * 8 + wireType);
  }

  varint(value: number): void {
    this.#room(10);
    if (value < 0x80) {
      this.#buffer[--this.#start] = value;
      return;
    }
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    this.#start -= size;
    let rest = value;
    for (let at = this.#start; at < this.#start + size - 1; at++) {
      this.#buffer[at] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#start + size - 1] = rest;
  }

  #text(value: string): void {
    const size = Buffer.byteLength(value);
    this.#room(size);
    this.#start -= size;
    this.#buffer.write(value, this.#start, size, 'utf8');
  }

  #room(size: number): void {
    if (this.#start >= size) return;
    const used = this.mark();
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, used + size + 1024));
    this.#buffer.copy(larger, larger.length - used, this.#start);
    this.#buffer = larger;
    this.#start = larger.length - used;
  }
}

const malformed = (what: string): StoreError =>
  new StoreError('corrupt', `Cannot read an answer of the store: ${what}`);

/**
 * Reads a protobuf message: `next()` moves to a field, then exactly one of the readers or `skip()` is called. Buffers
 * that it gives out are parts of the message, not copies. @throws {StoreError} corrupt
 */
export class Reader {
  /** Number of the field that `next()` came to. */
  field = 0;
  #wireType = 0;
  #at: number;
  readonly #end: number;
  readonly #buffer: Buffer;

  constructor(buffer: Buffer, start = 0, end = buffer.length) {
    this.#buffer = buffer;
    this.#at = start;
    this.#end = end;
  }

  next(): boolean {
    if (this.#at >= this.#end) return false;
    const tag = this.#varint();
    this.#wireType = tag & 7;
    this.field = Math.floor(tag / 8);
    return true;
  }

  /** An int64, bool or enum. Exact: a value that a number cannot hold is refused. */
  int(): number {
    this.#expect(VARINT);
    return this.#varint();
  }

  /** An int64 of any width. */
  bigint(): bigint {
    this.#expect(VARINT);
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw malformed('a number has no end');
  }

  bytes(): Buffer {
    const end = this.#lengthEnd();
    const out = this.#buffer.subarray(this.#at, end);
    this.#at = end;
    return out;
  }

  /** @param leaveOut Bytes at the start that are not wanted. */
  text(leaveOut = 0): string {
    const end = this.#lengthEnd();
    const out = this.#buffer.toString('utf8', Math.min(this.#at + leaveOut, end), end);
    this.#at = end;
    return out;
  }

  message(): Reader {
    const end = this.#lengthEnd();
    const out = new Reader(this.#buffer, this.#at, end);
    this.#at = end;
    return out;
  }

  skip(): void {
    if (this.#wireType === VARINT) this.#skipVarint();
    else if (this.#wireType === BYTES) this.#at = this.#lengthEnd();
    else if (this.#wireType === FIXED64) this.#forward(8);
    else if (this.#wireType === FIXED32) this.#forward(4);
    else throw malformed(`wire type ${this.#wireType}`);
  }

  #expect(wireType: number): void {
    if (this.#wireType !== wireType) throw malformed(`field ${this.field} has wire type ${this.#wireType}`);
  }

  #skipVarint(): void {
    for (let bytes = 0; bytes < 10; bytes++) if (this.#byte() < 0x80) return;
    throw malformed('a number has no end');
  }

  #lengthEnd(): number {
    this.#expect(BYTES);
    const length = this.#varint();
    const end = this.#at + length;
    if (length < 0 || end > this.#end) throw malformed(`field ${this.field} is longer than its message`);
    return end;
  }

  #forward(size: number): void {
    if (this.#at + size > this.#end) throw malformed('it ends in the middle');
    this.#at += size;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw malformed('it ends in the middle');
    return this.#buffer[this.#at++] ?? 0;
  }

  /** Four groups of seven bits fit the integers that the engine is quick with; most numbers need no more. */
  #varint(): number {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return low;
    }
    let middle = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      middle |= (byte & 0x7f) << shift;
      if (byte < 0x80) return this.#exact(middle * TWO_28 + low);
    }
    const ninth = this.#byte();
    const tenth = ninth < 0x80 ? 0 : this.#byte();
    if (tenth > 1) throw malformed('a number has no end');
    const high = (ninth & 0x7f) + tenth * 0x80;
    // The top of the range is that of small negative numbers: -1 is written as ten bytes.
    return this.#exact((tenth === 1 ? high - 0x100 : high) * TWO_56 + middle * TWO_28 + low);
  }

  #exact(value: number): number {
    if (!Number.isSafeInteger(value)) throw malformed(`field ${this.field} does not fit a number`);
    return value;
  }
}
