import { CommandError } from '../failure.js';
import type { LeaseId } from '../../storage/store.js';

// A backup file (docs/adr/0021): the magic, then frames, each a length of 4 bytes and as many bytes. The first frame is the
// header, as JSON. One frame an entry follows; a frame of no bytes ends them. The last frame is the trailer, as JSON, and the
// SHA-256 of everything before it ends the file. Numbers are big-endian.

export const MAGIC = Buffer.from('platform-backup\n');
export const FORMAT_VERSION = 1;
export const DIGEST_BYTES = 32;
/** No value that a store takes is near it. */
export const MAX_FRAME_BYTES = 64 << 20;

/** What is known before the first entry. */
export interface BackupHeader {
  readonly formatVersion: number;
  readonly productVersion: string;
  readonly vocabulary: string;
  /** As the store had it; keys of entries are without it. */
  readonly prefix: string;
  /** The entries are the state at this revision. */
  readonly revision: number;
  readonly time: string;
  readonly count: number;
}

/** What is known after the last one. */
export interface BackupTrailer {
  readonly entries: number;
  /** Entries that a lease holds. */
  readonly leased: number;
  /** Entries whose values are encrypted. */
  readonly encrypted: number;
}

/** Who holds an entry, and how long that had to go when the backup was made. */
export interface BackupLease {
  /** Its name in the store that was backed up: entries of one lease end together. */
  readonly id: LeaseId;
  readonly secondsLeft: number;
}

export interface BackupEntry {
  /** Below the prefix. */
  readonly key: string;
  /** As stored: encrypted values stay encrypted. */
  readonly value: Buffer;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly lease: BackupLease | undefined;
}

const PARTS = { keyBytes: 2, createRevision: 8, modRevision: 8, lease: 8, secondsLeft: 4 } as const;
const FIXED_BYTES = Object.values(PARTS).reduce((sum, it) => sum + it, 0);

export function framed(payload: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(4 + payload.length);
  frame.writeUInt32BE(payload.length, 0);
  payload.copy(frame, 4);
  return frame;
}

export const framedJson = (value: object): Buffer => framed(Buffer.from(JSON.stringify(value)));

export function encodeEntry(e: BackupEntry): Buffer {
  const key = Buffer.from(e.key);
  const out = Buffer.allocUnsafe(FIXED_BYTES + key.length + e.value.length);
  let at = out.writeUInt16BE(key.length, 0);
  at = out.writeBigUInt64BE(BigInt(e.createRevision), at);
  at = out.writeBigUInt64BE(BigInt(e.modRevision), at);
  at = out.writeBigUInt64BE(BigInt(e.lease?.id ?? 0), at);
  at = out.writeUInt32BE(Math.min(e.lease?.secondsLeft ?? 0, 0xffffffff), at);
  at += key.copy(out, at);
  e.value.copy(out, at);
  return out;
}

/** `value` is part of `frame`. @throws {CommandError} */
export function decodeEntry(frame: Buffer): BackupEntry {
  const keyBytes = frame.length < FIXED_BYTES ? 0 : frame.readUInt16BE(0);
  if (frame.length < FIXED_BYTES + keyBytes) throw new CommandError('An entry of the backup is cut short');
  const lease = frame.readBigUInt64BE(18);
  const end = FIXED_BYTES + keyBytes;
  return {
    key: frame.toString('utf8', FIXED_BYTES, end),
    value: frame.subarray(end),
    createRevision: Number(frame.readBigUInt64BE(2)),
    modRevision: Number(frame.readBigUInt64BE(10)),
    lease: lease === 0n ? undefined : { id: lease.toString() as LeaseId, secondsLeft: frame.readUInt32BE(26) },
  };
}

type Shape = Readonly<Record<string, 'string' | 'number'>>;

const HEADER: Shape = {
  formatVersion: 'number',
  productVersion: 'string',
  vocabulary: 'string',
  prefix: 'string',
  revision: 'number',
  time: 'string',
  count: 'number',
};
const TRAILER: Shape = { entries: 'number', leased: 'number', encrypted: 'number' };

/** @throws {CommandError} */
export function decodeHeader(frame: Buffer): BackupHeader {
  const header = decodeJson(frame, HEADER, 'header') as BackupHeader; // its members were looked at
  if (header.formatVersion === FORMAT_VERSION) return header;
  throw new CommandError(
    `The backup has format ${header.formatVersion} (made by ${header.productVersion}); this release reads ${FORMAT_VERSION}`,
  );
}

/** @throws {CommandError} */
export const decodeTrailer = (frame: Buffer): BackupTrailer => decodeJson(frame, TRAILER, 'trailer') as BackupTrailer; // its members were looked at

function decodeJson(frame: Buffer, shape: Shape, what: string): unknown {
  let parsed: unknown;
  try {
    parsed = JSON.parse(frame.toString());
  } catch {
    parsed = undefined;
  }
  const members = new Map(typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : []);
  const fits = Object.entries(shape).every(([name, type]) => typeof members.get(name) === type);
  if (!fits) throw new CommandError(`The ${what} of the backup cannot be read`);
  return parsed;
}

const ENCRYPTED = /^[a-z0-9]+:enc:[a-z]+:/;

/** Whether a value was encrypted before it was stored; other values are JSON, or short texts without colons. */
export const isEncrypted = (value: Buffer): boolean => ENCRYPTED.test(value.toString('latin1', 0, 64));
