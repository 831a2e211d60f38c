// Puts what runs in a container below a folder, at the places that it has in the image: the compiled program without its
// tests, and the packages that it needs when it runs. usage: node deploy/images/collect.mjs FOLDER
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const TARGET = join(resolve(process.argv[2] ?? 'image'), 'opt/platform');

const NEEDLESS = [/\.test\.js$/, /\/testing(\/|$)/, /\.map$/, /\.d\.[mc]?ts$/];
/** Of packages: sources, and manuals, which are at the top of a package where they are no code; a licence stays. */
const NEEDLESS_IN_PACKAGES = [
  /\.(map|md|ts|cts|mts|markdown|flow)$/,
  /\/node_modules\/@opentelemetry\/[^/]+\/build\/(esm|esnext)$/, // for bundlers
  /\/node_modules\/(@[^/]+\/)?[^/@]+\/(docs?|tests?|examples?|\.github|benchmarks?)$/,
];

const copy = (from, without) =>
  cpSync(join(ROOT, from), join(TARGET, from), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !without.some((it) => it.test(path.slice(ROOT.length))),
  });

/** The packages of another C library than this one's are never loaded. */
function withoutOtherLibraries(folder) {
  for (const it of readdirSync(folder, { recursive: true })) {
    if (it.endsWith('.musl.node')) rmSync(join(folder, it));
  }
}

for (const it of ['bin', 'package.json', 'dist/bundle', 'dist/build.json', 'dist/services', 'dist/proto/kms'])
  copy(it, NEEDLESS);
execFileSync('npm', ['prune', '--omit=dev', '--no-audit', '--no-fund'], { cwd: ROOT, stdio: 'ignore' });
copy('node_modules', NEEDLESS_IN_PACKAGES);
withoutOtherLibraries(join(TARGET, 'node_modules'));
// Optional packages that are not here are links to nowhere.
rmSync(join(TARGET, 'node_modules/msgpackr-extract'), { force: true });
rmSync(join(TARGET, 'node_modules/.bin'), { recursive: true, force: true });
rmSync(join(TARGET, 'node_modules/.package-lock.json'), { force: true });
