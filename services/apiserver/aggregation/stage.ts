import type { VerbStageDeps } from '../verbs/dispatch.js';
import type { Stage } from '../request/request.js';

/** Hands requests for what other servers serve to them. Those who ask are known by now, and may. */
export const aggregation =
  (elsewhere: VerbStageDeps['elsewhere']): Stage =>
  async (ctx, next) => {
    if (!(await elsewhere(ctx))) await next();
  };
