import { setMaxListeners } from 'node:events';

/** A bound of time, within the bounds of others. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Fires the signal with this reason, unless it fired before. */
  fire(reason: unknown): void;
  /** Forgets the time; the outer signals still hold. */
  relax(): void;
  /** Forgets the time and the outer signals; to be called when what was bound has ended. */
  end(): void;
}

/**
 * @param outer Fires the signal as well, with its own reason. @param late Makes the reason for being late.
 */
export function deadline(ms: number, outer: AbortSignal, late: () => Error): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(late()), ms);
  const forget = onAbort(outer, () => controller.abort(outer.reason));
  return {
    signal: controller.signal,
    fire: (reason) => controller.abort(reason),
    relax: () => clearTimeout(timer),
    end: () => {
      clearTimeout(timer);
      forget();
    },
  };
}

/** A signal that fires when one of these does, with its reason. To be ended, as a deadline is. */
export function firstOf(...signals: readonly AbortSignal[]): Pick<Deadline, 'signal' | 'end'> {
  const controller = new AbortController();
  const forgets = signals.map((signal) => onAbort(signal, () => controller.abort(signal.reason)));
  return {
    signal: controller.signal,
    end: () => {
      for (const forget of forgets) forget();
    },
  };
}

/** Calls back when a signal fires, or has fired already. @returns Ends that. */
function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  // Any number of questions may share a signal; each forgets it when it ends, so there is nothing to warn of.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', callback, { once: true });
  return () => signal.removeEventListener('abort', callback);
}

/** The result of `work`, unless the signal fires first. @throws `signal.reason` */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let forget = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a reason is what the caller made it
    forget = onAbort(signal, () => reject(signal.reason));
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    forget();
  }
}
