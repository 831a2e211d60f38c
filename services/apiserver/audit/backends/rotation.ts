import { createReadStream, createWriteStream } from 'node:fs';
import { access, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** How many rotated files are kept, how long, and in which form. */
export interface RotationRules {
  /** Most of them to keep; 0: no bound. */
  readonly maxBackups: number;
  /** Older ones are removed; 0: no bound. */
  readonly maxAgeMs: number;
  readonly compress: boolean;
}

const ZIPPED = '.gz';
const UNFINISHED = '.tmp';
const TIME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}$/;

/** `dir/audit.log` of 2022-05-24 becomes `dir/audit-2022-05-24T10-00-00.000.log`, in UTC. */
export function rotatedName(path: string, epochMs: number): string {
  const { stem, extension } = partsOf(path);
  const time = new Date(epochMs).toISOString().slice(0, -1).replaceAll(':', '-');
  return join(dirname(path), `${stem}${time}${extension}`);
}

function partsOf(path: string): { readonly stem: string; readonly extension: string } {
  const extension = extname(path);
  return { stem: `${basename(path, extension)}-`, extension };
}

/** The first name from that time on that nothing has: renaming would replace what is there. */
export async function freeRotatedName(path: string, epochMs: number): Promise<string> {
  for (let at = epochMs; ; at++) {
    const name = rotatedName(path, at);
    if (!(await exists(name)) && !(await exists(`${name}${ZIPPED}`))) return name;
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** A file that was rotated, and when. */
export interface Rotated {
  readonly path: string;
  readonly epochMs: number;
  readonly zipped: boolean;
}

/** The rotated files of a log among the names of its directory, the newest first. Others' files are none. */
export function rotatedAmong(names: readonly string[], path: string): readonly Rotated[] {
  const { stem, extension } = partsOf(path);
  const found: Rotated[] = [];
  for (const name of names) {
    const zipped = name.endsWith(`${extension}${ZIPPED}`);
    const plain = zipped ? name.slice(0, -ZIPPED.length) : name;
    if (!plain.startsWith(stem) || !plain.endsWith(extension)) continue;
    const time = plain.slice(stem.length, plain.length - extension.length);
    if (!TIME.test(time)) continue;
    const epochMs = Date.parse(`${time.slice(0, 11)}${time.slice(11).replaceAll('-', ':')}Z`);
    found.push({ path: join(dirname(path), name), epochMs, zipped });
  }
  return found.sort((a, b) => b.epochMs - a.epochMs);
}

/** Removes what is too old or too many, and compresses the rest. */
export async function tidy(path: string, rules: RotationRules, nowMs: number): Promise<void> {
  const names = await readdir(dirname(path));
  const kept: Rotated[] = [];
  for (const file of rotatedAmong(names, path)) {
    const isOld = rules.maxAgeMs > 0 && nowMs - file.epochMs > rules.maxAgeMs;
    const isOneTooMany = rules.maxBackups > 0 && kept.length >= rules.maxBackups;
    if (isOld || isOneTooMany) await rm(file.path, { force: true });
    else kept.push(file);
  }
  if (!rules.compress) return;
  for (const { path: plain, zipped } of kept) if (!zipped) await compress(plain);
}

/** A half-written one is written again next time. */
async function compress(path: string): Promise<void> {
  const made = `${path}${ZIPPED}`;
  const unfinished = `${made}${UNFINISHED}`;
  await pipeline(createReadStream(path), createGzip(), createWriteStream(unfinished, { mode: 0o600 }));
  await rename(unfinished, made);
  await rm(path, { force: true });
}
