import { StoreError, revision, type Revision } from '../store.js';

/**
 * How the store lies in one ordered table of bytes. The first byte of a key says what it is:
 *
 *   a <lease:8> <key>                      a key that a lease holds; no value
 *   h <key, escaped> 00 00 <~revision:8> <sub:4> <deleted:1>
 *                                          one version of a key, newest first; no value
 *   k <key>                                a key that exists now: where its newest version is
 *   l <lease:8>                            a lease: its seconds
 *   m <name>                               what the store knows about itself
 *   r <revision:8> <sub:4>                 one change, with its value; sub counts within a revision
 *
 * So a value is written once and at the end of the table, a read at the newest revision never meets history, and a
 * read at an old one steps over versions by seeking.
 */
const TAG = { attached: 0x61, history: 0x68, current: 0x6b, lease: 0x6c, meta: 0x6d, log: 0x72 } as const;

const TWO_32 = 2 ** 32;
const NEWEST = Number.MAX_SAFE_INTEGER;
const HISTORY_TAIL = 13;
/** The table takes keys of 1,978 bytes; this leaves room for a key of which each byte is escaped, and its tail. */
export const MAX_KEY_BYTES = 1024;
const MAX_TABLE_KEY_BYTES = 1978;

/** A lease as it is stored; 0n holds nothing. */
export type LeaseNumber = bigint;
export const NO_LEASE: LeaseNumber = 0n;

/** Where the newest version of a key is. */
export interface Current {
  readonly modRevision: Revision;
  readonly sub: number;
  readonly createRevision: Revision;
  readonly lease: LeaseNumber;
}

/** One change as it is stored. `bytes` is the whole record; `value` lies in it. */
export interface Change {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly value: Buffer;
  readonly revision: Revision;
  readonly sub: number;
  /** 0 for a delete. */
  readonly createRevision: Revision;
  /** The version before this one; revision 0 = there was none. */
  readonly previousRevision: Revision;
  readonly previousSub: number;
}

/** One version of a key as its history names it. */
export interface Version {
  readonly revision: Revision;
  readonly sub: number;
  readonly deleted: boolean;
}

const writeNumber = (target: Buffer, n: number, at: number): void => {
  target.writeUInt32BE(Math.floor(n / TWO_32), at);
  target.writeUInt32BE(n % TWO_32, at + 4);
};
const readNumber = (source: Buffer, at: number): number =>
  source.readUInt32BE(at) * TWO_32 + source.readUInt32BE(at + 4);

function tagged(tag: number, key: string): Buffer {
  const bytes = Buffer.allocUnsafe(1 + Buffer.byteLength(key));
  bytes[0] = tag;
  bytes.write(key, 1);
  return bytes;
}

export const currentKey = (key: string): Buffer => tagged(TAG.current, key);
export const keyOfCurrent = (bytes: Buffer): string => bytes.toString('utf8', 1);
export const metaKey = (name: string): Buffer => tagged(TAG.meta, name);

export function logKey(at: number, sub: number): Buffer {
  const bytes = Buffer.allocUnsafe(13);
  bytes[0] = TAG.log;
  writeNumber(bytes, at, 1);
  bytes.writeUInt32BE(sub, 9);
  return bytes;
}

export const revisionOfLog = (bytes: Buffer): Revision => revision(readNumber(bytes, 1));
export const subOfLog = (bytes: Buffer): number => bytes.readUInt32BE(9);
/** The log from `from` to `to`, both included. */
export const logRange = (from: number, to: number): Span => ({ start: logKey(from, 0), end: logKey(to + 1, 0) });

export function leaseKey(lease: LeaseNumber): Buffer {
  const bytes = Buffer.allocUnsafe(9);
  bytes[0] = TAG.lease;
  bytes.writeBigUInt64BE(lease, 1);
  return bytes;
}
export const leaseOfKey = (bytes: Buffer): LeaseNumber => bytes.readBigUInt64BE(1);

export function attachedKey(lease: LeaseNumber, key: string): Buffer {
  const bytes = Buffer.allocUnsafe(9 + Buffer.byteLength(key));
  bytes[0] = TAG.attached;
  bytes.writeBigUInt64BE(lease, 1);
  bytes.write(key, 9);
  return bytes;
}
export const keyOfAttached = (bytes: Buffer): string => bytes.toString('utf8', 9);

/** Keys from `start` up to but not including `end`. */
export interface Span {
  readonly start: Buffer;
  readonly end: Buffer;
}

/** All table keys that start with `bytes`. */
export function spanOf(bytes: Buffer): Span {
  const end = Buffer.from(bytes);
  let last = end.length - 1;
  while (last > 0 && end[last] === 0xff) last--;
  end[last] = (end[last] ?? 0) + 1; // a tag is below 0xff, so there is always a byte that can grow
  return { start: bytes, end: end.subarray(0, last + 1) };
}

export const currentSpan = (prefix: string): Span => spanOf(currentKey(prefix));
export const historySpan = (prefix: string): Span => spanOf(escaped(prefix, 0));
export const attachedSpan = (lease: LeaseNumber): Span => spanOf(attachedKey(lease, ''));
export const leaseSpan: Span = spanOf(Buffer.of(TAG.lease));
export const logSpan: Span = spanOf(Buffer.of(TAG.log));

/** `h` and the key with 00 written as 00 FF, so that 00 00 can end it and keys keep their order. */
function escaped(key: string, tail: number): Buffer {
  if (!key.includes('\0')) {
    const size = 1 + Buffer.byteLength(key);
    const bytes = Buffer.allocUnsafe(size + tail);
    bytes[0] = TAG.history;
    bytes.write(key, 1);
    return bytes;
  }
  const parts = key.split('\0').map((part) => Buffer.from(part));
  const zero = Buffer.of(0x00, 0xff);
  const joined = parts.flatMap((part, i) => (i === 0 ? [part] : [zero, part]));
  return Buffer.concat([Buffer.of(TAG.history), ...joined, Buffer.alloc(tail)]);
}

/** The versions of `key` from `at` down to the oldest: `start` is where the newest that is not above `at` would be. */
export function versionsSpan(key: string, at: number = NEWEST): Span {
  const start = escaped(key, 10);
  const keyEnd = start.length - 10;
  start.writeUInt16BE(0, keyEnd);
  writeNumber(start, NEWEST - at, keyEnd + 2);
  return { start, end: pastVersions(start.subarray(0, keyEnd)) };
}

/** Where the history of the first key after `escapedKey` may begin. */
export const pastVersions = (escapedKey: Uint8Array): Buffer => Buffer.concat([escapedKey, Buffer.of(0, 1)]);

/** Where the versions at `at` and below begin, of the key that `escapedKey` names. */
export function versionsFrom(escapedKey: Uint8Array, at: number): Buffer {
  const tail = Buffer.alloc(10);
  writeNumber(tail, NEWEST - at, 2);
  return Buffer.concat([escapedKey, tail]);
}

export function historyKey(key: string, v: Version): Buffer {
  const tail = 2 + HISTORY_TAIL;
  const bytes = escaped(key, tail);
  const at = bytes.length - tail;
  bytes.writeUInt16BE(0, at);
  writeNumber(bytes, NEWEST - v.revision, at + 2);
  bytes.writeUInt32BE(v.sub, at + 10);
  bytes[at + 14] = v.deleted ? 1 : 0;
  return bytes;
}

/** The part of a history key that is the same for all versions of a key. */
export const escapedKeyOf = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length - HISTORY_TAIL - 2);

export function versionOf(bytes: Buffer): Version {
  const at = bytes.length - HISTORY_TAIL;
  return {
    revision: revision(NEWEST - readNumber(bytes, at)),
    sub: bytes.readUInt32BE(at + 8),
    deleted: bytes[at + 12] === 1,
  };
}

export const CURRENT_BYTES = 28;

export function encodeCurrent(c: Current): Buffer {
  const bytes = Buffer.allocUnsafe(CURRENT_BYTES);
  writeNumber(bytes, c.modRevision, 0);
  bytes.writeUInt32BE(c.sub, 8);
  writeNumber(bytes, c.createRevision, 12);
  bytes.writeBigUInt64BE(c.lease, 20);
  return bytes;
}

export const decodeCurrent = (bytes: Buffer): Current => ({
  modRevision: revision(readNumber(bytes, 0)),
  sub: bytes.readUInt32BE(8),
  createRevision: revision(readNumber(bytes, 12)),
  lease: bytes.readBigUInt64BE(20),
});

const CHANGE_HEADER = 23;

/** Copies `value`: the caller may use its buffer again. */
export function encodeChange(c: Change): Buffer {
  const keyBytes = Buffer.byteLength(c.key);
  const bytes = Buffer.allocUnsafe(CHANGE_HEADER + keyBytes + c.value.length);
  bytes[0] = c.type === 'put' ? 1 : 2;
  writeNumber(bytes, c.createRevision, 1);
  writeNumber(bytes, c.previousRevision, 9);
  bytes.writeUInt32BE(c.previousSub, 17);
  bytes.writeUInt16BE(keyBytes, 21);
  bytes.write(c.key, CHANGE_HEADER);
  bytes.set(c.value, CHANGE_HEADER + keyBytes);
  return bytes;
}

export const valueOffset = (record: Buffer): number => CHANGE_HEADER + record.readUInt16BE(21);

/** `value` is part of `record`. @throws {StoreError} corrupt */
export function decodeChange(at: Revision, sub: number, record: Buffer): Change {
  const type = record[0] === 1 ? 'put' : 'delete';
  const known = record[0] === 1 || record[0] === 2;
  if (record.length < CHANGE_HEADER || !known || valueOffset(record) > record.length) {
    throw new StoreError('corrupt', `Cannot read change ${sub} of revision ${at}: its record is malformed`);
  }
  const value = valueOffset(record);
  return {
    type,
    key: record.toString('utf8', CHANGE_HEADER, value),
    value: record.subarray(value),
    revision: at,
    sub,
    createRevision: revision(readNumber(record, 1)),
    previousRevision: revision(readNumber(record, 9)),
    previousSub: record.readUInt32BE(17),
  };
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** @throws {StoreError} tooLarge @throws {RangeError} for a key that has no bytes of its own */
export function checkKey(key: string): void {
  if (key === '') throw new RangeError('Cannot use an empty key');
  if (LONE_SURROGATE.test(key))
    throw new RangeError(`Cannot use key ${JSON.stringify(key)}: it is not well-formed text`);
  if (Buffer.byteLength(key) > MAX_KEY_BYTES || escaped(key, 15).length > MAX_TABLE_KEY_BYTES) {
    throw new StoreError(
      'tooLarge',
      `Cannot use a key of ${Buffer.byteLength(key)} bytes: the most is ${MAX_KEY_BYTES}`,
    );
  }
}

export function encodeNumber(n: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  writeNumber(bytes, n, 0);
  return bytes;
}
export const decodeNumber = (bytes: Buffer): number => readNumber(bytes, 0);
