import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';

/**
 * Where a program is: a path with a slash is relative to `directory`, a bare name is looked up in `searchPath` (PATH).
 * Its relative directories are passed over, for who can write where we happen to stand shall not choose what we run.
 *
 * @returns undefined when there is none that can be run.
 */
export async function findProgram(command: string, directory: string, searchPath: string): Promise<string | undefined> {
  const candidates = command.includes('/')
    ? [resolve(directory, command)]
    : searchPath
        .split(':')
        .filter(isAbsolute)
        .map((entry) => join(entry, command));
  for (const path of candidates) if (await isProgram(path)) return path;
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
