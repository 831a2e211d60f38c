#!/usr/bin/env node
// Makes an etcd 3.5 (or newer) and an etcd 3.4 available to the tests, as .cache/etcd/3.5/etcd and .cache/etcd/3.4/etcd.
// Where they come from: what is there already; `etcd` on PATH; the distribution's own etcd-server package, unpacked
// here and never installed. With no binary to be had but a container engine at hand, the tests run etcd in a container.
// Prints one line per version. Takes no root and leaves the host's package lists alone.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
} from 'node:fs';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const CACHE = join(ROOT, '.cache');
const DEBIAN_SOURCES = '/etc/apt';

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

function onPath(name) {
  for (const dir of (process.env.PATH ?? '').split(delimiter)) {
    try {
      accessSync(join(dir, name), constants.X_OK);
      return join(dir, name);
    } catch {
      // not here: the next one
    }
  }
  return undefined;
}

function fromPath(wanted) {
  const binary = onPath('etcd');
  if (binary === undefined || !runs(wanted, binary)) return false;
  rmSync(place(wanted.version), { force: true });
  symlinkSync(binary, place(wanted.version));
  return true;
}

const osRelease = () => {
  const text = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  return {
    id: /^ID="?([^"\n]*)/m.exec(text)?.[1] ?? '',
    codename: /^VERSION_CODENAME="?([^"\n]*)/m.exec(text)?.[1] ?? '',
  };
};

/** "bookworm-security" with codename "bookworm" and release "trixie" is "trixie-security"; other suites drop out. */
function otherSuite(suite, codename, release) {
  const found = /^([a-z]+)(|-updates|-security)$/.exec(suite);
  return found !== null && [codename, 'stable', 'oldstable'].includes(found[1]) ? release + found[2] : undefined;
}

/** The host's deb822 stanzas of the distribution itself, moved to `release`. */
function moveStanzas(text, codename, release) {
  const stanzas = text.split(/\n\s*\n/).map((it) => it.replace(/^#.*\n?/gm, ''));
  return stanzas.flatMap((stanza) => {
    if (
      /^Enabled:\s*no/im.test(stanza) ||
      !/^Types:.*\bdeb\b/m.test(stanza) ||
      !/^Components:.*\bmain\b/m.test(stanza)
    ) {
      return [];
    }
    const suites = (/^Suites:\s*(.*)$/m.exec(stanza)?.[1] ?? '').split(/\s+/);
    const moved = suites.flatMap((suite) => otherSuite(suite, codename, release) ?? []);
    if (moved.length === 0) return [];
    return [
      stanza
        .trim()
        .replace(/^Suites:.*$/m, `Suites: ${moved.join(' ')}`)
        .replace(/^Components:.*$/m, 'Components: main')
        .replace(/^Types:.*$/m, 'Types: deb'),
    ];
  });
}

/** The host's one-line entries of the distribution itself, moved to `release`. */
function moveLines(text, codename, release) {
  return text.split('\n').flatMap((line) => {
    const found = /^deb\s+(\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s+(.*)$/.exec(line.trim());
    if (found === null || !/\bmain\b/.test(found[4])) return [];
    const suite = otherSuite(found[3], codename, release);
    return suite === undefined ? [] : [`deb ${found[1] ?? ''}${found[2]} ${suite} main`];
  });
}

/** Writes package sources of our own, taken from the host's; false when the host has none that fit. */
function writeSources(dir, codename, release) {
  const parts = join(DEBIAN_SOURCES, 'sources.list.d');
  const files = existsSync(parts) ? readdirSync(parts).map((it) => join(parts, it)) : [];
  const read = (ending) => files.filter((it) => it.endsWith(ending)).map((it) => readFileSync(it, 'utf8'));
  const list = join(DEBIAN_SOURCES, 'sources.list');
  const lists = [...(existsSync(list) ? [readFileSync(list, 'utf8')] : []), ...read('.list')];
  const lines = lists.flatMap((text) => moveLines(text, codename, release));
  const stanzas = read('.sources').flatMap((text) => moveStanzas(text, codename, release));
  mkdirSync(join(dir, 'sources'), { recursive: true });
  writeFileSync(join(dir, 'sources/host.list'), lines.map((it) => `${it}\n`).join(''));
  writeFileSync(join(dir, 'sources/host.sources'), stanzas.join('\n\n') + '\n');
  return lines.length + stanzas.length > 0;
}

/** An apt of our own: its state, cache and sources lie in `dir`; proxies and the like stay the host's. */
function privateApt(dir) {
  for (const it of ['state/lists/partial', 'cache/archives/partial', 'unpacked']) {
    mkdirSync(join(dir, it), { recursive: true });
  }
  writeFileSync(join(dir, 'state/status'), '');
  const config = {
    'Dir::State': join(dir, 'state'),
    'Dir::State::status': join(dir, 'state/status'),
    'Dir::Cache': join(dir, 'cache'),
    'Dir::Etc::sourcelist': '/dev/null',
    'Dir::Etc::sourceparts': join(dir, 'sources'),
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': 'root',
  };
  writeFileSync(
    join(dir, 'apt.conf'),
    Object.entries(config)
      .map(([key, value]) => `${key} "${value}";\n`)
      .join(''),
  );
  return (...args) =>
    spawnSync('apt-get', args, {
      cwd: join(dir, 'unpacked'),
      env: { ...process.env, APT_CONFIG: join(dir, 'apt.conf') },
      encoding: 'utf8',
      timeout: 300_000,
    });
}

function fromPackages(wanted, release) {
  const { codename } = osRelease();
  const dir = join(CACHE, 'apt', release);
  if (codename === '' || !writeSources(dir, codename, release)) return false;
  const apt = privateApt(dir);
  apt('update'); // one index that cannot be had need not matter: the download tells
  if (apt('download', 'etcd-server').status !== 0) return false;
  const unpacked = join(dir, 'unpacked');
  const deb = readdirSync(unpacked).find((it) => it.startsWith('etcd-server_') && it.endsWith('.deb'));
  if (deb === undefined) return false;
  execFileSync('dpkg-deb', ['-x', join(unpacked, deb), unpacked]);
  const binary = join(unpacked, 'usr/bin/etcd');
  const fits = runs(wanted, binary);
  if (fits) {
    rmSync(place(wanted.version), { force: true });
    copyFileSync(binary, place(wanted.version));
    chmodSync(place(wanted.version), 0o755);
  }
  rmSync(dir, { recursive: true, force: true });
  return fits;
}

function fromDistribution(wanted) {
  const { id, codename } = osRelease();
  if (onPath('apt-get') === undefined || onPath('dpkg-deb') === undefined) return false;
  const releases = id === 'debian' ? [wanted.release] : [codename];
  return releases.some((release) => fromPackages(wanted, release));
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
