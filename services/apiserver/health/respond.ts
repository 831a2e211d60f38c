import type { Context } from '../request/request.js';
import { unknownPath } from '../verbs/dispatch.js';
import type { HealthChecks, HealthEndpoint, HealthOutcome, HealthReport } from './health-checks.js';

const LINES: Readonly<Record<HealthOutcome['outcome'], (name: string) => string>> = {
  ok: (name) => `[+]${name} ok\n`,
  excluded: (name) => `[+]${name} excluded: ok\n`,
  failed: (name) => `[-]${name} failed: reason withheld\n`,
  warned: (name) => `[-]${name} failed: reason withheld\n`,
};

/** `/healthz`, `/livez`, `/readyz` (spec 1, 4.8). A failure is always told in full, success only when asked for. */
export async function respondHealth(ctx: Context, health: HealthChecks, endpoint: HealthEndpoint): Promise<void> {
  const { query } = ctx.state;
  const report = await health.report(endpoint, new Set(query.getAll('exclude')));
  const sound = report.checks.every(({ outcome }) => outcome !== 'warned');
  if (report.passed && sound && !query.has('verbose')) {
    respondText(ctx, 200, 'ok');
    return;
  }
  // The last line of success names the oldest endpoint whichever was asked: scripts look for it.
  const last = report.passed ? 'healthz check passed\n' : `${endpoint} check failed\n`;
  respondText(ctx, report.passed ? 200 : 500, `${linesOf(report)}${last}`);
}

function linesOf({ checks, unknown }: HealthReport): string {
  const lines = checks.map(({ name, outcome }) => LINES[outcome](name)).join('');
  if (unknown.length === 0) return lines;
  const names = unknown.map((name) => JSON.stringify(name)).join(', ');
  return `${lines}warn: some health checks cannot be excluded: no matches for ${names}\n`;
}

/** `/livez/<check>` and the like. */
export async function respondCheck(
  ctx: Context,
  health: HealthChecks,
  endpoint: HealthEndpoint,
  name: string,
): Promise<void> {
  const holds = await health.one(endpoint, name);
  if (holds === undefined) throw unknownPath();
  respondText(ctx, holds ? 200 : 500, holds ? 'ok' : LINES.failed(name));
}

function respondText(ctx: Context, code: number, text: string): void {
  ctx.status = code;
  ctx.set({
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-cache, private',
  });
  ctx.body = text;
}
