import { pino, type DestinationStream, type Logger } from 'pino';
import type { LogOptions } from './flags.js';
import { redacted, redactedText } from './redact.js';
import { lineOf } from './text.js';

/** Where the processes tell what an operator should know: one entry a line, on stderr. Secrets do not get there. */
export interface Log {
  debug(message: string, keys?: object): void;
  info(message: string, keys?: object): void;
  warn(message: string, keys?: object): void;
  error(message: string, keys?: object): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** How much more is told than the least severity lets through. It changes while the process runs. */
export interface Verbosity {
  level: number;
}

export interface ProcessLog extends Log {
  readonly verbosity: Verbosity;
}

/** From here on there is a line for each request. */
export const REQUESTS = 3;
/** From here on there is all. */
const DEBUG = 4;

/** Messages are constant; what varies goes into keys. `err` is an Error. */
export function createLog(o: LogOptions, to: DestinationStream = pino.destination(2)): ProcessLog {
  const least = o.logLevel ?? 'info';
  const isText = (o.loggingFormat || o.logFormat) === 'text';
  const destination = isText ? { write: (line: string) => to.write(lineOf(line)) } : to;
  const options = { level: least, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const logger: Logger = pino({ ...options, formatters: { log: clean } }, destination);
  const at =
    (name: LogLevel) =>
    (message: string, keys: object = {}): void => {
      if (logger.isLevelEnabled(name)) logger[name](keys, redactedText(message));
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    verbosity: verbosityOf(logger, o),
  };
}

const clean = (keys: object): Record<string, unknown> => redacted(keys) as Record<string, unknown>; // one of the same members

function verbosityOf(logger: Logger, { logLevel: least = 'info', verbosity = 0 }: LogOptions): Verbosity {
  let level = 0;
  const own = {
    get level() {
      return level;
    },
    set level(next: number) {
      level = next;
      const asked = next >= DEBUG ? 'debug' : next >= REQUESTS ? 'info' : least;
      const isLess = (pino.levels.values[asked] ?? 0) < (pino.levels.values[least] ?? 0);
      logger.level = isLess ? asked : least;
    },
  };
  own.level = verbosity;
  return own;
}
