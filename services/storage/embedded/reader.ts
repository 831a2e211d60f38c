import { StoreError, type KeyValue, type RangeOptions, type Revision } from '../store.js';
import type { Table } from './environment.js';
import {
  currentKey,
  currentSpan,
  decodeChange,
  decodeCurrent,
  escapedKeyOf,
  historySpan,
  keyOfCurrent,
  logKey,
  logRange,
  logSpan,
  pastVersions,
  revisionOfLog,
  subOfLog,
  valueOffset,
  versionOf,
  versionsFrom,
  versionsSpan,
  type Change,
  type Current,
  type Span,
  type Version,
} from './records.js';

/** The result of a range without the head revision. */
export interface Found {
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  readonly count: number | undefined;
}

/** A few steps cost less than a seek; a key with a long history must not be walked. */
const STEPS_BEFORE_SEEK = 8;

/** Reads of what was committed and released. Pure over the snapshot: asks nothing about revisions being readable. */
export class Reader {
  readonly #env: Table;

  constructor(env: Table) {
    this.#env = env;
  }

  current(key: string): Current | undefined {
    const bytes = this.#env.get(currentKey(key));
    return bytes === undefined ? undefined : decodeCurrent(bytes);
  }

  get(key: string): KeyValue | undefined {
    const at = this.current(key);
    return at === undefined ? undefined : this.keyValue(key, at);
  }

  getAt(key: string, at: Revision): KeyValue | undefined {
    for (const found of this.#env.keys(versionsSpan(key, at), { limit: 1 })) {
      const version = versionOf(found);
      return version.deleted ? undefined : toKeyValue(this.change(version.revision, version.sub));
    }
    return undefined;
  }

  /** Reads index and log as they are now: O(keys returned), plus a native count of the rest. */
  range(prefix: string, o: RangeOptions): Found {
    const span = startingAt(currentSpan(prefix), o.from === undefined ? undefined : currentKey(o.from));
    if (span === undefined) return { kvs: [], more: false, count: 0 };
    const kvs: KeyValue[] = [];
    for (const { key, value } of this.#env.entries(span, o.limit === undefined ? {} : { limit: o.limit })) {
      kvs.push(this.keyValue(keyOfCurrent(key), decodeCurrent(value)));
    }
    const cut = o.limit !== undefined && kvs.length >= o.limit;
    const count = cut ? this.#env.count(span) : kvs.length;
    return { kvs, more: count > kvs.length, count };
  }

  /** O(keys that there are or were up to the limit); a long history of one key costs a seek. */
  rangeAt(prefix: string, at: Revision, o: RangeOptions): Found {
    const limit = o.limit ?? Infinity;
    const from = o.from === undefined ? undefined : versionsSpan(o.from).start;
    const span = startingAt(historySpan(prefix), from);
    const kvs: KeyValue[] = [];
    if (span === undefined) return { kvs, more: false, count: 0 };
    for (const version of this.versionsAt(span, at)) {
      if (version.deleted) continue;
      if (kvs.length >= limit) return { kvs, more: true, count: undefined };
      kvs.push(toKeyValue(this.change(version.revision, version.sub)));
    }
    return { kvs, more: false, count: kvs.length };
  }

  /** Of each key in the span the newest version that is not above `at`. */
  private *versionsAt(span: Span, at: Revision): Generator<Version> {
    let start: Buffer | undefined = span.start;
    let told: Buffer | undefined; // the key whose version was found already
    while (start !== undefined) {
      const from: Buffer = start;
      start = undefined;
      let skipped = 0;
      for (const bytes of this.#env.keys({ start: from, end: span.end })) {
        const key = escapedKeyOf(bytes);
        const done = told?.equals(key) ?? false;
        const version = versionOf(bytes);
        if (!done && version.revision <= at) {
          yield version;
          told = key;
          skipped = 0;
        } else if (++skipped > STEPS_BEFORE_SEEK) {
          start = done ? pastVersions(key) : versionsFrom(key, at);
          break;
        }
      }
    }
  }

  /** The changes of `from` and later, up to and including `to`, in order. */
  *changes(from: Revision, to: Revision): Generator<Change> {
    for (const { key, value } of this.#env.entries(logRange(from, to))) {
      yield decodeChange(revisionOfLog(key), subOfLog(key), value);
    }
  }

  /** The value before a change; undefined when there was none or it was compacted. */
  previousOf(c: Change): Buffer | undefined {
    if (c.previousRevision === 0) return undefined;
    const record = this.#env.get(logKey(c.previousRevision, c.previousSub));
    return record?.subarray(valueOffset(record));
  }

  /** The newest revision that was written; undefined in an empty store. Compaction never takes its last change. */
  lastRevision(): Revision | undefined {
    for (const key of this.#env.keys(logSpan, { limit: 1, reverse: true })) return revisionOfLog(key);
    return undefined;
  }

  private keyValue(key: string, at: Current): KeyValue {
    const record = this.#env.get(logKey(at.modRevision, at.sub));
    if (record === undefined) throw missing(at.modRevision, at.sub);
    const value = record.subarray(valueOffset(record));
    return { key, value, createRevision: at.createRevision, modRevision: at.modRevision };
  }

  private change(at: Revision, sub: number): Change {
    const record = this.#env.get(logKey(at, sub));
    if (record === undefined) throw missing(at, sub);
    return decodeChange(at, sub, record);
  }
}

const missing = (at: Revision, sub: number): StoreError =>
  new StoreError('corrupt', `Cannot read change ${sub} of revision ${at}: the index names it but it is not there`);

export const toKeyValue = (c: Change): KeyValue => ({
  key: c.key,
  value: c.value,
  createRevision: c.createRevision,
  modRevision: c.revision,
});

/** The part of `span` that is not below `from`; undefined when there is none. */
function startingAt(span: Span, from: Buffer | undefined): Span | undefined {
  if (from === undefined || Buffer.compare(from, span.start) <= 0) return span;
  return Buffer.compare(from, span.end) < 0 ? { start: from, end: span.end } : undefined;
}
