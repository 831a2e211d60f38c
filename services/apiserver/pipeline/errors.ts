import { StatusError } from '../../machinery/meta/status.js';
import { isStoreError, storeErrorOf } from '../../storage/store.js';
import { breakOff } from '../http/exchange.js';
import { respondStatus } from '../http/respond.js';
import type { Stage } from '../request/request.js';

export interface ErrorLog {
  error(message: string, keys?: object): void;
}

/** Whatever is thrown further in becomes a Status body. What we did not expect is logged here, once. */
export const respondToErrors =
  (log: ErrorLog): Stage =>
  async (ctx, next) => {
    try {
      await next();
    } catch (err) {
      const status = asStatus(err);
      if (status.reason === 'InternalError' && !isStoreError(status, 'noSpace'))
        log.error('Request failed', { err, method: ctx.method, path: ctx.path });
      if (ctx.headerSent) breakOff(ctx.res);
      else respondStatus(ctx, status);
    }
  };

/** Foreign errors become ours in this one place; what they say stays in the log. */
export function asStatus(err: unknown): StatusError {
  for (let e = err; e instanceof Error; e = e.cause) {
    if (e instanceof StatusError) return e;
  }
  if (isStoreError(err, 'unavailable') || isStoreError(err, 'closed')) {
    return new StatusError('ServiceUnavailable', 'The store is not available', {
      cause: err,
      details: { retryAfterSeconds: 1 },
    });
  }
  const full = storeErrorOf(err, 'noSpace');
  if (full !== undefined) return new StatusError('InternalError', full.message, { cause: err }); // all may know it
  return new StatusError('InternalError', 'Internal error occurred', { cause: err });
}
