import { createHmac, randomBytes } from 'node:crypto';
import { VARINT, WireReader, BYTES } from '../../../machinery/codec/protobuf/wire.js';
import { written } from '../../../machinery/codec/protobuf/wire-writer.js';
import { openGcm, sealGcm, tooShort } from '../aes.js';
import { UnreadableValue } from '../transformer.js';

/** How a value was encrypted with the key that its envelope brings along. */
export const SOURCE = {
  /** AES in GCM, with that key. */
  key: 0,
  /** AES in GCM, with a key for this value alone: derived of that one, the seed, and of random bytes. */
  seed: 1,
} as const;

/** A stored value, and its key as the service has encrypted it. */
export interface Envelope {
  readonly data: Buffer;
  /** Of the service's own key. */
  readonly keyId: string;
  readonly source: Buffer;
  /** What the service wants to be told when it decrypts. */
  readonly annotations: ReadonlyMap<string, Buffer>;
  readonly sourceType: number;
}

const MAX_KEY_ID = 1024;
const MAX_SOURCE = 1024;
const MAX_ANNOTATIONS = 32 * 1024;
/** Names with dots, in lower case. */
const DOMAIN = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/;

/** Whether a service may say so. @returns undefined, or why not */
export function wrongEnvelope({
  keyId,
  source,
  annotations,
}: Omit<Envelope, 'data' | 'sourceType'>): string | undefined {
  if (keyId === '' || Buffer.byteLength(keyId) > MAX_KEY_ID) return `key_id must have 1 to ${MAX_KEY_ID} bytes`;
  if (source.length === 0 || source.length > MAX_SOURCE) return `ciphertext must have 1 to ${MAX_SOURCE} bytes`;
  let size = 0;
  for (const [name, value] of annotations) {
    if (!DOMAIN.test(name)) return 'names of annotations must be fully qualified domain names';
    size += Buffer.byteLength(name) + value.length;
  }
  return size > MAX_ANNOTATIONS ? `annotations must have ${MAX_ANNOTATIONS} bytes at most` : undefined;
}

/** The message `EncryptedObject`. */
export const encodeEnvelope = ({ data, keyId, source, annotations, sourceType }: Envelope): Buffer =>
  written((writer) => {
    if (sourceType !== 0) writer.integerField(5, sourceType);
    for (const [name, value] of [...annotations].reverse()) {
      const mark = writer.mark();
      writer.bytesField(2, value);
      writer.textField(1, name);
      writer.length(mark);
      writer.tag(4, BYTES);
    }
    writer.bytesField(3, source);
    writer.textField(2, keyId);
    writer.bytesField(1, data);
  });

/** @throws {UnreadableValue} */
export function decodeEnvelope(bytes: Buffer): Envelope {
  const annotations = new Map<string, Buffer>();
  const read = { data: Buffer.alloc(0), keyId: '', source: Buffer.alloc(0), sourceType: 0, annotations };
  try {
    readFields(new WireReader(bytes), read);
  } catch {
    throw new UnreadableValue('the stored value is no envelope of a key management service');
  }
  const wrong = wrongEnvelope(read) ?? (read.data.length === 0 ? 'there is no data' : undefined);
  if (wrong !== undefined) throw new UnreadableValue(`the stored envelope cannot be used: ${wrong}`);
  return read;
}

type Fields = { -readonly [K in keyof Envelope]: Envelope[K] } & { readonly annotations: Map<string, Buffer> };

function readFields(reader: WireReader, into: Fields): void {
  while (reader.next()) {
    if (reader.field === 1) into.data = reader.bytes();
    else if (reader.field === 2) into.keyId = reader.text();
    else if (reader.field === 3) into.source = reader.bytes();
    else if (reader.field === 4) readAnnotation(reader, into.annotations);
    else if (reader.field === 5) reader.unpack(VARINT, () => (into.sourceType = reader.int32()));
    else reader.skip();
  }
}

function readAnnotation(reader: WireReader, into: Map<string, Buffer>): void {
  const outer = reader.enter();
  let name = '';
  let value: Buffer = Buffer.alloc(0);
  while (reader.next()) {
    if (reader.field === 1) name = reader.text();
    else if (reader.field === 2) value = reader.bytes();
    else reader.skip();
  }
  reader.leave(outer);
  into.set(name, value);
}

/** Bytes of a key, of a seed, and of what a key is derived by. */
export const KEY_BYTES = 32;

/** HKDF with SHA-256, its second half alone: the seed is random already. One block is as long as a key. */
const derived = (seed: Buffer, info: Buffer): Buffer =>
  createHmac('sha256', seed).update(info).update(Buffer.of(1)).digest();

/** @param seed 32 random bytes or more. @param key Authenticated along with the value. */
export function sealWithSeed(seed: Buffer, key: string, plain: Buffer): Buffer {
  const info = randomBytes(KEY_BYTES);
  return Buffer.concat([info, sealGcm(derived(seed, info), key, plain)]);
}

/** @throws {UnreadableValue} */
export function openSealed(secret: Buffer, key: string, { data, sourceType }: Envelope): Buffer {
  if (sourceType === SOURCE.key) return openGcm(secret, key, data);
  if (sourceType !== SOURCE.seed) throw new UnreadableValue(`the stored envelope has an unknown type: ${sourceType}`);
  if (data.length < KEY_BYTES) throw tooShort();
  return openGcm(derived(secret, data.subarray(0, KEY_BYTES)), key, data.subarray(KEY_BYTES));
}
