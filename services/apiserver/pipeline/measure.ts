import type { RequestMetrics } from '../metrics/request-metrics.js';
import { asStatus } from './errors.js';
import type { Stage } from '../request/request.js';

/** Counts and times each request; failures under the code that they will leave with. */
export const measure =
  (metrics: RequestMetrics): Stage =>
  async (ctx, next) => {
    const done = metrics.started(ctx.state.info);
    try {
      await next();
      done(ctx.status);
    } catch (err) {
      done(asStatus(err).code);
      throw err;
    }
  };
