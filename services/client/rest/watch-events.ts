import type { JsonObject } from '../../machinery/meta/object.js';
import { decodeWatchEvent, LENGTH_BYTES } from '../../machinery/codec/protobuf/watch-frame.js';
import { isProtobuf, type Codec } from './codec.js';
import { errorOfStatus } from './errors.js';

/** The longest event. Objects are bound to less. */
const MAX_EVENT_BYTES = 32 * 1024 * 1024;
const LINE_END = 0x0a;

/** An event as it is sent. */
export interface SentEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/**
 * The events in the pieces of a watch. @throws {ApiError} For an event of type ERROR. @throws {Error} when one cannot be
 * read, or is longer than 32 MB.
 */
export async function* watchEvents(
  pieces: AsyncIterable<Buffer>,
  contentType: string | undefined,
  codec: Codec,
): AsyncGenerator<SentEvent> {
  const inFrames = isProtobuf(contentType);
  const splitter = new Splitter(inFrames ? endOfFrame : endOfLine);
  for await (const piece of pieces) {
    for (const bytes of splitter.split(piece)) {
      if (bytes.length <= 1) continue; // an empty line
      const event = inFrames ? readFrame(bytes, contentType, codec) : readLine(bytes);
      if (event.type === 'ERROR') throw errorOfStatus(event.object);
      yield event;
    }
  }
}

const readLine = (line: Buffer): SentEvent => JSON.parse(line.toString('utf8')) as SentEvent;

function readFrame(frame: Buffer, contentType: string | undefined, codec: Codec): SentEvent {
  const { type, object } = decodeWatchEvent(frame.subarray(LENGTH_BYTES));
  return { type, object: codec.decode(contentType, object) };
}

/** Where the first part ends, after its last byte; undefined: not in these bytes. @param from Looked at before. */
type FindEnd = (bytes: Buffer, from: number) => number | undefined;

function endOfLine(bytes: Buffer, from: number): number | undefined {
  const at = bytes.indexOf(LINE_END, from);
  return at < 0 ? undefined : at + 1;
}

function endOfFrame(bytes: Buffer): number | undefined {
  if (bytes.length < LENGTH_BYTES) return undefined;
  const end = LENGTH_BYTES + bytes.readUInt32BE(0);
  if (end > MAX_EVENT_BYTES) throw tooLong();
  return end <= bytes.length ? end : undefined;
}

const tooLong = (): Error => new Error(`An event is longer than ${MAX_EVENT_BYTES} bytes`);

/** Puts parts together that come in pieces. */
class Splitter {
  readonly #endOf: FindEnd;
  /** The beginning of a part, in pieces: they are joined when its end may be there. */
  #pieces: Buffer[] = [];
  #length = 0;
  #joinAt = 0;

  constructor(endOf: FindEnd) {
    this.#endOf = endOf;
  }

  *split(piece: Buffer): Generator<Buffer> {
    this.#pieces.push(piece);
    const looked = this.#length;
    this.#length += piece.length;
    // Joining at every piece would copy a long part as often as it has pieces.
    if (this.#endOf === endOfLine ? !piece.includes(LINE_END) : this.#length < this.#joinAt) {
      if (this.#length > MAX_EVENT_BYTES) throw tooLong();
      return;
    }
    let rest = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    for (let end = this.#endOf(rest, looked); end !== undefined; end = this.#endOf(rest, 0)) {
      yield rest.subarray(0, end);
      rest = rest.subarray(end);
    }
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    this.#joinAt = rest.length < LENGTH_BYTES ? LENGTH_BYTES : LENGTH_BYTES + rest.readUInt32BE(0);
    if (this.#length > MAX_EVENT_BYTES) throw tooLong();
  }
}
