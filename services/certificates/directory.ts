import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { syncDirectory, writeFileAtomically } from '../machinery/files/write-file.js';
import { FILES, type Change, type Files } from './renew.js';

/** The files of a set, which is a folder; undefined when there is none. */
export function readSet(directory: string, name: string): Files | undefined {
  const folder = join(directory, name);
  if (!existsSync(folder)) return undefined;
  const known = new Set<string>(Object.values(FILES));
  const names = readdirSync(folder).filter((it) => known.has(it));
  return Object.fromEntries(names.map((it) => [it, readFileSync(join(folder, it), 'utf8')]));
}

/** Puts a set into its folder, keys first and for their owner alone: a crash in between is seen by the next run. */
export function writeSet(directory: string, { name, files }: Change): void {
  const folder = join(directory, name);
  mkdirSync(folder, { recursive: true });
  const entries = Object.entries(files).sort(([a], [b]) => Number(b === FILES.key) - Number(a === FILES.key));
  for (const [file, text] of entries) {
    writeFileAtomically(join(folder, file), text, file === FILES.key ? 0o600 : 0o644);
  }
  syncDirectory(folder);
}
