/** A bound of time, within the bounds of others. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Fires the signal with this reason, unless it fired before. */
  fire(reason: unknown): void;
  /** Forgets the time and the outer signals; to be called when what was bound has ended. */
  end(): void;
}

/**
 * @param outer Fires the signal as well, with its own reason. @param late Makes the reason for being late.
 */
export function deadline(ms: number, outer: AbortSignal, late: () => Error): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(late()), ms);
  const follow = (): void => controller.abort(outer.reason);
  if (outer.aborted) follow();
  else outer.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    fire: (reason) => controller.abort(reason),
    end: () => {
      clearTimeout(timer);
      outer.removeEventListener('abort', follow);
    },
  };
}

/** What comes first: the end of `work`, or the signal. @throws `signal.reason` */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a reason is what the caller made it
    stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
