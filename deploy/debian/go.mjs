// Go to build with: `go` on PATH, or that of the distribution's packages, unpacked and never installed.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fromPackages, onPath, osRelease } from './packages.mjs';

/** What the modules that are built here ask for. */
const GO = { major: 1, minor: 24 };
const BUILD_MS = 1_500_000;

/** Whether this Go is new enough. */
function isUsable(go) {
  if (go === undefined) return false;
  const run = spawnSync(go, ['env', 'GOVERSION'], { encoding: 'utf8', env: { ...process.env, GOTOOLCHAIN: 'local' } });
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(run.stdout ?? '') ?? [];
  return Number(major) === GO.major && Number(minor) >= GO.minor;
}

/**
 * Hands a Go on, the first one with which `use` succeeds.
 *
 * @param cache for what is unpacked
 * @param use of `(args, { cwd, env })`, which runs Go without C and fetches no other one, says on stderr what fails, and
 *   returns whether it succeeded
 * @returns whether `use` did
 */
export function withGo(cache, use) {
  const given = onPath('go');
  return (given !== undefined && useOf(given, use)) || fromDistribution(cache, use);
}

function useOf(go, use) {
  if (!isUsable(go)) return false;
  return use((args, { cwd, env } = {}) => {
    const run = spawnSync(go, args, { cwd, env: { ...environment(go), ...env }, encoding: 'utf8', timeout: BUILD_MS });
    if (run.status === 0) return true;
    process.stderr.write(`go ${args[0]}: ${run.error?.message ?? run.stderr.slice(-1000)}\n`);
    return false;
  });
}

const environment = (go) => ({
  ...process.env,
  PATH: [dirname(go), process.env.PATH ?? ''].join(delimiter),
  GOFLAGS: '-trimpath',
  GOTOOLCHAIN: 'local', // nothing else is fetched to build with
  CGO_ENABLED: '0',
});

/** The packages' own places are kept beside each other: links between them are relative. */
function fromDistribution(cache, use) {
  const { id, codename } = osRelease();
  const releases = id === 'debian' ? new Set([codename, 'trixie']) : [codename];
  const names = [`golang-${GO.major}.${GO.minor}-go`, `golang-${GO.major}.${GO.minor}-src`];
  const unpacked = (place) => {
    const root = join(cache, 'go');
    rmSync(root, { recursive: true, force: true });
    cpSync(join(place, 'usr'), root, { recursive: true, verbatimSymlinks: true });
    try {
      return useOf(join(root, `lib/go-${GO.major}.${GO.minor}/bin/go`), use);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  };
  return [...releases].some((release) => fromPackages({ cache, release, names, use: unpacked }));
}
