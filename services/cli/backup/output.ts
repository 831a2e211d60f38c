import { once } from 'node:events';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError } from '../failure.js';
import type { Sink } from './backup-file.js';

/** Where a backup is written. */
export interface Output {
  readonly sink: Sink;
  /** Back to the beginning. @throws {CommandError} where that cannot be */
  again(): Promise<void>;
  /** All is written: makes it durable, and gives it its name. */
  finish(): Promise<void>;
  /** Nothing is left of what was not finished. */
  close(): Promise<void>;
}

/** `-` is stdout. Only this user may read a file that is made: values may be secrets. */
export const openOutput = (path: string): Promise<Output> => (path === '-' ? Promise.resolve(STDOUT) : openFile(path));

const STDOUT: Output = {
  sink: async (bytes) => {
    if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
  },
  again: () =>
    Promise.reject(new CommandError('History was compacted meanwhile, and what was written cannot be undone')),
  finish: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

/** Written beside its place and renamed when it is whole and on the disk, so that a file of this name is never a half. */
async function openFile(path: string): Promise<Output> {
  const unfinished = `${path}.${process.pid}.unfinished`;
  const file: FileHandle = await open(unfinished, 'w', 0o600);
  let position = 0;
  return {
    sink: async (bytes) => {
      for (let sent = 0; sent < bytes.length;) {
        const { bytesWritten } = await file.write(bytes, sent, bytes.length - sent, position);
        sent += bytesWritten;
        position += bytesWritten;
      }
    },
    again: async () => {
      await file.truncate(0);
      position = 0;
    },
    finish: async () => {
      await file.sync();
      await rename(unfinished, path);
      await syncDirectory(dirname(path));
    },
    close: async () => {
      await file.close();
      await rm(unfinished, { force: true });
    },
  };
}

/** A flush of a file does not flush the directory that names it. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
