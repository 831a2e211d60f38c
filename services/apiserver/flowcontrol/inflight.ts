import { PRIVILEGED_GROUP } from '../request/users.js';
import { isMutating } from '../metrics/request-metrics.js';
import type { Stage } from '../request/request.js';
import { tooManyRequests } from './refusal.js';

export interface InflightLimits {
  /** Most requests at once that change nothing; 0 for no limit. */
  readonly reading: number;
  /** Most that change something; 0 for no limit. */
  readonly mutating: number;
}

/**
 * Two limits without queues: one for requests that change something, one for the rest. A request without an end of
 * its own counts until it is open. Administrators are exempt, so that they can look into an overload.
 */
export function inflightLimits(limits: InflightLimits): Stage {
  const running = { reading: 0, mutating: 0 };
  return async (ctx, next) => {
    const { info, user } = ctx.state;
    const kind = isMutating(info) ? 'mutating' : 'reading';
    const limit = limits[kind];
    if (limit === 0) {
      await next();
      return;
    }
    if (running[kind] >= limit) {
      if (!user.groups.includes(PRIVILEGED_GROUP)) throw tooManyRequests();
      await next();
      return;
    }
    running[kind]++;
    let counts = true;
    const leave = (): void => {
      if (counts) running[kind]--;
      counts = false;
    };
    ctx.state.onOpen = leave;
    try {
      await next();
    } finally {
      leave();
    }
  };
}
