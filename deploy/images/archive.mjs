// Image archives as `docker load` takes them, whose bytes depend on their content alone: no time of a build, no order of a
// directory, no user of this machine. https://github.com/moby/docker-image-spec
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import tar from 'tar-stream';

/** Hex SHA-256 of a file. */
export async function digestOf(file) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Writes a layer again, with no time in it that is later than `epoch` (seconds) and no names of users. */
export async function rewriteLayer(from, to, epoch) {
  const latest = epoch * 1000;
  const pack = tar.pack();
  const extract = tar.extract();
  const written = pipeline(pack, createWriteStream(to));
  const read = pipeline(createReadStream(from), extract);
  for await (const entry of extract) {
    const { name, mode, uid, gid, size, type, linkname, devmajor, devminor, mtime } = entry.header;
    const header = { name, mode, uid, gid, size, type, linkname, devmajor, devminor, uname: '', gname: '' };
    header.mtime = new Date(Math.min(Math.floor(mtime.getTime() / 1000) * 1000, latest));
    await pipeline(entry, pack.entry(header), { end: true });
  }
  pack.finalize();
  await Promise.all([read, written]);
}

/**
 * Puts an archive together from layers that lie in `dir`.
 *
 * @param o.layers Paths of uncompressed tar files below `dir`, from the lowest to the highest.
 * @param o.config The `config` of the image: command, user, environment.
 * @param o.history One entry a layer, and more for what left none (`empty_layer`).
 * @returns The image's id, which is the digest of its configuration.
 */
export async function writeArchive(dir, { name, layers, config, architecture, history, epoch }, file) {
  const created = new Date(epoch * 1000).toISOString();
  const diffIds = [];
  for (const it of layers) diffIds.push(`sha256:${await digestOf(join(dir, it))}`);
  const image = {
    architecture,
    os: 'linux',
    created,
    config,
    history: history.map((it) => ({ ...it, created })),
    rootfs: { type: 'layers', diff_ids: diffIds },
  };
  const bytes = JSON.stringify(image);
  const id = createHash('sha256').update(bytes).digest('hex');
  writeFileSync(join(dir, `${id}.json`), bytes);
  writeFileSync(
    join(dir, 'manifest.json'),
    JSON.stringify([{ Config: `${id}.json`, RepoTags: [name], Layers: layers }]),
  );
  const members = ['manifest.json', `${id}.json`, ...new Set(layers)];
  const plain = ['--format=ustar', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${epoch}`, '--mode=0644'];
  execFileSync('tar', ['-C', dir, ...plain, '-cf', file, ...members]);
  return `sha256:${id}`;
}
