/** One element of DER: what it is, what it holds, and all its bytes. */
export interface Element {
  readonly tag: number;
  readonly content: Buffer;
  readonly whole: Buffer;
}

/** The bytes are not what they should be. */
export class DerProblem extends Error {
  override readonly name = 'DerProblem';
}

export const TAG = {
  integer: 0x02,
  bitString: 0x03,
  objectId: 0x06,
  sequence: 0x30,
  attributes: 0xa0,
} as const;

const MAX_LENGTH_BYTES = 4;

/** Reads elements one after the other. Nothing is looked at twice, and nothing is copied. */
export class DerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isDone(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** @throws {DerProblem} when another element comes, or none */
  next(tag: number): Element {
    const start = this.#at;
    if (this.#byte() !== tag) throw new DerProblem("asn1: structure error: tags don't match");
    const length = this.#length();
    const contentStart = this.#at;
    const end = contentStart + length;
    if (end > this.#bytes.length) throw new DerProblem('asn1: syntax error: data truncated');
    this.#at = end;
    return { tag, content: this.#bytes.subarray(contentStart, end), whole: this.#bytes.subarray(start, end) };
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new DerProblem('asn1: syntax error: sequence truncated');
    return byte;
  }

  #length(): number {
    const first = this.#byte();
    if (first < 0x80) return first;
    const count = first & 0x7f;
    if (count === 0 || count > MAX_LENGTH_BYTES) throw new DerProblem('asn1: structure error: length too large');
    let length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + this.#byte();
    return length;
  }
}
