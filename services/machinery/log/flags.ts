import type { FlagTable, OptionsOf } from '../flags/flags.js';

/** The flags of every process that logs. */
export const LOG_FLAGS = {
  logLevel: {
    flag: 'log-level',
    type: 'string',
    default: 'info',
    choices: ['debug', 'info', 'warn', 'error'],
    help: 'least severe entries to log',
  },
  logFormat: {
    flag: 'log-format',
    type: 'string',
    default: 'json',
    choices: ['json', 'text'],
    help: 'an entry of the log is an object of JSON, or a line for people',
  },
  loggingFormat: {
    flag: 'logging-format',
    type: 'string',
    default: '',
    choices: ['', 'json', 'text'],
    help: 'the same under its name in other servers; counts before --log-format',
  },
  verbosity: {
    flag: 'v',
    short: 'v',
    type: 'int',
    default: '0',
    min: '0',
    max: '10',
    help: 'more than --log-level lets through: from 3 on a line for each request, from 4 on entries for debugging',
  },
} as const satisfies FlagTable;

export type LogOptions = Partial<OptionsOf<typeof LOG_FLAGS>>;
