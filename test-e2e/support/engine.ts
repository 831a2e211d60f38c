import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Context } from 'mocha';

import { PROGRAM } from './program.js';

const ROOT = dirname(dirname(PROGRAM));

/** Making an image means unpacking packages. */
export const IMAGE_MS = 300_000;

/**
 * Skips the tests of a suite where there is no container engine: `make test` opens one where it may, and names it in
 * DOCKER_HOST; in CI its absence is a failure.
 */
export function needsEngine(test: Context): void {
  if (process.env['DOCKER_HOST'] !== undefined) return;
  if (process.env['CI'] !== undefined) throw new Error('There is no container engine, which these tests need in CI');
  test.skip();
}

/** Makes images of Debian's packages, see deploy/images; a second call finds what the first one made. */
export function makeImages(...names: string[]): void {
  const script = join(ROOT, 'deploy/images/debian-images.mjs');
  execFileSync(process.execPath, [script, ...names], { stdio: ['ignore', 'ignore', 'inherit'], timeout: IMAGE_MS });
}
