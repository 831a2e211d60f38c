import { REQUESTS, type ProcessLog } from '../../machinery/log/log.js';
import { redactedUrl } from '../../machinery/log/redact.js';
import type { Context, RequestState, Stage } from '../request/request.js';

/** Tells of each request when its answer is out, while the log's verbosity asks for it; of watches at their end. */
export const requestLog =
  (log: Pick<ProcessLog, 'info' | 'verbosity'>): Stage =>
  async (ctx, next) => {
    const from = performance.now();
    await next();
    if (log.verbosity.level >= REQUESTS) log.info('HTTP', entryOf(ctx, performance.now() - from));
  };

/** Under the names that dashboards of such lines look for. */
function entryOf({ req, status, state }: Context, ms: number): object {
  return {
    verb: req.method,
    URI: redactedUrl(req.url ?? ''),
    latency: `${ms.toFixed(3)}ms`,
    userAgent: req.headers['user-agent'] ?? '',
    srcIP: req.socket.remoteAddress ?? '',
    user: userOf(state),
    resp: status,
  };
}

/** Nobody where the request was refused before anybody was known. */
function userOf({ user, impersonator }: Partial<RequestState>): string {
  const name = user?.name ?? '';
  return impersonator === undefined ? name : `${name} by ${impersonator.name}`;
}
