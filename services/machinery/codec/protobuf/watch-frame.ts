import { BYTES } from './wire.js';
import { written } from './wire-writer.js';

const LENGTH_BYTES = 4;
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
