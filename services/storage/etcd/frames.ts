import { StoreError } from '../store.js';
import { GRPC, type GrpcStatus } from './errors.js';

/** A gRPC message is preceded by a flag byte (1 = compressed) and its length. */
const PREFIX_BYTES = 5;

/** No answer is larger; one that claims to be is not read. */
const MAX_MESSAGE_BYTES = 1 << 30;

export function frame(message: Buffer): Buffer {
  const out = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  out[0] = 0;
  out.writeUInt32BE(message.length, 1);
  message.copy(out, PREFIX_BYTES);
  return out;
}

/**
 * Puts the messages of a stream together from the chunks that it comes in. A message that lies within one chunk is
 * given out as a part of that chunk; a larger one is collected in a buffer of its size.
 */
export class FrameReader {
  /** Received chunks that are not read yet, oldest first. */
  #chunks: Buffer[] = [];
  #queued = 0;
  /** A message that is being collected. */
  #partial: Buffer | undefined;
  #filled = 0;

  push(chunk: Buffer): void {
    if (this.#partial === undefined) {
      this.#chunks.push(chunk);
      this.#queued += chunk.length;
      return;
    }
    const taken = chunk.copy(this.#partial, this.#filled);
    this.#filled += taken;
    if (taken < chunk.length) {
      this.#chunks.push(chunk.subarray(taken));
      this.#queued += chunk.length - taken;
    }
  }

  /** The next whole message, if there is one. @throws {StoreError} corrupt */
  next(): Buffer | undefined {
    if (this.#partial === undefined && !this.#begin()) return undefined;
    if (this.#partial === undefined || this.#filled < this.#partial.length) return undefined;
    const message = this.#partial;
    this.#partial = undefined;
    return message;
  }

  /** Reads a prefix, and as much of the message behind it as is there. */
  #begin(): boolean {
    if (this.#queued < PREFIX_BYTES) return false;
    let first = this.#chunks[0] ?? Buffer.alloc(0);
    if (first.length < PREFIX_BYTES) first = Buffer.concat(this.#chunks.splice(0));
    else this.#chunks.shift();
    const size = first.readUInt32BE(1);
    if (first[0] !== 0 || size > MAX_MESSAGE_BYTES) {
      throw new StoreError('corrupt', `Cannot read a frame with flag ${first[0] ?? 0} and ${size} bytes`);
    }
    const end = PREFIX_BYTES + size;
    if (first.length >= end) {
      this.#partial = first.subarray(PREFIX_BYTES, end);
      this.#filled = size;
      if (first.length > end) this.#chunks.unshift(first.subarray(end));
      this.#queued -= end;
      return true;
    }
    const rest = this.#chunks;
    this.#chunks = [];
    this.#queued = 0;
    this.#partial = Buffer.allocUnsafeSlow(size);
    this.#filled = first.copy(this.#partial, 0, PREFIX_BYTES);
    for (const chunk of rest) this.push(chunk);
    return true;
  }
}

type HeaderBlock = Readonly<Record<string, string | string[] | number | undefined>>;

/** The gRPC status that a header block carries, if it does. */
export function statusOf(headers: HeaderBlock): GrpcStatus | undefined {
  const code = headers['grpc-status'];
  if (typeof code === 'string') {
    const message = headers['grpc-message'];
    return { code: Number(code), message: typeof message === 'string' ? unescape(message) : '' };
  }
  const http = headers[':status'];
  if (http === undefined || http === 200) return undefined;
  const refused = http === 401 || http === 403;
  return { code: refused ? GRPC.permissionDenied : GRPC.unavailable, message: `HTTP status ${String(http)}` };
}

function unescape(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message; // not percent-encoded as it should be: better as it is than not at all
  }
}
