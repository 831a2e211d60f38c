import { closeSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { ClientConfigError } from './member.js';

/** Longest file that is read: a configuration of many clusters has some hundred kilobytes. */
export const MAX_FILE_BYTES = 1024 * 1024;

const PIECE = 64 * 1024;

/**
 * The bytes of a file, or of whatever else can be read to an end, such as a pipe.
 *
 * @throws {ClientConfigError} In one line that names the file; for one of more than `maxBytes` too.
 */
export function readBounded(path: string, maxBytes = MAX_FILE_BYTES): Buffer {
  try {
    const fd = openSync(path, 'r');
    try {
      const pieces: Buffer[] = [];
      for (let length = 0; ;) {
        const piece = Buffer.allocUnsafe(PIECE);
        const read = readSync(fd, piece);
        if (read === 0) return Buffer.concat(pieces);
        pieces.push(piece.subarray(0, read));
        if ((length += read) > maxBytes) throw tooLong(path, maxBytes);
      }
    } finally {
      closeSync(fd);
    }
  } catch (err) {
    throw unreadable(path, err);
  }
}

/** The same without holding up others. */
export async function readBoundedLater(path: string, maxBytes = MAX_FILE_BYTES): Promise<Buffer> {
  try {
    const file = await open(path, 'r');
    try {
      const pieces: Buffer[] = [];
      for (let length = 0; ;) {
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE));
        if (bytesRead === 0) return Buffer.concat(pieces);
        pieces.push(buffer.subarray(0, bytesRead));
        if ((length += bytesRead) > maxBytes) throw tooLong(path, maxBytes);
      }
    } finally {
      await file.close();
    }
  } catch (err) {
    throw unreadable(path, err);
  }
}

const tooLong = (path: string, maxBytes: number): ClientConfigError =>
  new ClientConfigError(`${path}: is longer than ${maxBytes} bytes`);

const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    ENOENT: 'does not exist',
    EACCES: 'may not be read',
    EISDIR: 'is a directory',
  }),
);

function unreadable(path: string, err: unknown): ClientConfigError {
  if (err instanceof ClientConfigError) return err;
  const code = err instanceof Error && 'code' in err ? String(err.code) : '';
  return new ClientConfigError(`${path}: ${REASONS.get(code) ?? `cannot be read (${code})`}`, { cause: err });
}
