/** Between two log entries: clients decide how often a service fails. */
const QUIET_MS = 60_000;

/** Logs that a service cannot be asked, at most once a minute. */
export class Outages {
  readonly #service: string;
  readonly #log: { warn(message: string, keys?: object): void };
  readonly #nowMs: () => number;
  #quietUntilMs = -Infinity;
  #failures = 0;

  constructor(
    service: string,
    log: { warn(message: string, keys?: object): void },
    nowMs: () => number = (): number => performance.now(),
  ) {
    this.#service = service;
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** @param err Holds nothing that was asked. */
  failed(err: unknown): void {
    this.#failures += 1;
    const nowMs = this.#nowMs();
    if (nowMs < this.#quietUntilMs) return;
    this.#log.warn('A service gives no answers that can be used', {
      service: this.#service,
      failures: this.#failures,
      err,
    });
    this.#failures = 0;
    this.#quietUntilMs = nowMs + QUIET_MS;
  }
}
