import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { CommandError } from '../failure.js';
import {
  DIGEST_BYTES,
  MAGIC,
  MAX_FRAME_BYTES,
  decodeEntry,
  decodeHeader,
  decodeTrailer,
  encodeEntry,
  framed,
  framedJson,
  isEncrypted,
  type BackupEntry,
  type BackupHeader,
  type BackupTrailer,
} from './format.js';

/** Where the bytes of a backup go. Resolves when more may be given. */
export type Sink = (bytes: Buffer) => Promise<void>;

/** What a backup is, once all of it was read. */
export interface BackupSummary extends BackupHeader, BackupTrailer {
  /** The SHA-256 of the whole, in hex: names it. */
  readonly digest: string;
}

/** Bytes that are gathered before they are written. */
const CHUNK_BYTES = 1 << 20;
const SHORT = 'The backup ends before its end: it is not whole';

/** Writes a backup: the header at once, entries in ascending order, then `finish()`. */
export class BackupWriter {
  readonly #sink: Sink;
  readonly #header: BackupHeader;
  readonly #hash = createHash('sha256');
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  readonly #trailer = { entries: 0, leased: 0, encrypted: 0 };

  constructor(sink: Sink, header: BackupHeader) {
    this.#sink = sink;
    this.#header = header;
    this.#gather(MAGIC);
    this.#gather(framedJson(header));
  }

  async add(entry: BackupEntry): Promise<void> {
    this.#trailer.entries += 1;
    if (entry.lease !== undefined) this.#trailer.leased += 1;
    if (isEncrypted(entry.value)) this.#trailer.encrypted += 1;
    this.#gather(framed(encodeEntry(entry)));
    if (this.#gatheredBytes >= CHUNK_BYTES) await this.#flush();
  }

  async finish(): Promise<BackupSummary> {
    this.#gather(framed(Buffer.alloc(0)));
    this.#gather(framedJson(this.#trailer));
    await this.#flush();
    const digest = this.#hash.digest();
    await this.#sink(digest);
    return { ...this.#header, ...this.#trailer, digest: digest.toString('hex') };
  }

  #gather(bytes: Buffer): void {
    this.#gathered.push(bytes);
    this.#gatheredBytes += bytes.length;
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#gathered);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#hash.update(bytes);
    await this.#sink(bytes);
  }
}

/** The bytes of a stream, as many at a time as are asked for. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #hash: Hash;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>, hash: Hash) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#hash = hash;
  }

  /** @throws {CommandError} when there are not as many */
  async take(size: number, o: { readonly hashed: boolean } = { hashed: true }): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = size;
    for (;;) {
      const part = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(part.length);
      parts.push(part);
      missing -= part.length;
      if (missing === 0) break;
      if (!(await this.#more())) throw new CommandError(SHORT);
    }
    const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    if (o.hashed) this.#hash.update(bytes);
    return bytes;
  }

  async frame(): Promise<Buffer> {
    const size = (await this.take(4)).readUInt32BE(0);
    if (size > MAX_FRAME_BYTES) throw new CommandError(`The backup is damaged: it has a frame of ${size} bytes`);
    return this.take(size);
  }

  async atEnd(): Promise<boolean> {
    return this.#rest.length === 0 && !(await this.#more());
  }

  async #more(): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done === true) return false;
    this.#rest = next.value;
    return true;
  }
}

export type Source = () => AsyncIterable<Buffer>;

export const fileSource =
  (path: string): Source =>
  () =>
    createReadStream(path, { highWaterMark: CHUNK_BYTES });

/**
 * Reads a backup from its beginning to its end and checks all of it.
 *
 * @returns The summary, which can be trusted only then. @throws {CommandError} it is damaged, or none
 */
export async function* readBackup(source: Source): AsyncGenerator<BackupEntry, BackupSummary> {
  const hash = createHash('sha256');
  const bytes = new ByteReader(source(), hash);
  if (!(await bytes.take(MAGIC.length)).equals(MAGIC)) throw new CommandError('This is no backup');
  const header = decodeHeader(await bytes.frame());
  const seen = { entries: 0, leased: 0, encrypted: 0 };
  let last = Buffer.alloc(0);
  for (let frame = await bytes.frame(); frame.length > 0; frame = await bytes.frame()) {
    const entry = decodeEntry(frame);
    const key = Buffer.from(entry.key);
    if (Buffer.compare(last, key) >= 0) throw new CommandError('The backup is damaged: its keys are not in order');
    last = key;
    seen.entries += 1;
    if (entry.lease !== undefined) seen.leased += 1;
    if (isEncrypted(entry.value)) seen.encrypted += 1;
    yield entry;
  }
  const trailer = decodeTrailer(await bytes.frame());
  const digest = hash.digest();
  const told = await bytes.take(DIGEST_BYTES, { hashed: false });
  const same = trailer.entries === seen.entries && header.count === seen.entries && trailer.leased === seen.leased;
  if (!digest.equals(told) || !same || trailer.encrypted !== seen.encrypted || !(await bytes.atEnd())) {
    throw new CommandError('The backup is damaged: its checksum is that of other bytes');
  }
  return { ...header, ...trailer, digest: digest.toString('hex') };
}

/** Reads all of a backup and tells what it is. @throws {CommandError} */
export async function checkBackup(source: Source): Promise<BackupSummary> {
  const entries = readBackup(source);
  for (;;) {
    const next = await entries.next();
    if (next.done === true) return next.value;
  }
}
