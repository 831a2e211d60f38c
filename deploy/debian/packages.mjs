// Programs from the distribution's own packages, unpacked and never installed. Takes no root and leaves the host's package
// lists alone: an apt of our own reads sources that are taken from the host's.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';

const DEBIAN_SOURCES = '/etc/apt';

/** Where a program lies on PATH; undefined when it does not. */
export function onPath(name) {
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

/** The host's distribution. */
export const osRelease = () => {
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

/**
 * Unpacks packages of a release of the host's distribution into one folder and lets `use` take from it what it wants.
 *
 * @param o.cache Holds what apt needs, for as long as this takes.
 * @param o.names Each package alone: what they depend on is not followed.
 * @param o.use Gets the folder; what it returns is the result.
 * @returns undefined when one of the packages is not to be had.
 */
export function fromPackages({ cache, release, names, use }) {
  const { codename } = osRelease();
  if (codename === '' || onPath('apt-get') === undefined || onPath('dpkg-deb') === undefined) return undefined;
  const dir = join(cache, 'apt', `${release}-${names[0]}`);
  try {
    if (!writeSources(dir, codename, release)) return undefined;
    const apt = privateApt(dir);
    apt('update'); // one index that cannot be had need not matter: the download tells
    if (apt('download', ...names).status !== 0) return undefined;
    const unpacked = join(dir, 'unpacked');
    const archives = readdirSync(unpacked).filter((it) => it.endsWith('.deb'));
    if (archives.length < names.length) return undefined;
    for (const it of archives) execFileSync('dpkg-deb', ['-x', join(unpacked, it), unpacked]);
    return use(unpacked);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
