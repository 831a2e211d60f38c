import type { Log } from '../log/log.js';

/** The ways in which a process ends before it wants to. */
export interface Ending {
  /** Fires on the first SIGINT or SIGTERM. A second one ends the process at once, with 1. */
  readonly stop: AbortSignal;
  /** Ends the process now, with 1, after one entry in the log: its state can no longer be trusted. */
  readonly fatal: (err: Error) => void;
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Watches for signals, and for uncaught errors. The latter must never happen; when one does, what the
 * process keeps in memory is unknown, and going on could answer wrongly.
 */
export function watchForEnd(log: Log): Ending {
  const stopping = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (stopping.signal.aborted) process.exit(1);
    log.info('Stopping', { signal: name });
    stopping.abort(new Error(`Stopped by ${name}`));
  };
  const endWith =
    (message: string) =>
    (err: unknown): void => {
      log.error(message, { err });
      process.exit(1);
    };
  for (const name of STOP_SIGNALS) process.on(name, onSignal);
  process.on('uncaughtException', endWith('An error was not caught'));
  process.on('unhandledRejection', endWith('A rejection was not handled'));
  process.stdout.on('error', () => undefined); // the reader of the ready line may have gone since
  return { stop: stopping.signal, fatal: endWith('The process cannot go on') };
}
