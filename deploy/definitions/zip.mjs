// Reads the files of a zip archive: as much of the format as archives of Go modules use (no encryption, no parts, no zip64).
import { inflateRawSync } from 'node:zlib';

const END = 0x06054b50;
const ENTRY = 0x02014b50;
/** Size of the record at the end, and of a comment behind it at most. */
const END_BYTES = 22;
const COMMENT_BYTES = 65_535;
const DEFLATED = 8;

function endOf(archive) {
  for (let at = archive.length - END_BYTES; at >= Math.max(0, archive.length - END_BYTES - COMMENT_BYTES); at--) {
    if (archive.readUInt32LE(at) === END) return at;
  }
  throw new Error('not a zip archive');
}

/** The content of an entry, of which the central directory tells where it is. */
function contentOf(archive, { at, method, packed, size }) {
  const from = at + 30 + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28);
  const bytes = archive.subarray(from, from + packed);
  return method === DEFLATED ? inflateRawSync(bytes, { maxOutputLength: size + 1 }) : bytes;
}

/** Yields name and content of the files that are wanted. */
export function* filesOf(archive, isWanted) {
  const end = endOf(archive);
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    if (archive.readUInt32LE(at) !== ENTRY) throw new Error('a broken zip archive');
    const nameBytes = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + nameBytes);
    const entry = {
      method: archive.readUInt16LE(at + 10),
      packed: archive.readUInt32LE(at + 20),
      size: archive.readUInt32LE(at + 24),
      at: archive.readUInt32LE(at + 42),
    };
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    if (!name.endsWith('/') && isWanted(name)) yield { name, content: contentOf(archive, entry) };
  }
}
