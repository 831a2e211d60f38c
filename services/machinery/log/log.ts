import { pino, type Logger } from 'pino';

/** Where the processes tell what an operator should know: one JSON object a line, on stderr. */
export interface Log {
  debug(message: string, keys?: object): void;
  info(message: string, keys?: object): void;
  warn(message: string, keys?: object): void;
  error(message: string, keys?: object): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Messages are constant; what varies goes into keys. `err` is an Error. */
export function createLog(level: LogLevel): Log {
  const logger: Logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2));
  const at =
    (name: LogLevel) =>
    (message: string, keys: object = {}): void =>
      logger[name](keys, message);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
