import { BYTES, WireReader, malformed } from './wire.js';
import { written } from './wire-writer.js';

/** The magic number at the start of every Protobuf body. */
const PREFIX = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
/** Whatever the product is called: the media type that an absent one means. */
const PROTOBUF_MEDIA_TYPE = /^application\/vnd\.[a-z]+\.protobuf$/;

// The numbers of the envelope,
const TYPE_META = 1;
const RAW = 2;
const CONTENT_ENCODING = 3;
const CONTENT_TYPE = 4;
// and those of its TypeMeta.
const API_VERSION = 1;
const KIND = 2;

export interface Envelope {
  /** '' when the envelope does not say; so is the kind. */
  readonly apiVersion: string;
  readonly kind: string;
  /** The object; a part of the body, not a copy. */
  readonly raw: Buffer;
}

const NO_BYTES: Buffer = Buffer.alloc(0);

/**
 * Spec 1, 2.6. @throws {StatusError} BadRequest when the body is no envelope, or holds anything but Protobuf as it is.
 */
export function decodeEnvelope(bytes: Buffer): Envelope {
  if (!bytes.subarray(0, PREFIX.length).equals(PREFIX))
    throw malformed('the body does not begin with the expected prefix');
  const reader = new WireReader(bytes.subarray(PREFIX.length));
  const typeMeta = { apiVersion: '', kind: '' };
  let raw: Buffer = NO_BYTES;
  while (reader.next()) {
    if (reader.field === TYPE_META) readTypeMeta(reader, typeMeta);
    else if (reader.field === RAW) raw = reader.bytes();
    else if (reader.field === CONTENT_ENCODING) refuseEncoding(reader.text());
    else if (reader.field === CONTENT_TYPE) refuseOtherType(reader.text());
    else reader.skip();
  }
  return { ...typeMeta, raw };
}

function readTypeMeta(reader: WireReader, into: { apiVersion: string; kind: string }): void {
  const outer = reader.enter();
  while (reader.next()) {
    if (reader.field === API_VERSION) into.apiVersion = reader.text();
    else if (reader.field === KIND) into.kind = reader.text();
    else reader.skip();
  }
  reader.leave(outer);
}

function refuseEncoding(encoding: string): void {
  if (encoding !== '') throw malformed('the content of the envelope has an encoding');
}

function refuseOtherType(type: string): void {
  if (type !== '' && !PROTOBUF_MEDIA_TYPE.test(type)) throw malformed('the content of the envelope is not Protobuf');
}

/** The body of a request or of an answer: the object wrapped. */
export function encodeEnvelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const [head, tail] = encodeEnvelopeAround(apiVersion, kind, raw.length);
  return Buffer.concat([head, raw, tail]);
}

/** The bytes before and after an object that is sent in pieces. */
export function encodeEnvelopeAround(
  apiVersion: string,
  kind: string,
  rawLength: number,
): readonly [head: Buffer, tail: Buffer] {
  const head = written((writer) => {
    writer.integer(rawLength);
    writer.tag(RAW, BYTES);
    const mark = writer.mark();
    writer.textField(KIND, kind);
    writer.textField(API_VERSION, apiVersion);
    writer.length(mark);
    writer.tag(TYPE_META, BYTES);
  });
  return [Buffer.concat([PREFIX, head]), TAIL];
}

const TAIL = written((writer) => {
  writer.textField(CONTENT_TYPE, '');
  writer.textField(CONTENT_ENCODING, '');
});
