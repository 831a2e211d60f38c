import type CircuitBreaker from 'opossum';

/** `open`: the peer is left alone; `half_open`: one call goes through, and its end decides. */
export type BreakerState = 'closed' | 'open' | 'half_open';

/** Is told how a breaker stands. */
export interface BreakerObserver {
  /** At the beginning too. */
  changed(state: BreakerState): void;
  /** There is no such breaker any more. */
  gone(): void;
}

/** Tells nobody. */
export const UNOBSERVED: BreakerObserver = { changed: () => undefined, gone: () => undefined };

/** When a peer is left alone. */
export interface BreakerTimes {
  /** Calls within the window before anything is concluded from them. */
  readonly volume: number;
  /** More failures than this, in percent, and it is left alone. */
  readonly failurePercent: number;
  readonly windowMs: number;
  /** After this time one call goes through. */
  readonly restMs: number;
}

export interface BreakerOptions extends BreakerTimes {
  /** Whether an error says that the peer is not well. @param onTrial The call is the one that decides. */
  readonly isFault: (err: unknown, onTrial: boolean) => boolean;
  readonly observer?: BreakerObserver | undefined;
}

/** The peer is not asked for a while, as it failed too often; or the breaker was closed for good. */
export class LeftAlone extends Error {
  override readonly name = 'LeftAlone';
}

/** Stands before one peer, so that a peer which does not answer makes nobody wait for it. */
export interface Breaker {
  /** @throws {LeftAlone} @throws What `work` throws. */
  fire<T>(work: () => Promise<T>): Promise<T>;
  /** The peer is known to be well. */
  heal(): void;
  shutdown(): void;
}

/** Its library is loaded with the first breaker. */
export async function openBreaker(o: BreakerOptions): Promise<Breaker> {
  const { default: Circuit } = await import('opossum');
  const circuit: CircuitBreaker<[() => Promise<unknown>]> = new Circuit((work: () => Promise<unknown>) => work(), {
    timeout: false, // who asks knows how long it waits
    volumeThreshold: o.volume,
    errorThresholdPercentage: o.failurePercent,
    rollingCountTimeout: o.windowMs,
    resetTimeout: o.restMs,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
    errorFilter: (err: unknown) => !o.isFault(err, circuit.halfOpen),
  });
  const { observer } = o;
  circuit.on('open', () => observer?.changed('open'));
  circuit.on('halfOpen', () => observer?.changed('half_open'));
  circuit.on('close', () => observer?.changed('closed'));
  observer?.changed('closed');
  return {
    fire: async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        return (await circuit.fire(work)) as T; // what `work` resolves to
      } catch (err) {
        const isOwn =
          err instanceof Error && 'code' in err && (err.code === 'EOPENBREAKER' || err.code === 'ESHUTDOWN');
        throw isOwn ? new LeftAlone('It is not asked for a while, for it failed too often') : err;
      }
    },
    heal: () => circuit.close(),
    shutdown: () => {
      circuit.shutdown();
      observer?.gone();
    },
  };
}
