// Runs after the compiler: notes beside the compiled code what it was made of, for `/version`. A tree without git, such as
// an unpacked archive, has no commit to tell of; the same commit is built to the same bytes whenever that is done.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const target = join(resolve(process.argv[2] ?? join(root, 'dist')), 'build.json');

/** undefined when git cannot tell. */
function git(...args) {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

/** Another repository around an unpacked archive says nothing about it. */
const isOwn = git('rev-parse', '--show-cdup') === '';
const ownCommit = isOwn ? git('rev-parse', 'HEAD') : undefined;
/** In the build of an image there is no git; who asked for it says what it is made of. */
const commit = ownCommit ?? process.env.SOURCE_COMMIT ?? '';
const changes = ownCommit === undefined ? undefined : git('status', '--porcelain');
const treeState =
  ownCommit === undefined && commit !== '' ? 'clean' : changes === undefined ? '' : changes === '' ? 'clean' : 'dirty';

/** Seconds: what the builder says (reproducible-builds.org), the commit's, or now. */
function seconds() {
  const said = Number(process.env.SOURCE_DATE_EPOCH || NaN);
  if (Number.isSafeInteger(said)) return said;
  const committed = changes === '' ? Number(git('show', '-s', '--format=%ct', 'HEAD')) : NaN;
  return Number.isSafeInteger(committed) ? committed : Math.floor(Date.now() / 1000);
}

const date = new Date(seconds() * 1000).toISOString().replace('.000Z', 'Z');
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, `${JSON.stringify({ commit, treeState, date })}\n`);
