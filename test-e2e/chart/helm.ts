import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import type { Context } from 'mocha';
import { parseAllDocuments } from 'yaml';

import { PROGRAM } from '../support/program.js';

export const ROOT = dirname(dirname(PROGRAM));
export const CHART = join(ROOT, 'charts/platform');
const RUN_MS = 120_000;
/** Templates are told of this release where no server is asked. */
const OFFLINE = ['--kube-version=1.33.0'];

/** Files of values that the chart is tried with, by name. */
export const CI_VALUES: ReadonlyMap<string, string> = new Map(
  readdirSync(join(CHART, 'ci')).map((it) => [it.replace(/\.yaml$/, ''), join(CHART, 'ci', it)]),
);

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What `HELM` names, or what deploy/helm provided, or the one on PATH. */
const BINARY = findHelm();

function findHelm(): string {
  const named = process.env['HELM'];
  if (named !== undefined && named !== '') return named;
  const provided = join(ROOT, '.cache/helm/helm');
  return existsSync(provided) ? provided : 'helm';
}

/** Skips the tests of a suite where there is no Helm; in CI its absence is a failure. */
export function needsHelm(test: Context): void {
  try {
    execFileSync(BINARY, ['version', '--short'], { timeout: RUN_MS, stdio: 'pipe' });
  } catch (err) {
    if (process.env['CI'] !== undefined)
      throw new Error('There is no Helm, which these tests need in CI', { cause: err });
    test.skip();
  }
}

export function helm(args: readonly string[], env: NodeJS.ProcessEnv = {}): Ran {
  const { status, stdout, stderr } = spawnSync(BINARY, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    timeout: RUN_MS,
    maxBuffer: 64 << 20,
  });
  return { code: status, stdout, stderr };
}

/** The same while something else goes on: hooks wait for others. */
export async function runHelm(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const child = spawn(BINARY, args, {
    env: { ...process.env, ...env },
    timeout: RUN_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  const [code] = (await ended) as [number | null];
  return { code, stdout, stderr };
}

/** What `helm template` makes of the chart as the release `r` in the namespace `ns`. */
export const template = (args: readonly string[]): Ran =>
  helm(['template', 'r', CHART, '--namespace=ns', ...OFFLINE, ...args]);

export const lint = (args: readonly string[]): Ran => helm(['lint', CHART, '--strict', ...OFFLINE, ...args]);

/** Members of the objects that the tests look at. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
}

export const manifests = (text: string): readonly Manifest[] =>
  parseAllDocuments(text).flatMap((it) => (it.contents === null ? [] : [it.toJS() as Manifest])); // of our own chart

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string };
    readonly configMap?: { readonly name: string };
  }[];
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
}

interface Templated {
  readonly spec?: { readonly template?: { readonly spec: PodSpec }; readonly jobTemplate?: Templated } & PodSpec;
}

/** What runs, by kind and name: pods, and the templates of those that others make. */
export function podsOf(objects: readonly Manifest[]): readonly (readonly [of: string, spec: PodSpec])[] {
  const specOf = ({ spec }: Templated): PodSpec | undefined =>
    spec?.template?.spec ?? (spec?.jobTemplate === undefined ? undefined : specOf(spec.jobTemplate));
  return objects.flatMap((it) => {
    const spec = it.kind === 'Pod' ? (it.spec as unknown as PodSpec) : specOf(it as unknown as Templated);
    return spec === undefined ? [] : [[`${it.kind} ${it.metadata.name}`, spec] as const];
  });
}
