import {
  NO_REVISION,
  StoreError,
  revision,
  type Condition,
  type KeyValue,
  type LeaseId,
  type Operation,
  type RangeOptions,
  type RangeResult,
  type Revision,
  type StoreSpace,
  type Transaction,
  type TransactionResult,
} from '../store.js';
import type { KeyRange, KeySpace } from './keys.js';
import type { Head } from './lineage.js';
import { Reader, ReverseWriter } from './wire.js';

// Requests and answers of the calls that every request of a client waits for, written out by hand: a general decoder
// costs more than etcd's own work. Field numbers are those of proto/etcd/rpc.proto; the test compares with it.

const writer = new ReverseWriter();

const EQUAL_MOD = { result: 0, target: 2 } as const;

/** A request for one key. */
export function encodeGet(space: KeySpace, key: string, at: Revision | undefined): Buffer {
  writer.begin();
  if (at !== undefined) writer.uint(4, at);
  writer.text(1, key, space.prefix);
  return writer.finish();
}

export function encodeRange(range: KeyRange, o: Omit<RangeOptions, 'from'>): Buffer {
  writer.begin();
  if (o.revision !== undefined) writer.uint(4, o.revision);
  if (o.limit !== undefined) writer.uint(3, o.limit);
  writer.bytes(2, range.end);
  writer.bytes(1, range.key);
  return writer.finish();
}

/** A request that reads no key and only brings back the head revision. */
export function encodeHead(space: KeySpace): Buffer {
  writer.begin();
  writer.uint(9, 1); // count only
  writer.text(1, '\0', space.prefix);
  return writer.finish();
}

export function encodeTxn(space: KeySpace, t: Transaction): Buffer {
  writer.begin();
  for (const key of reversed(t.otherwiseGet ?? [])) {
    const op = writer.mark();
    const range = writer.mark();
    writer.text(1, key, space.prefix);
    writer.nested(1, range);
    writer.nested(3, op);
  }
  for (const operation of reversed(t.operations)) encodeOperation(space, operation);
  for (const condition of reversed(t.conditions)) encodeCondition(space, condition);
  return writer.finish();
}

function* reversed<T>(items: readonly T[]): Iterable<T> {
  for (let i = items.length - 1; i >= 0; i--) yield items[i] as T; // i is within bounds
}

function encodeOperation(space: KeySpace, operation: Operation): void {
  const op = writer.mark();
  const inner = writer.mark();
  if (operation.type === 'put') {
    if (operation.lease !== undefined) writer.big(3, leaseNumber(operation.lease));
    writer.bytes(2, operation.value);
    writer.text(1, operation.key, space.prefix);
    writer.nested(2, inner);
  } else {
    writer.text(1, operation.key, space.prefix);
    writer.nested(3, inner);
  }
  writer.nested(2, op);
}

function encodeCondition(space: KeySpace, condition: Condition): void {
  const mark = writer.mark();
  writer.uint(6, condition.modRevision);
  writer.text(3, condition.key, space.prefix);
  writer.uint(2, EQUAL_MOD.target);
  writer.uint(1, EQUAL_MOD.result);
  writer.nested(1, mark);
}

/** @throws {StoreError} leaseNotFound when it cannot be the name of a lease */
export function leaseNumber(lease: LeaseId): bigint {
  if (!/^[1-9][0-9]{0,18}$/.test(lease)) throw new StoreError('leaseNotFound', `No lease can have the id "${lease}"`);
  return BigInt(lease);
}

export function encodeCompaction(at: Revision): Buffer {
  writer.begin();
  writer.uint(1, at);
  return writer.finish();
}

/** The header of an answer to a range request. */
export function decodeHead(answer: Buffer): Head {
  let head: Head = { revision: NO_REVISION, cluster: 0n };
  const r = new Reader(answer);
  while (r.next()) {
    if (r.field === 1) head = decodeFullHeader(r.message());
    else r.skip();
  }
  return head;
}

function decodeFullHeader(r: Reader): Head {
  let cluster = 0n;
  let head = 0;
  while (r.next()) {
    if (r.field === 1) cluster = r.bigint();
    else if (r.field === 3) head = r.int();
    else r.skip();
  }
  return { revision: revision(head), cluster };
}

/** Reads the revision out of a ResponseHeader. */
export function decodeHeader(r: Reader): Revision {
  let head = 0;
  while (r.next()) {
    if (r.field === 3) head = r.int();
    else r.skip();
  }
  return revision(head);
}

export function decodeKeyValue(r: Reader, space: KeySpace): KeyValue {
  let key = '';
  let value = EMPTY;
  let createRevision = 0;
  let modRevision = 0;
  while (r.next()) {
    if (r.field === 1) key = r.text(space.prefixBytes);
    else if (r.field === 2) createRevision = r.int();
    else if (r.field === 3) modRevision = r.int();
    else if (r.field === 5) value = r.bytes();
    else r.skip();
  }
  return { key, value, createRevision: revision(createRevision), modRevision: revision(modRevision) };
}

export const EMPTY: Buffer = Buffer.alloc(0);

/** The values are parts of `answer`. */
export function decodeRange(answer: Buffer | Reader, space: KeySpace): RangeResult {
  const r = answer instanceof Reader ? answer : new Reader(answer);
  const kvs: KeyValue[] = [];
  let head = revision(0);
  let more = false;
  let count = 0;
  while (r.next()) {
    if (r.field === 1) head = decodeHeader(r.message());
    else if (r.field === 2) kvs.push(decodeKeyValue(r.message(), space));
    else if (r.field === 3) more = r.int() !== 0;
    else if (r.field === 4) count = r.int();
    else r.skip();
  }
  return { revision: head, kvs, more, count };
}

export function decodeTxn(answer: Buffer, space: KeySpace): TransactionResult {
  const r = new Reader(answer);
  const responses: Reader[] = [];
  let head = revision(0);
  let succeeded = false;
  while (r.next()) {
    if (r.field === 1) head = decodeHeader(r.message());
    else if (r.field === 2) succeeded = r.int() !== 0;
    else if (r.field === 3) responses.push(r.message());
    else r.skip();
  }
  if (succeeded) return { succeeded, revision: head };
  return { succeeded, revision: head, found: responses.map((it) => decodeFound(it, space)) };
}

function decodeFound(r: Reader, space: KeySpace): KeyValue | undefined {
  let found: KeyValue | undefined;
  while (r.next()) {
    if (r.field === 1) found = decodeRange(r.message(), space).kvs[0];
    else r.skip();
  }
  return found;
}

/** What the answer to a status request tells of its room: an alarm for space counts of whichever member. */
export function decodeSpace(answer: Buffer): StoreSpace {
  const r = new Reader(answer);
  let full = false;
  let bytes = 0;
  while (r.next()) {
    if (r.field === 3) bytes = r.int();
    else if (r.field === 8) full = r.text().includes('alarm:NOSPACE') || full;
    else r.skip();
  }
  return { full, bytes };
}

/** The version in the answer to a status request. */
export function decodeVersion(answer: Buffer): string {
  const r = new Reader(answer);
  let version = '';
  while (r.next()) {
    if (r.field === 2) version = r.text();
    else r.skip();
  }
  return version;
}
