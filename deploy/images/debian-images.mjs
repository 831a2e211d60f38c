#!/usr/bin/env node
// Makes images out of Debian's packages and what is on this machine, for places where no image registry is reached:
//   platform-base-node    Node and what it needs to run; no shell
//   platform-base-build   a shell, Node and npm
//   platform-etcd         etcd, as deploy/etcd/get-etcd.mjs finds it
//   platform-haproxy      a load balancer
// Each is one layer. The same packages give the same digest.
// usage: node deploy/images/debian-images.mjs [platform-etcd ...]
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromPackages, onPath, osRelease } from '../debian/packages.mjs';
import { writeArchive } from './archive.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const CACHE = join(ROOT, '.cache');
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };
const NONROOT = 65532;

const USERS = `root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:${NONROOT}:${NONROOT}:nonroot:/home/nonroot:/sbin/nologin\n`;
const GROUPS = `root:x:0:\nnonroot:x:${NONROOT}:\n`;

/** Of no use where nobody looks in: manuals, languages, tables for encodings that nothing asks for. */
const NEEDLESS = [
  'usr/share/{doc,man,locale,info,lintian,bug}',
  'usr/lib/*/gconv',
  'usr/lib/locale',
  'var/{cache,log}/*',
];

const node = realpathSync(process.execPath);
const npm = () => realpathSync(join(spawnSync('npm', ['root', '-g'], { encoding: 'utf8' }).stdout.trim(), 'npm'));

function etcd() {
  const found = join(ROOT, '.cache/etcd/3.5/etcd');
  if (!existsSync(found))
    execFileSync(process.execPath, [join(ROOT, 'deploy/etcd/get-etcd.mjs')], { stdio: 'inherit' });
  return realpathSync(found);
}

const path = (...folders) => [`PATH=${folders.join(':')}`];

const IMAGES = {
  'platform-base-node': {
    packages: ['libc6', 'libstdc++6'],
    files: () => [[node, 'usr/bin/node']],
    config: { User: `${NONROOT}:${NONROOT}`, Env: path('/usr/bin'), WorkingDir: '/' },
  },
  'platform-base-build': {
    packages: ['bash', 'dash', 'coreutils', 'grep', 'sed', 'findutils', 'libstdc++6', 'ca-certificates'],
    files: () => [
      [node, 'usr/bin/node'],
      [npm(), 'usr/lib/node_modules/npm'],
      // The authorities that this machine trusts, which may be more than Debian's where a proxy stands between.
      ['/etc/ssl/certs/ca-certificates.crt', 'etc/ssl/certs/ca-certificates.crt'],
    ],
    links: [
      ['../lib/node_modules/npm/bin/npm-cli.js', 'usr/bin/npm'],
      ['bash', 'bin/sh'],
    ],
    config: {
      Env: [
        ...path('/usr/sbin', '/usr/bin', '/sbin', '/bin'),
        'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt',
      ],
      Cmd: ['/bin/bash'],
      WorkingDir: '/',
    },
  },
  'platform-etcd': {
    packages: ['libc6'],
    files: () => [[etcd(), 'usr/bin/etcd']],
    folders: ['var/lib/etcd'],
    config: { User: `${NONROOT}:${NONROOT}`, Env: path('/usr/bin'), WorkingDir: '/', Cmd: ['etcd'] },
  },
  'platform-haproxy': {
    packages: ['haproxy'],
    files: () => [],
    config: {
      User: `${NONROOT}:${NONROOT}`,
      Env: path('/usr/sbin'),
      WorkingDir: '/',
      Entrypoint: ['/usr/sbin/haproxy', '-W', '-db', '-f', '/etc/haproxy/haproxy.cfg'],
    },
  },
};

/** mmdebstrap resolves what packages need and unpacks it, without running anything of theirs. */
function bootstrapper() {
  const own = join(CACHE, 'mmdebstrap');
  const found = onPath('mmdebstrap') ?? (existsSync(own) ? own : undefined);
  if (found !== undefined) return found;
  const take = (unpacked) => {
    copyFileSync(join(unpacked, 'usr/bin/mmdebstrap'), own);
    chmodSync(own, 0o755);
    return own;
  };
  const made = fromPackages({ cache: CACHE, release: osRelease().codename, names: ['mmdebstrap'], use: take });
  if (made === undefined) throw new Error('No mmdebstrap to be had: base images are made from the packages of Debian');
  return made;
}

/** Shell commands that mmdebstrap runs with the new root as $1. */
function hooks({ files, folders = [], links = [] }, scratch) {
  writeFileSync(join(scratch, 'passwd'), USERS);
  writeFileSync(join(scratch, 'group'), GROUPS);
  const put = [...files(), [join(scratch, 'passwd'), 'etc/passwd'], [join(scratch, 'group'), 'etc/group']];
  const commands = [
    ...NEEDLESS.map((it) => `bash -O nullglob -c 'rm -rf "$0"/${it}' "$1"`),
    ...put.map(([from, to]) => `mkdir -p "$(dirname "$1/${to}")" && rm -rf "$1/${to}" && cp -rL "${from}" "$1/${to}"`),
    ...links.map(([target, at]) => `mkdir -p "$(dirname "$1/${at}")" && ln -sfn "${target}" "$1/${at}"`),
    ...folders.map((it) => `install -d -o ${NONROOT} -g ${NONROOT} -m 0700 "$1/${it}"`),
    'mkdir -p "$1/tmp" && chmod 1777 "$1/tmp"',
  ];
  return commands.map((it) => `--extract-hook=${it}`);
}

function unpackInto(layer, base, scratch) {
  const { codename } = osRelease();
  const args = [
    '--quiet',
    '--variant=extract',
    `--include=${base.packages.join(',')}`,
    ...hooks(base, scratch),
    codename,
    layer,
  ];
  const env = { ...process.env, SOURCE_DATE_EPOCH: '0' };
  const run = spawnSync(bootstrapper(), args, { encoding: 'utf8', env, timeout: 600_000 });
  if (run.status !== 0) throw new Error(`mmdebstrap: ${run.error?.message ?? run.stderr.slice(-2000)}`);
}

/** Loads one of the images into the engine; `id` is the digest of its configuration. */
export async function makeDebianImage(name) {
  const base = IMAGES[name];
  const scratch = mkdtempSync(join(tmpdir(), 'base-'));
  const archive = join(scratch, 'image.tar');
  try {
    mkdirSync(join(scratch, 'layer'));
    unpackInto(join(scratch, 'layer/layer.tar'), base, scratch);
    const image = {
      name: `${name}:latest`,
      layers: ['layer/layer.tar'],
      config: base.config,
      architecture: ARCHITECTURES[process.arch] ?? process.arch,
      history: [{ created_by: `packages of Debian ${osRelease().codename}: ${base.packages.join(' ')}` }],
      epoch: 0,
    };
    const id = await writeArchive(scratch, image, archive);
    const load = spawnSync('docker', ['load', '--quiet', '--input', archive], { encoding: 'utf8' });
    if (load.status !== 0) throw new Error(`docker load: ${load.stderr}`);
    return { name: image.name, id };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const asked = process.argv.slice(2);
  for (const name of asked.length > 0 ? asked : Object.keys(IMAGES)) {
    if (!Object.hasOwn(IMAGES, name)) throw new Error(`There is no ${name}, only ${Object.keys(IMAGES).join(', ')}`);
    const { name: image, id } = await makeDebianImage(name);
    process.stdout.write(`${image} ${id}\n`);
  }
}
