import { revision, type KeyValue, type Revision, type StoreEvent } from '../store.js';
import type { KeyRange, KeySpace } from './keys.js';
import { EMPTY, decodeHeader, decodeKeyValue } from './messages.js';
import { Reader, ReverseWriter } from './wire.js';

const writer = new ReverseWriter();

export interface WatchRequest {
  readonly range: KeyRange;
  readonly from: Revision;
  readonly withPrevious: boolean;
}

export function encodeWatchCreate(o: WatchRequest): Buffer {
  writer.begin();
  const mark = writer.mark();
  writer.uint(8, 1); // fragment: a batch larger than a request may be is sent in parts
  if (o.withPrevious) writer.uint(6, 1);
  writer.uint(4, 1); // progress_notify
  writer.uint(3, o.from);
  writer.bytes(2, o.range.end);
  writer.bytes(1, o.range.key);
  writer.nested(1, mark);
  return writer.finish();
}

/** Asks for the progress of all watches on the stream. */
export function encodeWatchProgress(): Buffer {
  writer.begin();
  writer.nested(3, writer.mark());
  return writer.finish();
}

/** Stands in for an id where the answer concerns every watch of the stream. */
export const ALL_WATCHES = -1;

export interface WatchResponse {
  readonly head: Revision;
  readonly watchId: number;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: Revision;
  readonly cancelReason: string;
  /** More of the same batch follows. */
  readonly fragment: boolean;
  readonly events: readonly StoreEvent[];
}

/** The values are parts of `message`. */
export function decodeWatchResponse(message: Buffer, space: KeySpace): WatchResponse {
  const events: StoreEvent[] = [];
  const out = {
    head: revision(0),
    watchId: 0,
    created: false,
    canceled: false,
    compactRevision: revision(0),
    cancelReason: '',
    fragment: false,
    events,
  };
  const r = new Reader(message);
  while (r.next()) {
    if (r.field === 11) events.push(decodeEvent(r.message(), space));
    else if (r.field === 1) out.head = decodeHeader(r.message());
    else if (r.field === 2) out.watchId = r.int();
    else if (r.field === 3) out.created = r.int() !== 0;
    else if (r.field === 4) out.canceled = r.int() !== 0;
    else if (r.field === 5) out.compactRevision = revision(r.int());
    else if (r.field === 6) out.cancelReason = r.text();
    else if (r.field === 7) out.fragment = r.int() !== 0;
    else r.skip();
  }
  return out;
}

const DELETE = 1;
const NOTHING: KeyValue = { key: '', value: EMPTY, createRevision: revision(0), modRevision: revision(0) };

function decodeEvent(r: Reader, space: KeySpace): StoreEvent {
  let type = 0;
  let kv = NOTHING;
  let previous: Buffer | undefined;
  while (r.next()) {
    if (r.field === 2) kv = decodeKeyValue(r.message(), space);
    else if (r.field === 1) type = r.int();
    else if (r.field === 3) previous = decodeKeyValue(r.message(), space).value;
    else r.skip();
  }
  return {
    type: type === DELETE ? 'delete' : 'put',
    key: kv.key,
    value: kv.value,
    createRevision: kv.createRevision,
    modRevision: kv.modRevision,
    previous,
  };
}
