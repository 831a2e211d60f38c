#!/usr/bin/env node
// Makes `docker compose` available: that of the client, `docker-compose` on PATH, or the distribution's own package, unpacked
// into .cache/compose and never installed. Prints one line. Takes no root and leaves the host's package lists alone.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromPackages, onPath, osRelease } from '../debian/packages.mjs';

const CACHE = join(resolve(dirname(fileURLToPath(import.meta.url)), '../..'), '.cache');
const PLACE = join(CACHE, 'compose/docker-compose');
/** Releases of Debian that have version 2, which is one file. The host's own release is asked first. */
const RELEASES = ['trixie'];

/** The second version of the program is the one that reads what compose.yaml says. */
function works([command, ...args]) {
  const run = spawnSync(command, [...args, 'version', '--short'], { encoding: 'utf8', timeout: 30_000 });
  return run.status === 0 && /^v?([2-9]|\d\d)\./.test(run.stdout.trim());
}

/** The command and its first arguments; undefined when there is none. */
export function composeCommand() {
  return [['docker', 'compose'], [onPath('docker-compose')], [PLACE]].find(
    ([command, ...args]) =>
      command !== undefined && (command === 'docker' || existsSync(command)) && works([command, ...args]),
  );
}

function take(unpacked) {
  const plugin = join(unpacked, 'usr/libexec/docker/cli-plugins/docker-compose');
  if (!existsSync(plugin)) return false;
  mkdirSync(dirname(PLACE), { recursive: true });
  copyFileSync(plugin, PLACE);
  chmodSync(PLACE, 0o755);
  return works([PLACE]);
}

/** Gets it where there is none. @returns As `composeCommand()`. */
export function provideCompose() {
  const found = composeCommand();
  if (found !== undefined) return found;
  const { id, codename } = osRelease();
  const releases = id === 'debian' ? new Set([codename, ...RELEASES]) : [codename];
  const taken = [...releases].some((release) =>
    fromPackages({ cache: CACHE, release, names: ['docker-compose'], use: take }),
  );
  return taken ? [PLACE] : undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const command = provideCompose();
  if (command === undefined) {
    process.stderr.write('No docker compose to be had: install version 2 of it\n');
    process.exitCode = 1;
  } else {
    process.stdout.write(`compose: ${command.join(' ')}\n`);
  }
}
