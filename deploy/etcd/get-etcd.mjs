#!/usr/bin/env node
// Makes an etcd 3.5 (or newer) and an etcd 3.4 available to the tests, as .cache/etcd/3.5/etcd and .cache/etcd/3.4/etcd.
// Where they come from: what is there already; `etcd` on PATH; the distribution's own etcd-server package, unpacked
// here and never installed. With no binary to be had but a container engine at hand, the tests run etcd in a container.
// Prints one line per version. Takes no root and leaves the host's package lists alone.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromPackages, onPath, osRelease } from '../debian/packages.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const CACHE = join(ROOT, '.cache');

/** Which release of Debian has which etcd. The host's own release is asked first. */
const WANTED = [
  { version: '3.5', release: 'trixie', fits: ([major, minor]) => major === 3 && minor >= 5 },
  { version: '3.4', release: 'bookworm', fits: ([major, minor]) => major === 3 && minor === 4 },
];

const place = (version) => join(CACHE, 'etcd', version, 'etcd');

/** The version of an etcd binary as [major, minor], or undefined when it does not run. */
function versionOf(binary) {
  const run = spawnSync(binary, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  const found = run.status === 0 ? /etcd Version: (\d+)\.(\d+)/.exec(run.stdout) : null;
  return found === null ? undefined : [Number(found[1]), Number(found[2])];
}

const runs = (wanted, binary) => {
  const version = existsSync(binary) ? versionOf(binary) : undefined;
  return version !== undefined && wanted.fits(version);
};

function fromPath(wanted) {
  const binary = onPath('etcd');
  if (binary === undefined || !runs(wanted, binary)) return false;
  rmSync(place(wanted.version), { force: true });
  symlinkSync(binary, place(wanted.version));
  return true;
}

function fromRelease(wanted, release) {
  const take = (unpacked) => {
    const binary = join(unpacked, 'usr/bin/etcd');
    if (!runs(wanted, binary)) return false;
    rmSync(place(wanted.version), { force: true });
    copyFileSync(binary, place(wanted.version));
    chmodSync(place(wanted.version), 0o755);
    return true;
  };
  return fromPackages({ cache: CACHE, release, names: ['etcd-server'], use: take }) ?? false;
}

function fromDistribution(wanted) {
  const { id, codename } = osRelease();
  return fromRelease(wanted, id === 'debian' ? wanted.release : codename);
}

/** Whether a container engine answers (its server part, not only the command). */
const engineAnswers = () =>
  spawnSync('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 10_000 }).status === 0;

function provide(wanted) {
  mkdirSync(dirname(place(wanted.version)), { recursive: true });
  if (runs(wanted, place(wanted.version)) || fromPath(wanted) || fromDistribution(wanted)) return place(wanted.version);
  return engineAnswers() ? 'container' : undefined;
}

const missing = WANTED.filter((wanted) => {
  const found = provide(wanted);
  if (found !== undefined) process.stdout.write(`etcd ${wanted.version}: ${found}\n`);
  return found === undefined;
});
if (missing.length > 0) {
  const versions = missing.map((it) => it.version).join(' and ');
  process.stderr.write(
    `No etcd ${versions} to be had: put one on PATH, or name it in ETCD_35 and ETCD_34, or start a container engine\n`,
  );
  process.exitCode = 1;
}
