#!/usr/bin/env node
// Makes a container engine available to the tests: one that answers already, a `dockerd` on PATH, or the distribution's own
// packages, unpacked into .cache/engine and never installed. Prints one line. Takes no root and leaves the host's package
// lists alone; starting what was unpacked takes root, see engine.mjs.
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromPackages, onPath, osRelease } from '../debian/packages.mjs';
import { answering } from './engine.mjs';

const CACHE = join(resolve(dirname(fileURLToPath(import.meta.url)), '../..'), '.cache');
const PLACE = join(CACHE, 'engine');
const PROGRAMS = ['docker.io', 'containerd', 'runc', 'iptables'];
const LIBRARIES = [
  'libdevmapper1.02.1',
  'libseccomp2',
  'libxtables12',
  'libip4tc2',
  'libip6tc2',
  'libnftnl11',
  'libmnl0',
  'libnfnetlink0',
  'libnetfilter-conntrack3',
];

/** Keeps programs and libraries; an installation would have linked `iptables` to one of its two forms. */
function take(unpacked) {
  rmSync(join(PLACE, 'root'), { recursive: true, force: true });
  mkdirSync(PLACE, { recursive: true });
  for (const it of ['usr', 'lib', 'sbin']) {
    const from = join(unpacked, it);
    if (!existsSync(from)) continue;
    cpSync(from, join(PLACE, 'root', it), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !/\/share\/(doc|man|locale|bash-completion)(\/|$)/.test(path),
    });
  }
  const programs = join(PLACE, 'root/usr/sbin');
  for (const it of ['iptables', 'ip6tables']) {
    if (lstatSync(join(programs, it), { throwIfNoEntry: false }) === undefined) {
      symlinkSync('xtables-nft-multi', join(programs, it));
    }
  }
  return readdirSync(programs).includes('dockerd');
}

const unpacked = () => existsSync(join(PLACE, 'root/usr/sbin/dockerd'));
const fromDistribution = () =>
  fromPackages({ cache: CACHE, release: osRelease().codename, names: [...PROGRAMS, ...LIBRARIES], use: take }) ?? false;

async function found() {
  const address = await answering();
  if (address !== undefined) return `answers at ${address}`;
  if (onPath('dockerd') !== undefined) return onPath('dockerd');
  return unpacked() || fromDistribution() ? join(PLACE, 'root') : undefined;
}

const engine = await found();
if (engine === undefined) {
  process.stderr.write('No container engine to be had: start one, or put dockerd on PATH\n');
  process.exitCode = 1;
} else {
  process.stdout.write(`container engine: ${engine}\n`);
}
