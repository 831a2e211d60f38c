import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const directories = new Set<string>();
process.once('exit', () => {
  for (const it of directories) rmSync(it, { recursive: true, force: true });
});

/** A new directory, removed at the latest when the test process ends. */
export function scratchDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'test-e2e-'));
  directories.add(path);
  return path;
}

export function removeDirectory(path: string): void {
  directories.delete(path);
  rmSync(path, { recursive: true, force: true });
}
