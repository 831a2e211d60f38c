import { isUtf8 } from 'node:buffer';
import type { StatusError } from '../../meta/status.js';
import { badRequest } from '../../meta/status.js';
import { NOT_EXACT } from '../../schema/trail.js';

/** How a value lies on the wire; the low three bits of a field's tag. */
export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
const START_GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;

export type WireType = typeof VARINT | typeof FIXED64 | typeof BYTES;

/** Deepest nesting of messages: readers of them recurse. */
const MAX_DEPTH = 100;
/**
 * Most messages in one body. An empty one takes two bytes and becomes an object of a hundred, so the length of the body
 * is no bound for what it turns into.
 */
const MAX_MESSAGES = 500_000;
const MAX_VARINT_BYTES = 10;
const TWO_32 = 2 ** 32;
/** The replacement character of decoders for bytes that are no UTF-8; a text that has it is looked at again. */
const REPLACEMENT = '\ufffd';

export const malformed = (why: string): StatusError => badRequest(`protobuf parse error: ${why}`);
const truncated = (): StatusError => malformed('unexpected end of the message');

/**
 * Reads a message that a stranger sent: `next()` moves to a field, then exactly one of the readers or `skip()` is
 * called. A nested message is `const end = reader.enter(); while (reader.next()) ...; reader.leave(end)`. Every length
 * is checked against the message around it. @throws {StatusError} BadRequest.
 */
export class WireReader {
  /** Number of the field that `next()` came to. */
  field = 0;
  #wireType = 0;
  #at = 0;
  #end: number;
  #depth = 0;
  #messages = 0;
  /** Halves of the number that was read last; both without sign. */
  #low = 0;
  #high = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#end = bytes.length;
  }

  /** Goes to the next field of the message at hand; false at its end. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    this.#varint();
    this.#wireType = this.#low & 7;
    this.field = this.#low >>> 3;
    if (this.#high !== 0 || this.field === 0) throw malformed('illegal field number');
    if (this.#wireType === END_GROUP) throw malformed('a group ends that was not begun');
    return true;
  }

  /** Goes into the message that is the field's value. @returns what `leave` wants. */
  enter(): number {
    const end = this.#length();
    if (++this.#depth > MAX_DEPTH) throw malformed(`exceeded max depth ${MAX_DEPTH}`);
    if (++this.#messages > MAX_MESSAGES) throw malformed(`more than ${MAX_MESSAGES} messages`);
    const outer = this.#end;
    this.#end = end;
    return outer;
  }

  leave(outer: number): void {
    this.#depth--;
    this.#end = outer;
  }

  /** Calls `read` for the values of a repeated number: one, or as many as were packed together. */
  unpack(wireType: WireType, read: () => void): void {
    if (this.#wireType !== BYTES) {
      read();
      return;
    }
    const outer = this.enter();
    this.#wireType = wireType;
    while (this.#at < this.#end) read();
    this.leave(outer);
  }

  bool(): boolean {
    this.#expect(VARINT);
    this.#varint();
    return this.#low !== 0 || this.#high !== 0;
  }

  int32(): number {
    this.#expect(VARINT);
    this.#varint();
    return this.#low | 0; // a negative one comes as 64 bits, of which these are the lower half
  }

  /** Exact: what a number cannot hold is refused. */
  int64(): number {
    this.#expect(VARINT);
    this.#varint();
    const value = (this.#high | 0) * TWO_32 + this.#low;
    if (!Number.isSafeInteger(value)) throw malformed(`field ${this.field}: ${NOT_EXACT}`);
    return value;
  }

  bigInt64(): bigint {
    this.#expect(VARINT);
    this.#varint();
    return (BigInt(this.#high | 0) << 32n) | BigInt(this.#low);
  }

  /** Finite: JSON has no other. */
  double(): number {
    this.#expect(FIXED64);
    const at = this.#at;
    this.#forward(8);
    const value = this.#bytes.readDoubleLE(at);
    if (!Number.isFinite(value)) throw malformed(`field ${this.field} is not a finite number`);
    return value;
  }

  /** Part of the message, not a copy. */
  bytes(): Buffer {
    const start = this.#start();
    return this.#bytes.subarray(start, this.#at);
  }

  base64(): string {
    const start = this.#start();
    return this.#bytes.toString('base64', start, this.#at);
  }

  text(): string {
    const start = this.#start();
    const text = this.#bytes.toString('utf8', start, this.#at);
    if (text.includes(REPLACEMENT) && !isUtf8(this.#bytes.subarray(start, this.#at))) {
      throw malformed(`field ${this.field} is not UTF-8`);
    }
    return text;
  }

  /** Skips the value of an unknown field. */
  skip(): void {
    let groups = 0;
    for (;;) {
      if (this.#wireType === START_GROUP) groups++;
      else if (this.#wireType === END_GROUP) groups--;
      else this.#skipValue();
      if (groups === 0) return;
      if (this.#at >= this.#end) throw truncated();
      this.#varint();
      this.#wireType = this.#low & 7;
    }
  }

  #skipValue(): void {
    if (this.#wireType === VARINT) this.#varint();
    else if (this.#wireType === BYTES) this.#at = this.#length();
    else if (this.#wireType === FIXED64) this.#forward(8);
    else if (this.#wireType === FIXED32) this.#forward(4);
    else throw malformed(`illegal wire type ${this.#wireType}`);
  }

  #expect(wireType: WireType): void {
    if (this.#wireType !== wireType) {
      throw malformed(`wrong wire type ${this.#wireType} for field ${this.field}`);
    }
  }

  /** Passes over a value of bytes, and tells where it begins. */
  #start(): number {
    const end = this.#length();
    const start = this.#at;
    this.#at = end;
    return start;
  }

  /** Reads a length. @returns where the value ends. */
  #length(): number {
    this.#expect(BYTES);
    this.#varint();
    const end = this.#at + this.#low;
    if (this.#high !== 0 || end > this.#end) throw truncated();
    return end;
  }

  #forward(size: number): void {
    if (this.#at + size > this.#end) throw truncated();
    this.#at += size;
  }

  /** Bits beyond the 64th are dropped, as other readers do. */
  #varint(): void {
    let low = 0;
    let high = 0;
    for (let i = 0, shift = 0; i < MAX_VARINT_BYTES; i++, shift += 7) {
      if (this.#at >= this.#end) throw truncated();
      const byte = this.#bytes[this.#at++] ?? 0;
      const bits = byte & 0x7f;
      if (shift < 32) low |= bits << shift;
      if (shift > 28) high |= bits << (shift - 32);
      else if (shift === 28) high = bits >>> 4; // the group that lies in both halves
      if (byte < 0x80) {
        this.#low = low >>> 0;
        this.#high = high >>> 0;
        return;
      }
    }
    throw malformed('a number has no end');
  }
}
