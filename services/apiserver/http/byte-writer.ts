const FIRST_BYTES = 16 * 1024;

/** Puts texts and bytes one behind the other. */
export class ByteWriter {
  #buffer: Buffer;
  #end = 0;

  /** @param firstBytes Room at the beginning. */
  constructor(firstBytes = FIRST_BYTES) {
    this.#buffer = Buffer.allocUnsafeSlow(firstBytes);
  }

  get length(): number {
    return this.#end;
  }

  text(text: string): void {
    this.#room(text.length * 3); // most that UTF-8 takes for a unit of UTF-16
    this.#end += this.#buffer.write(text, this.#end);
  }

  bytes(bytes: Buffer): void {
    this.#room(bytes.length);
    this.#end += bytes.copy(this.#buffer, this.#end);
  }

  /** The written bytes; the writer cannot be used afterwards. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#end);
  }

  /** A copy of what was written, which takes no more room than that; the writer begins again with the room it has. */
  take(): Buffer {
    const taken = Buffer.allocUnsafeSlow(this.#end);
    this.#buffer.copy(taken, 0, 0, this.#end);
    this.#end = 0;
    return taken;
  }

  #room(size: number): void {
    if (this.#end + size <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#end + size));
    this.#buffer.copy(larger, 0, 0, this.#end);
    this.#buffer = larger;
  }
}
