#!/usr/bin/env node
// Makes a kubectl available to the end-to-end tests, as .cache/kubectl/kubectl. Where it comes from: what is there already;
// what KUBECTL names; `kubectl` on PATH; the distribution's own kubernetes-client package, unpacked here and never installed.
// Prints one line. Takes no root and leaves the host's package lists alone.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromPackages, onPath, osRelease } from '../debian/packages.mjs';

const CACHE = join(resolve(dirname(fileURLToPath(import.meta.url)), '../..'), '.cache');
const PLACE = join(CACHE, 'kubectl/kubectl');
/** Releases of Debian that have the package. The host's own release is asked first. */
const RELEASES = ['trixie', 'bookworm'];

/** The version that a binary tells, e.g. v1.20.2; undefined when it does not run. */
function versionOf(binary) {
  if (!existsSync(binary)) return undefined;
  const run = spawnSync(binary, ['version', '--client'], { encoding: 'utf8', timeout: 30_000 });
  return run.status === 0 ? /v\d+\.\d+\.\d+/.exec(run.stdout)?.[0] : undefined;
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
  return [...releases].some((release) =>
    fromPackages({ cache: CACHE, release, names: ['kubernetes-client'], use: take }),
  );
}

/** Takes the binary out of the unpacked package, if it runs here. */
function take(unpacked) {
  const binary = join(unpacked, 'usr/bin/kubectl');
  if (versionOf(binary) === undefined) return false;
  rmSync(PLACE, { force: true });
  copyFileSync(binary, PLACE);
  chmodSync(PLACE, 0o755);
  return true;
}

mkdirSync(dirname(PLACE), { recursive: true });
if (versionOf(PLACE) !== undefined || link(process.env.KUBECTL) || link(onPath('kubectl')) || fromDistribution()) {
  process.stdout.write(`kubectl ${versionOf(PLACE)}: ${PLACE}\n`);
} else {
  process.stderr.write('No kubectl to be had: put one on PATH, or name it in KUBECTL\n');
  process.exitCode = 1;
}
