import assert from 'node:assert/strict';
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

const made = new Set<string>();

/** Makes images of Debian's packages, see deploy/images; each once in a run. */
export function makeImages(...names: string[]): void {
  const missing = names.filter((it) => !made.has(it));
  if (missing.length === 0) return;
  const script = join(ROOT, 'deploy/images/debian-images.mjs');
  execFileSync(process.execPath, [script, ...missing], { stdio: ['ignore', 'ignore', 'inherit'], timeout: IMAGE_MS });
  for (const it of missing) made.add(it);
}

/** The name of the image of the program, for tests. */
export const PLATFORM_IMAGE = 'platform:test';
/** On a machine that is busy. */
export const BUILD_MS = 900_000;

let id: string | undefined;

/** Builds the image of the program, once in a run. @returns Its id, `sha256:...`. */
export function makePlatformImage(): string {
  id ??= buildPlatformImage();
  return id;
}

function buildPlatformImage(): string {
  const said = execFileSync(process.execPath, ['deploy/images/make-image.mjs', PLATFORM_IMAGE], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: BUILD_MS,
  });
  return /sha256:[0-9a-f]{64}$/.exec(said.trim())?.[0] ?? assert.fail(said);
}
