#!/usr/bin/env node
// Makes definitions of custom resources that others publish, and the objects that they show, available to the tests, as
// .cache/definitions. They come from Go modules, by the protocol of module proxies: from those that GOPROXY names, or that `go env`
// does. What is downloaded is compared with the checksum below before it is looked into; only YAML of the folders named here is
// kept, with the licence (all of them: Apache-2.0). Prints one line.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesOf } from './zip.mjs';

const CACHE = join(resolve(dirname(fileURLToPath(import.meta.url)), '../..'), '.cache');
const PLACE = join(CACHE, 'definitions');
const DOWNLOAD_MS = 120_000;

const SOURCES = JSON.parse(readFileSync(new URL('sources.json', import.meta.url), 'utf8'));
/** What the files in the cache were made from. */
const STAMP = createHash('sha256').update(JSON.stringify(SOURCES)).digest('hex');

function proxies() {
  const told = process.env.GOPROXY || spawnSync('go', ['env', 'GOPROXY'], { encoding: 'utf8' }).stdout?.trim();
  return (told ?? '').split(/[,|]/).filter((it) => /^https?:/.test(it));
}

/** Capitals have a sign of their own in the addresses of modules. */
const escaped = (module) => module.replaceAll(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`);

async function download({ module, version, sha256 }) {
  const problems = [];
  for (const proxy of proxies()) {
    try {
      const url = `${proxy.replace(/\/$/, '')}/${escaped(module)}/@v/${version}.zip`;
      const reply = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) });
      if (!reply.ok) throw new Error(`status ${reply.status}`);
      const archive = Buffer.from(await reply.arrayBuffer());
      const found = createHash('sha256').update(archive).digest('hex');
      if (found !== sha256) throw new Error(`another checksum: ${found}`);
      return archive;
    } catch (err) {
      problems.push(err.message);
    }
  }
  throw new Error(`${module}: ${problems.join('; ') || 'no module proxy: name one in GOPROXY'}`);
}

async function get(source, place) {
  const root = `${source.module}@${source.version}/`;
  const folders = [source.definitions, ...source.samples].map((folder) => `${root}${folder}/`);
  const isWanted = (name) =>
    name === `${root}LICENSE` || (/\.ya?ml$/.test(name) && folders.some((folder) => name.startsWith(folder)));
  let count = 0;
  for (const { name, content } of filesOf(await download(source), isWanted)) {
    const path = join(place, source.name, name.slice(root.length));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    count++;
  }
  return count;
}

async function getAll() {
  const made = `${PLACE}.part`;
  rmSync(made, { recursive: true, force: true });
  let count = 0;
  for (const source of SOURCES) count += await get(source, made);
  writeFileSync(join(made, 'stamp'), STAMP);
  rmSync(PLACE, { recursive: true, force: true });
  renameSync(made, PLACE);
  return count;
}

const isThere = existsSync(join(PLACE, 'stamp')) && readFileSync(join(PLACE, 'stamp'), 'utf8') === STAMP;
try {
  const count = isThere ? undefined : await getAll();
  process.stdout.write(`published definitions: ${PLACE}${count === undefined ? '' : `, ${count} files`}\n`);
} catch (err) {
  process.stderr.write(`No published definitions to be had: ${err.message}\n`);
  process.exitCode = 1;
}
