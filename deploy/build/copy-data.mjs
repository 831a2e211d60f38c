// Runs after the compiler: puts the data files that code reads at run time beside the compiled code, at the same relative
// places. Copies only what changed (by size and time), so a rebuild costs a directory walk.
import { copyFileSync, mkdirSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const target = resolve(process.argv[2] ?? join(root, 'dist'));

/** Every file below `dir` whose path from the root satisfies `wanted`. */
function* files(dir, wanted) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* files(path, wanted);
    else if (entry.isFile() && wanted(path)) yield path;
  }
}

const inDataFolder = (path) => relative(root, path).split(sep).slice(0, -1).includes('data') && !path.endsWith('.ts');

/** Times are compared by the millisecond: some file systems keep no more. */
function isCurrent(from, to) {
  const source = statSync(from);
  const copy = statSync(to, { throwIfNoEntry: false });
  return copy !== undefined && copy.size === source.size && Math.abs(copy.mtimeMs - source.mtimeMs) < 1;
}

let copied = 0;
for (const from of [...files(join(root, 'services'), inDataFolder), ...files(join(root, 'proto'), () => true)]) {
  const to = join(target, relative(root, from));
  if (isCurrent(from, to)) continue;
  const { atime, mtime } = statSync(from);
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  utimesSync(to, atime, mtime);
  copied += 1;
}
if (copied > 0) process.stdout.write(`copied ${copied} data files to ${relative(process.cwd(), target) || '.'}\n`);
