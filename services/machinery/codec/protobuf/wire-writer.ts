import { BYTES, VARINT } from './wire.js';

const FIRST_BYTES = 16 * 1024;
/** A buffer that grew beyond this is not kept for the next message. */
const KEEP_BYTES = 1024 * 1024;
const TWO_32 = 2 ** 32;

/**
 * Writes a message from its end to its beginning, so that the length of a nested one is known when it is written: no
 * second pass, no copies between. Hence every value is written before its length and its tag, and fields in reverse
 * order: `const end = writer.mark(); ...its fields...; writer.length(end); writer.tag(field, BYTES)`.
 */
export class WireWriter {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** First byte that is written; what lies below is free. */
  #start = FIRST_BYTES;

  /** Bytes written so far: true also after the buffer has grown. */
  mark(): number {
    return this.#buffer.length - this.#start;
  }

  /** Of what was written since `mark`. */
  length(mark: number): void {
    this.#varint(this.mark() - mark, 0);
  }

  tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType, 0);
  }

  bool(value: boolean): void {
    this.#varint(value ? 1 : 0, 0);
  }

  /** A safe integer. Negative ones take ten bytes, as 32-bit ones do too. */
  integer(value: number): void {
    this.#varint(value >>> 0, Math.floor(value / TWO_32) >>> 0);
  }

  bigInt64(value: bigint): void {
    this.#varint(Number(BigInt.asUintN(32, value)), Number(BigInt.asUintN(32, value >> 32n)));
  }

  double(value: number): void {
    this.#room(8);
    this.#start -= 8;
    this.#buffer.writeDoubleLE(value, this.#start);
  }

  /** With its length. */
  text(value: string): void {
    const size = Buffer.byteLength(value);
    this.#room(size);
    this.#start -= size;
    this.#buffer.write(value, this.#start, size, 'utf8');
    this.#varint(size, 0);
  }

  /** With their length. */
  bytes(value: Buffer): void {
    this.#room(value.length);
    this.#start -= value.length;
    value.copy(this.#buffer, this.#start);
    this.#varint(value.length, 0);
  }

  textField(field: number, value: string): void {
    this.text(value);
    this.tag(field, BYTES);
  }

  bytesField(field: number, value: Buffer): void {
    this.bytes(value);
    this.tag(field, BYTES);
  }

  integerField(field: number, value: number): void {
    this.integer(value);
    this.tag(field, VARINT);
  }

  /** A copy of what was written. */
  finish(): Buffer {
    return Buffer.from(this.#buffer.subarray(this.#start));
  }

  /** Forgets all that was written, also by a writer that failed half way. */
  reset(): void {
    if (this.#buffer.length > KEEP_BYTES) this.#buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.#start = this.#buffer.length;
  }

  /** Two halves of 64 bits, both without sign. */
  #varint(low: number, high: number): void {
    this.#room(10);
    if (high === 0 && low < 0x80) {
      this.#buffer[--this.#start] = low;
      return;
    }
    let size = 1;
    for (let l = low, h = high; h !== 0 || l >= 0x80; size++) {
      l = ((l >>> 7) | (h << 25)) >>> 0;
      h >>>= 7;
    }
    this.#start -= size;
    for (let i = 0, l = low, h = high; i < size; i++) {
      this.#buffer[this.#start + i] = (l & 0x7f) | (i < size - 1 ? 0x80 : 0);
      l = ((l >>> 7) | (h << 25)) >>> 0;
      h >>>= 7;
    }
  }

  #room(size: number): void {
    if (this.#start >= size) return;
    const used = this.mark();
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, used + size + FIRST_BYTES));
    this.#buffer.copy(larger, larger.length - used, this.#start);
    this.#buffer = larger;
    this.#start = larger.length - used;
  }
}

const shared = new WireWriter();

/** The bytes that `write` writes: one message at a time, in one buffer that all share. */
export function written(write: (writer: WireWriter) => void): Buffer {
  shared.reset();
  write(shared);
  return shared.finish();
}
