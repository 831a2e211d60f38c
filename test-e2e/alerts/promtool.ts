import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { PROGRAM } from '../support/program.js';
import { removeDirectory, scratchDirectory } from '../support/scratch.js';

const ROOT = dirname(dirname(PROGRAM));
const FILES = join(ROOT, 'charts/platform/files');
export const ALERTS_FILE = join(FILES, 'alerts.yaml');

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

export const alertRules = (): readonly AlertRule[] =>
  (parse(readFileSync(ALERTS_FILE, 'utf8')) as { groups: { rules: AlertRule[] }[] }).groups.flatMap((it) => it.rules);

/** The expressions of all panels. */
export const dashboardExpressions = (): readonly string[] =>
  (
    JSON.parse(readFileSync(join(FILES, 'dashboard.json'), 'utf8')) as { panels: { targets: { expr: string }[] }[] }
  ).panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

const provided = join(ROOT, '.cache/promtool/promtool');
const PROMTOOL = process.env['PROMTOOL'] ?? (existsSync(provided) ? provided : 'promtool');

/** A missing promtool is a failure where everything has to run, and a skip that is told of elsewhere. */
export function needsPromtool(context: Mocha.Context): void {
  if (spawnSync(PROMTOOL, ['--version']).status === 0) return;
  const why = 'No promtool: run deploy/promtool/get-promtool.mjs';
  if ((process.env['CI'] ?? '') !== '') throw new Error(why);
  process.stderr.write(`SKIPPED ${context.test?.parent?.fullTitle() ?? ''}. ${why}\n`);
  context.skip();
}

/** Values of a series by the minute, as promtool writes them: `0+1x20`. */
export type Series = Readonly<Record<string, string>>;

export interface Situation {
  readonly series: Series;
  /** When it is looked, e.g. `20m`. */
  readonly at: string;
  /** Alerts that have to fire then. */
  readonly firing?: readonly string[];
  /** Alerts that must not. */
  readonly silent?: readonly string[];
}

/** Lets Prometheus go through situations with the rules as they are. @throws {Error} with what it says */
export function goThrough(situations: readonly Situation[]): void {
  const expects = (alertname: string, isFiring: boolean, at: string): object => ({
    expr: `(count(ALERTS{alertname="${alertname}",alertstate="firing"}) or vector(0)) > bool 0`,
    eval_time: at,
    exp_samples: [{ labels: '{}', value: isFiring ? 1 : 0 }],
  });
  const tests = situations.map(({ series, at, firing = [], silent = [] }) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [...firing.map((it) => expects(it, true, at)), ...silent.map((it) => expects(it, false, at))],
  }));
  const directory = scratchDirectory();
  try {
    const file = join(directory, 'test.yaml');
    writeFileSync(file, JSON.stringify({ rule_files: [ALERTS_FILE], evaluation_interval: '1m', tests }));
    const { status, stdout, stderr } = spawnSync(PROMTOOL, ['test', 'rules', file], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${stdout}${stderr}`);
  } finally {
    removeDirectory(directory);
  }
}

/** What promtool says of the rules themselves; '' when they are well. */
export function checkRules(): string {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, ['check', 'rules', ALERTS_FILE], { encoding: 'utf8' });
  return status === 0 ? '' : stdout + stderr;
}
