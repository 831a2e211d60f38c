import type { FlagTable, OptionsOf } from '../machinery/flags/flags.js';

/** What a run does. */
export const RUN_FLAGS = {
  operations: { flag: 'operations', type: 'int', default: '2000', min: '1', help: 'operations of clients in all' },
  duration: { flag: 'duration', type: 'duration', default: '1h', min: '1s', help: 'longest time that clients work' },
  seed: { flag: 'seed', type: 'int', help: 'which random numbers; 0 takes some, and the report tells which' },
  clients: { flag: 'clients', type: 'int', default: '12', min: '1', max: '1000', help: 'clients, each with one request at a time' }, // prettier-ignore
  rate: { flag: 'rate', type: 'int', min: '0', help: 'operations a second; 0: as many as are answered' },
  watches: {
    flag: 'watches',
    type: 'int',
    default: '6',
    min: '0',
    max: '1000',
    help: 'watches, half of them by label',
  },
  contenders: { flag: 'contenders', type: 'int', default: '3', min: '0', max: '100', help: 'who compete for each of two leases' }, // prettier-ignore
  quota: { flag: 'quota', type: 'int', default: '8', min: '1', help: 'objects that the quota of one namespace allows' },
  faults: { flag: 'faults', type: 'list', metavar: 'NAME,...', help: 'what is broken, one after the other; all: each that the installation can have' }, // prettier-ignore
  pairs: { flag: 'pairs', type: 'bool', help: 'break two things at a time' },
  faultDuration: { flag: 'fault-duration', type: 'duration', default: '4s', min: '100ms', help: 'how long a fault lasts' }, // prettier-ignore
  faultPause: { flag: 'fault-pause', type: 'duration', default: '3s', min: '0s', help: 'time between two faults' },
  faultCommand: { flag: 'fault-command', type: 'string', metavar: 'COMMAND', help: 'run by a shell with "start NAME" and "stop NAME", to break an installation that was not started here' }, // prettier-ignore
  outage: { flag: 'outage', type: 'duration', help: 'longest that a client may go without an answer while a server is well; 0s: no request may fail. Not looked at where it is absent' }, // prettier-ignore
  kubeconfig: { flag: 'kubeconfig', type: 'list', metavar: 'FILE,...', help: 'client configuration of an installation that runs: one for all its servers, or one for each' }, // prettier-ignore
  servers: { flag: 'servers', type: 'list', metavar: 'URL,...', help: 'addresses of its servers, in place of that in --kubeconfig' }, // prettier-ignore
  vocabulary: { flag: 'vocabulary', type: 'string', default: 'platform', choices: ['platform', 'kubernetes'], help: 'words of the installation' }, // prettier-ignore
  replicas: { flag: 'replicas', type: 'int', default: '3', min: '1', max: '9', help: 'servers to start, where none are given' }, // prettier-ignore
  members: { flag: 'members', type: 'int', default: '1', choices: ['1', '3'], help: 'members of the etcd to start' },
  etcd: { flag: 'etcd', type: 'string', metavar: 'FILE', help: 'the etcd to start; else that of .cache or on PATH' },
  etcdArgs: { flag: 'etcd-args', type: 'list', metavar: 'ARG,...', help: 'more arguments for it, e.g. --unsafe-no-fsync' }, // prettier-ignore
  serverArgs: { flag: 'server-args', type: 'list', metavar: 'ARG,...', help: 'more arguments for the servers to start' }, // prettier-ignore
  out: { flag: 'out', type: 'string', metavar: 'DIR', help: 'directory of the history, the reports and the logs; else a new one in the system’s directory for temporary files' }, // prettier-ignore
  logLevel: { flag: 'log-level', type: 'string', default: 'info', choices: ['debug', 'info', 'warn', 'error'], help: 'least severe entries to log' }, // prettier-ignore
} as const satisfies FlagTable;

export type RunOptions = OptionsOf<typeof RUN_FLAGS>;

/** What `validate` does with a history. */
export const VALIDATE_FLAGS = {
  outage: RUN_FLAGS.outage,
  out: { ...RUN_FLAGS.out, help: 'directory of the reports; else that of the history' },
} as const satisfies FlagTable;
