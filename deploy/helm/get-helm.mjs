#!/usr/bin/env node
// Makes Helm available to the tests of the chart, as .cache/helm/helm. Where it comes from: what is there already; what HELM names;
// `helm` on PATH; else it is built from its Go module, by `go` on PATH or by that of the distribution's packages, unpacked here
// and never installed. Building takes minutes, once. Prints one line. Takes no root.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withGo } from '../debian/go.mjs';
import { onPath } from '../debian/packages.mjs';

const CACHE = join(resolve(dirname(fileURLToPath(import.meta.url)), '../..'), '.cache');
const PLACE = join(CACHE, 'helm/helm');
const MODULE = 'helm.sh/helm/v3';
const VERSION = 'v3.18.6';
/** The release of the API that its libraries are of, which templates are told where no server is asked. */
const API_MINOR = 33;

/** e.g. v3.18.6; undefined when it does not run, or is of another major version. */
function versionOf(binary) {
  if (binary === undefined || !existsSync(binary)) return undefined;
  const run = spawnSync(binary, ['version', '--template', '{{.Version}}'], { encoding: 'utf8', timeout: 30_000 });
  return run.status === 0 ? /^v3\.\d+(\.\d+)?/.exec(run.stdout)?.[0] : undefined;
}

function link(binary) {
  if (versionOf(binary) === undefined) return false;
  rmSync(PLACE, { force: true });
  symlinkSync(resolve(binary), PLACE);
  return true;
}

function build(go) {
  const bin = join(CACHE, 'helm/built');
  const variables = {
    'internal/version.version': VERSION,
    ...Object.fromEntries(
      ['pkg/lint/rules', 'pkg/chartutil'].flatMap((it) => [
        [`${it}.k8sVersionMajor`, 1],
        [`${it}.k8sVersionMinor`, API_MINOR],
      ]),
    ),
  };
  const set = Object.entries(variables).map(([name, value]) => `-X ${MODULE}/${name}=${value}`);
  const args = ['install', `-ldflags=-s -w ${set.join(' ')}`, `${MODULE}/cmd/helm@${VERSION}`];
  if (!go(args, { env: { GOBIN: bin } })) return false;
  renameSync(join(bin, 'helm'), PLACE);
  rmSync(bin, { recursive: true });
  return versionOf(PLACE) !== undefined;
}

mkdirSync(dirname(PLACE), { recursive: true });
const found = versionOf(PLACE) !== undefined || link(process.env.HELM) || link(onPath('helm')) || withGo(CACHE, build);
if (found) {
  chmodSync(PLACE, 0o755);
  process.stdout.write(`helm ${versionOf(PLACE)}: ${PLACE}\n`);
} else {
  process.stderr.write('No Helm to be had: put version 3 of it on PATH, or name it in HELM\n');
  process.exitCode = 1;
}
