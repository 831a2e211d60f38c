#!/usr/bin/env node
// Makes promtool available to the tests of alerts, as .cache/promtool/promtool. Where it comes from: what is there already;
// what PROMTOOL names; `promtool` on PATH; the distribution's own prometheus package, unpacked here and never installed.
// Prints one line. Takes no root and leaves the host's package lists alone.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromPackages, onPath, osRelease } from '../debian/packages.mjs';

const CACHE = join(resolve(dirname(fileURLToPath(import.meta.url)), '../..'), '.cache');
const PLACE = join(CACHE, 'promtool/promtool');
/** Releases of Debian that have the package. The host's own release is asked first. */
const RELEASES = ['trixie', 'bookworm'];

/** The version that a binary tells, e.g. 2.42.0; undefined when it does not run. */
function versionOf(binary) {
  if (!existsSync(binary)) return undefined;
  const run = spawnSync(binary, ['--version'], { encoding: 'utf8', timeout: 30_000 });
  return run.status === 0 ? /\d+\.\d+\.\d+/.exec(run.stdout + run.stderr)?.[0] : undefined;
}

function link(binary) {
  if (binary === undefined || versionOf(binary) === undefined) return false;
  rmSync(PLACE, { force: true });
  symlinkSync(resolve(binary), PLACE);
  return true;
}

function fromDistribution() {
  const { id, codename } = osRelease();
  const releases = id === 'debian' ? new Set([codename, ...RELEASES]) : [codename];
  return [...releases].some((release) => fromPackages({ cache: CACHE, release, names: ['prometheus'], use: take }));
}

/** Takes the binary out of the unpacked package, if it runs here. */
function take(unpacked) {
  const binary = join(unpacked, 'usr/bin/promtool');
  if (versionOf(binary) === undefined) return false;
  rmSync(PLACE, { force: true });
  copyFileSync(binary, PLACE);
  chmodSync(PLACE, 0o755);
  return true;
}

mkdirSync(dirname(PLACE), { recursive: true });
if (versionOf(PLACE) !== undefined || link(process.env.PROMTOOL) || link(onPath('promtool')) || fromDistribution()) {
  process.stdout.write(`promtool ${versionOf(PLACE)}: ${PLACE}\n`);
} else {
  process.stderr.write('No promtool to be had: put one on PATH, or name it in PROMTOOL\n');
  process.exitCode = 1;
}
