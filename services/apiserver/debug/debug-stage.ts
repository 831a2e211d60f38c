import type { FlagTable } from '../../machinery/flags/flags.js';
import { LOG_FLAGS } from '../../machinery/log/flags.js';
import type { Verbosity } from '../../machinery/log/log.js';
import { badRequest } from '../../machinery/meta/status.js';
import { readBody, type BodyLimits } from '../http/exchange.js';
import { respondJson } from '../http/respond.js';
import { methodRefused } from '../pipeline/request-info.js';
import type { Context, Stage } from '../request/request.js';
import { shownFlags } from './flags.js';
import { extensionOf, takeProfile, type ProfileName } from './profiles.js';
import { serverStatus, type StatusDeps } from './server-status.js';

export interface DebugDeps {
  readonly flags: FlagTable;
  readonly options: Parameters<typeof shownFlags>[1] & { readonly requestTimeoutMs: number };
  readonly status: Omit<StatusDeps, 'verbosity'>;
  readonly verbosity: Verbosity;
}

type Route = (ctx: Context, d: DebugDeps) => Promise<void> | void;

const VERBOSITY_BODY: BodyLimits = { maxBytes: 64, timeoutMs: 10_000 };
const DEFAULT_SECONDS: Readonly<Record<ProfileName, number>> = { profile: 30, heap: 10 };
const MAX_SECONDS = 60;

/** By path, then by method. Who may ask is a matter of authorization: to it these are paths as others are. */
const ROUTES = new Map<string, Readonly<Record<string, Route>>>([
  ['/debug/flags', { GET: (ctx, { flags, options }) => respondText(ctx, shownFlags(flags, options)) }],
  [
    '/debug/flags/v',
    { GET: (ctx, { verbosity }) => respondText(ctx, `${verbosity.level}\n`), PUT: (ctx, d) => setVerbosity(ctx, d) },
  ],
  ['/debug/status', { GET: respondStatus }],
  ['/debug/pprof/', { GET: (ctx) => respondText(ctx, 'heap\nprofile\n') }],
  ['/debug/pprof/heap', { GET: (ctx, d) => respondProfile(ctx, d, 'heap') }],
  ['/debug/pprof/profile', { GET: (ctx, d) => respondProfile(ctx, d, 'profile') }],
]);

export const DEBUG_PATHS: readonly string[] = [...ROUTES.keys()];

/** Answers what is asked below `/debug`, and lets all else through. */
export const debugging =
  (d: DebugDeps): Stage =>
  async (ctx, next) => {
    const routes = ROUTES.get(ctx.path === '/debug/pprof' ? '/debug/pprof/' : ctx.path);
    if (routes === undefined) {
      await next();
      return;
    }
    const route = Object.hasOwn(routes, ctx.method) ? routes[ctx.method] : undefined;
    if (route === undefined) throw methodRefused(ctx, Object.keys(routes));
    await route(ctx, d);
  };

/** As `PUT /debug/flags/v` of other servers: the body is the number. Until the process ends. */
async function setVerbosity(ctx: Context, { verbosity }: DebugDeps): Promise<void> {
  const text = (await readBody(ctx, VERBOSITY_BODY)).toString('utf8').trim();
  const { min, max, flag } = LOG_FLAGS.verbosity;
  const level = /^\d{1,3}$/.test(text) ? Number(text) : NaN;
  if (!(level >= Number(min) && level <= Number(max)))
    throw badRequest(`${flag} must be a number from ${min} to ${max}`);
  verbosity.level = level;
  respondText(ctx, `successfully set ${flag} to ${level}\n`);
}

async function respondStatus(ctx: Context, { status, verbosity }: DebugDeps): Promise<void> {
  await respondJson(
    ctx,
    200,
    Buffer.from(JSON.stringify(await serverStatus({ ...status, verbosity }))),
    'application/json',
  );
}

async function respondProfile(ctx: Context, { options }: DebugDeps, name: ProfileName): Promise<void> {
  const most = Math.min(MAX_SECONDS, Math.floor(options.requestTimeoutMs / 1_000) - 1);
  const asked = ctx.state.query.get('seconds') ?? '';
  const seconds = asked === '' ? Math.min(DEFAULT_SECONDS[name], most) : Number(asked);
  if (!/^\d*$/.test(asked) || seconds < 1 || seconds > most)
    throw badRequest(`seconds must be a number from 1 to ${most}`);
  const profile = await takeProfile(name, seconds, ctx.state.signal);
  ctx.set('Content-Disposition', `attachment; filename="${name}.${extensionOf(name)}"`);
  ctx.set('Cache-Control', 'no-cache, private');
  await respondJson(ctx, 200, profile, 'application/octet-stream');
}

function respondText(ctx: Context, text: string): void {
  ctx.status = 200;
  ctx.set({
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-cache, private',
  });
  ctx.body = text;
}
