import { once } from 'node:events';
import type { Log } from '../log/log.js';
import { tell, type ProcessDeps } from './command-line.js';
import { watchForEnd } from './ending.js';

/** A server between the ready line and the signal. */
export interface Served {
  /** Follows `ready ` on the line on stdout. */
  readonly announcement: string;
  ready(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly log: Log;
  /** How long `close()` may serve on, beside what it has to put in order. */
  readonly closeMs: number;
  /** @throws {Error} Its message is one line that says why it cannot start. */
  readonly start: (onFatal: (err: Error) => void) => Promise<Served>;
}

/** For all else that is put in order, such as the store. The process then ends regardless. */
const IN_ORDER_MS = 30_000;
/** Longest that connections still open at the end may take to end by themselves. */
const LINGER_MS = 3_000;

/**
 * Starts, prints the ready line, serves until the first SIGINT or SIGTERM, and stops.
 *
 * @returns The exit code. The process then ends by itself.
 */
export async function serve({ program }: ProcessDeps, o: ServeOptions): Promise<number> {
  const ending = watchForEnd(o.log);
  const { stop } = ending;
  const leave = (): void => process.exit(0);
  stop.addEventListener('abort', leave); // while starting, nothing is served that would have to be ended well
  let served: Served;
  try {
    served = await o.start(ending.fatal);
  } catch (err) {
    tell(`${program}: Cannot start: ${messageOf(err)}`);
    return endSoon(o.log, 1);
  } finally {
    stop.removeEventListener('abort', leave);
  }
  await announce(served, stop);
  if (!stop.aborted) await once(stop, 'abort');
  const code = await closeWithin(served, o);
  return endSoon(o.log, code);
}

async function announce(served: Served, stop: AbortSignal): Promise<void> {
  try {
    await served.ready(stop);
    process.stdout.write(`ready ${served.announcement}\n`);
  } catch (err) {
    if (!stop.aborted) throw err;
  }
}

async function closeWithin(served: Served, { log, closeMs: ownMs }: ServeOptions): Promise<number> {
  const closeMs = ownMs + IN_ORDER_MS;
  const limit = setTimeout(() => {
    log.error('Stopping takes too long', { closeMs });
    process.exit(1);
  }, closeMs);
  try {
    await served.close();
    log.info('Stopped');
    return 0;
  } catch (err) {
    log.error('Stopping failed', { err });
    return 1;
  } finally {
    clearTimeout(limit);
  }
}

/** Something that keeps the process alive after this is a fault, but no reason to stay. */
function endSoon(log: Log, code: number): number {
  setTimeout(() => {
    log.warn('Ending with something still open', { open: process.getActiveResourcesInfo() });
    process.exit(code);
  }, LINGER_MS).unref();
  return code;
}

/** The messages of an error and of what caused it, which often says the more useful thing. */
function messageOf(err: unknown): string {
  if (!(err instanceof Error)) return String(err);
  const { cause } = err;
  return cause instanceof Error && !err.message.includes(cause.message)
    ? `${err.message}: ${messageOf(cause)}`
    : err.message;
}
