export const HEALTH_ENDPOINTS = ['healthz', 'livez', 'readyz'] as const;
export type HealthEndpoint = (typeof HEALTH_ENDPOINTS)[number];

export interface HealthCheck {
  /** Where it counts. */
  readonly endpoints: readonly HealthEndpoint[];
  /** The answer shows that it fails, and the endpoint passes nevertheless. */
  readonly advisory?: true;
  /** Throwing is failing. `signal` fires when the answer is no longer waited for. */
  readonly check: (signal: AbortSignal) => boolean | Promise<boolean>;
}

export interface HealthOptions {
  /** How long after the start the checks of the start count as good for livez. */
  readonly livezGracePeriodMs: number;
  /** A check that takes longer has failed. */
  readonly timeoutMs?: number;
  /** Milliseconds, rising. */
  readonly now?: () => number;
}

/** A check with its name, which may have slashes: `poststarthook/bootstrap`. */
type Named = HealthCheck & { readonly name: string };

/** The outcome of one check, in the order in which checks were added. */
export interface HealthOutcome {
  readonly name: string;
  readonly outcome: 'ok' | 'failed' | 'warned' | 'excluded';
}

export interface HealthReport {
  readonly passed: boolean;
  readonly checks: readonly HealthOutcome[];
  /** Names to exclude that no check has. */
  readonly unknown: readonly string[];
}

const DEFAULT_TIMEOUT_MS = 5_000;
const START_CHECKS = 'poststarthook/';

/** Decide whether the server is healthy, live or ready. `ping` is always among them. */
export class HealthChecks {
  readonly #checks: Named[] = [];
  /** A check that is under way is shared: however many ask, a store that hangs is asked once. */
  readonly #running = new Map<Named, Promise<boolean>>();
  readonly #timeoutMs: number;
  readonly #now: () => number;
  readonly #graceEnds: number;

  /** @param checks By name. */
  constructor(
    { livezGracePeriodMs, timeoutMs = DEFAULT_TIMEOUT_MS, now = () => performance.now() }: HealthOptions,
    checks: ReadonlyMap<string, HealthCheck> = new Map(),
  ) {
    this.#timeoutMs = timeoutMs;
    this.#now = now;
    this.#graceEnds = now() + livezGracePeriodMs;
    this.add({ name: 'ping', endpoints: HEALTH_ENDPOINTS, check: () => true });
    for (const [name, check] of checks) this.add({ name, ...check });
  }

  /** @throws {Error} when there is a check of that name */
  add(check: Named): void {
    if (this.#checks.some((c) => c.name === check.name)) throw new Error(`Two health checks are called ${check.name}`);
    this.#checks.push(check);
  }

  /** The names of an endpoint's checks. */
  names(endpoint: HealthEndpoint): readonly string[] {
    return this.#of(endpoint).map((c) => c.name);
  }

  async passes(endpoint: HealthEndpoint): Promise<boolean> {
    return (await this.report(endpoint)).passed;
  }

  /** Runs the checks of an endpoint at the same time. Takes no longer than the time-out of one. */
  async report(endpoint: HealthEndpoint, exclude: ReadonlySet<string> = new Set()): Promise<HealthReport> {
    const own = this.#of(endpoint);
    const checks = await Promise.all(
      own.map(async (c): Promise<HealthOutcome> => {
        if (exclude.has(c.name)) return { name: c.name, outcome: 'excluded' };
        return {
          name: c.name,
          outcome: (await this.#holds(c, endpoint)) ? 'ok' : c.advisory === true ? 'warned' : 'failed',
        };
      }),
    );
    return {
      passed: checks.every((c) => c.outcome !== 'failed'),
      checks,
      unknown: [...exclude].filter((name) => !own.some((c) => c.name === name)).sort(),
    };
  }

  /** One check by itself; undefined where the endpoint has none of that name. */
  async one(endpoint: HealthEndpoint, name: string): Promise<boolean | undefined> {
    const check = this.#of(endpoint).find((c) => c.name === name);
    return check === undefined ? undefined : this.#holds(check, endpoint);
  }

  #of(endpoint: HealthEndpoint): readonly Named[] {
    return this.#checks.filter((c) => c.endpoints.includes(endpoint));
  }

  async #holds(check: Named, endpoint: HealthEndpoint): Promise<boolean> {
    const starting = endpoint === 'livez' && check.name.startsWith(START_CHECKS);
    if (starting && this.#now() < this.#graceEnds) return true;
    const known = this.#running.get(check);
    if (known !== undefined) return known;
    const running = runBounded(check, this.#timeoutMs).finally(() => this.#running.delete(check));
    this.#running.set(check, running);
    return running;
  }
}

/** Never rejects. */
async function runBounded({ check }: HealthCheck, timeoutMs: number): Promise<boolean> {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => {
      resolve(false);
      over.abort(new Error(`The check took longer than ${timeoutMs} ms`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([Promise.resolve(check(over.signal)).catch(() => false), late]);
  } catch {
    return false; // thrown at once, before there was a promise
  } finally {
    clearTimeout(timer);
  }
}
