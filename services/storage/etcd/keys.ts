/** How keys of the interface become keys of etcd, and back. */
export interface KeySpace {
  /** Stands before every key in etcd; '' for none. */
  readonly prefix: string;
  /** Its length in bytes. */
  readonly prefixBytes: number;
}

export const keySpace = (prefix = ''): KeySpace => ({ prefix, prefixBytes: Buffer.byteLength(prefix) });

const LOWEST_KEY = Buffer.from([0]);
/** As the end of a range: there is none. */
const NO_END = Buffer.from([0]);

/** The first key, bytewise, that is above every key which starts with `prefix`. */
export function prefixEnd(prefix: Buffer): Buffer {
  for (let last = prefix.length - 1; last >= 0; last--) {
    const byte = prefix[last] ?? 0xff;
    if (byte === 0xff) continue;
    const end = Buffer.from(prefix.subarray(0, last + 1));
    end[last] = byte + 1;
    return end;
  }
  return NO_END;
}

export interface KeyRange {
  readonly key: Buffer;
  readonly end: Buffer;
}

/** The keys that start with `prefix`. */
export function prefixRange(space: KeySpace, prefix: string): KeyRange {
  const key = Buffer.from(space.prefix + prefix);
  return { key: key.length === 0 ? LOWEST_KEY : key, end: prefixEnd(key) };
}

/** The keys that start with `prefix`, from `from` on; there may be none left. */
export function rangeFrom(space: KeySpace, prefix: string, from: string): KeyRange {
  const { key, end } = prefixRange(space, prefix);
  const first = Buffer.from(space.prefix + from);
  return { key: Buffer.compare(first, key) > 0 ? first : key, end };
}
