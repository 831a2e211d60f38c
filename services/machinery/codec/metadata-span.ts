const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/**
 * The JSON of `metadata` in bytes of the stored form (see encode.ts), as a part of them: no copy, and no parse of what
 * may be a large object behind it.
 *
 * @param prefixLength Length of the kind's `storagePrefix`: metadata's first member starts there.
 */
export function metadataSpan(bytes: Buffer, prefixLength: number): Buffer {
  let depth = 1;
  for (let i = prefixLength; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === QUOTE) i = endOfString(bytes, i + 1);
    else if (byte === OPEN) depth++;
    else if (byte === CLOSE && --depth === 0) return bytes.subarray(prefixLength - 1, i + 1);
  }
  throw new Error('Stored bytes end inside metadata');
}

/** Where the closing quote of a string stands whose first character is at `from`. */
function endOfString(bytes: Buffer, from: number): number {
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === BACKSLASH) i++;
    else if (byte === QUOTE) return i;
  }
  return bytes.length;
}
