import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Puts a file in place whole or not at all, also when the machine fails. The directory must be the caller's alone: what
 * a process that was killed left behind under the temporary name is removed.
 */
export function writeFileAtomically(path: string, text: string, mode: number): void {
  const temporary = join(dirname(path), `.${basename(path)}.new`);
  rmSync(temporary, { force: true });
  try {
    const file = openSync(temporary, 'wx', mode);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (err) {
    rmSync(temporary, { force: true });
    throw err;
  }
}

/** Makes what was put into a directory last. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
