import { BYTES, WireReader } from './wire.js';
import { written } from './wire-writer.js';

/** In front of each event, highest first. */
export const LENGTH_BYTES = 4;
// The numbers of a watch event,
const TYPE = 1;
const OBJECT = 2;
// and that of the raw object in it.
const RAW = 1;

/**
 * One event of a watch: its length in four bytes, highest first, then the event, which has no envelope itself.
 *
 * @param object In its envelope.
 */
export function encodeWatchFrame(type: string, object: Buffer): Buffer {
  const event = written((writer) => {
    const mark = writer.mark();
    writer.bytesField(RAW, object);
    writer.length(mark);
    writer.tag(OBJECT, BYTES);
    writer.textField(TYPE, type);
  });
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + event.length);
  frame.writeUInt32BE(event.length);
  event.copy(frame, LENGTH_BYTES);
  return frame;
}

/** @param event One event without its length. @returns The object in its envelope, a part of `event`. @throws {StatusError} */
export function decodeWatchEvent(event: Buffer): { readonly type: string; readonly object: Buffer } {
  const reader = new WireReader(event);
  let type = '';
  let object: Buffer = Buffer.alloc(0);
  while (reader.next()) {
    if (reader.field === TYPE) type = reader.text();
    else if (reader.field === OBJECT) object = readRaw(reader);
    else reader.skip();
  }
  return { type, object };
}

function readRaw(reader: WireReader): Buffer {
  let raw: Buffer = Buffer.alloc(0);
  const outer = reader.enter();
  while (reader.next()) {
    if (reader.field === RAW) raw = reader.bytes();
    else reader.skip();
  }
  reader.leave(outer);
  return raw;
}
