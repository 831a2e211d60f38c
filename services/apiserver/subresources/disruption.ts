import type { ApiObject } from '../../machinery/meta/object.js';
import { forbidden, StatusError } from '../../machinery/meta/status.js';

/** A disruption budget, as far as an eviction looks at it. */
export interface Budget extends ApiObject {
  readonly status?: {
    readonly observedGeneration?: number;
    readonly disruptedPods?: Readonly<Record<string, string>>;
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly conditions?: readonly { readonly type: string }[];
  };
}

/** Evictions that its controller has not seen through yet: more would make the object too large. */
const MAX_DISRUPTED = 2000;
/** Retry-After, in seconds, for a budget that is being counted anew. */
const RETRY_SECONDS = 10;

/**
 * Whether a budget lets a pod go. Pure.
 *
 * @returns `take`: one disruption has to be taken from it. `unlessItChanges`: the pod is not ready, and enough others
 * are: letting it go takes nothing, as long as it is not ready.
 * @throws {StatusError} TooManyRequests; Forbidden
 */
export function decide(budget: Budget, pod: ApiObject): 'take' | 'unlessItChanges' {
  const name = budget.metadata.name ?? '';
  const { observedGeneration = 0, disruptedPods = {}, disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {}; // prettier-ignore
  if (!isReady(pod) && desiredHealthy > 0 && currentHealthy >= desiredHealthy) return 'unlessItChanges';
  const refused = (why: string): StatusError =>
    forbidden({ group: 'policy', resource: 'poddisruptionbudgets' }, name, why);
  if (observedGeneration < (budget.metadata.generation ?? 0)) {
    throw tooMany(`The disruption budget ${name} is still being processed by the server.`, RETRY_SECONDS);
  }
  if (disruptionsAllowed < 0) throw refused('pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > MAX_DISRUPTED) {
    throw refused('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (disruptionsAllowed === 0) {
    throw tooMany(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    );
  }
  return 'take';
}

function isReady({ ['status']: status }: ApiObject): boolean {
  const { conditions = [] } = (status ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return conditions.some((c) => c.type === 'Ready' && c.status === 'True');
}

const tooMany = (why: string, retryAfterSeconds?: number): StatusError =>
  new StatusError('TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    details: {
      causes: [{ reason: 'DisruptionBudget', message: why }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  });
