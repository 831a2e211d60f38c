#!/usr/bin/env node
// Builds the image from the Dockerfile, and writes it again so that the same commit on the same bases gives the same digest:
// times of files and of the build are the commit's. Without BASE and BUILD_BASE in the environment the bases are made from
// Debian's packages (debian-images.mjs).
// usage: node deploy/images/make-image.mjs [--no-cache] [NAME:TAG]   (default: platform:VERSION)
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rewriteLayer, writeArchive } from './archive.mjs';
import { makeDebianImage } from './debian-images.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

function output(command, ...args) {
  return execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 << 20 }).trim();
}

function docker(...args) {
  const run = spawnSync('docker', args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if (run.status !== 0) throw new Error(`docker ${args[0]} ended with ${run.status ?? run.signal}`);
}

/** The commit, when the tree is what it says; else what is built here has no name, and is as old as its last commit. */
function source() {
  const epoch = Number(process.env.SOURCE_DATE_EPOCH || output('git', 'show', '-s', '--format=%ct', 'HEAD'));
  const isClean = output('git', 'status', '--porcelain') === '';
  return { epoch, commit: isClean ? output('git', 'rev-parse', 'HEAD') : '' };
}

function build(name, bases, { epoch, commit }, flags) {
  const given = {
    ...bases,
    SOURCE_DATE_EPOCH: String(epoch),
    SOURCE_COMMIT: commit,
    NPM_CONFIG_REGISTRY: output('npm', 'config', 'get', 'registry'),
  };
  const args = Object.entries(given).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
  // Packages come over the network of this machine: a builder's own need not reach where this one gets them from.
  docker('build', '--quiet', '--network=host', ...flags, ...args, '--tag', name, '.');
}

/** Layers of the bases are as they were made; those that were built here are written again. */
async function reproduce(name, epoch) {
  const scratch = mkdtempSync(join(tmpdir(), 'image-'));
  try {
    const saved = join(scratch, 'saved.tar');
    docker('save', '--output', saved, name);
    for (const it of ['old', 'new']) mkdirSync(join(scratch, it));
    execFileSync('tar', ['-C', join(scratch, 'old'), '-xf', saved]);
    const read = (file) => JSON.parse(readFileSync(join(scratch, 'old', file), 'utf8'));
    const [manifest] = read('manifest.json');
    const { architecture, config, history } = read(manifest.Config);
    const layers = [];
    for (const [i, layer] of manifest.Layers.entries()) {
      layers.push(`layer-${i}.tar`);
      await rewriteLayer(join(scratch, 'old', layer), join(scratch, 'new', layers[i]), epoch);
    }
    const kept = { ...config, Hostname: '', Image: '' };
    const plain = history.map(({ created_by = '', empty_layer }) => ({
      created_by: created_by.replace(/\b(dir|file|multi):[0-9a-f]{64}/, '$1'), // of content with its times
      ...(empty_layer && { empty_layer }),
    }));
    const archive = join(scratch, 'image.tar');
    const image = { name, layers, config: kept, architecture, history: plain, epoch };
    const id = await writeArchive(join(scratch, 'new'), image, archive);
    docker('load', '--quiet', '--input', archive);
    return id;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * @param flags More flags of `docker build`.
 * @returns The image's id (sha256:...), the digest of its configuration.
 */
export async function makeImage(name = `platform:${version}`, flags = []) {
  const { BASE, BUILD_BASE } = process.env;
  const bases = {
    BASE: BASE || (await makeDebianImage('platform-base-node')).name,
    BUILD_BASE: BUILD_BASE || (await makeDebianImage('platform-base-build')).name,
  };
  const from = source();
  build(name, bases, from, flags);
  return { name, id: await reproduce(name, from.epoch) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv.slice(2);
  const isFlag = (it) => it.startsWith('--');
  const { name, id } = await makeImage(
    given.find((it) => !isFlag(it)),
    given.filter(isFlag),
  );
  process.stdout.write(`${name} ${id}\n`);
}
