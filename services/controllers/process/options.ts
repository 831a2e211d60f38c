import { LOG_FLAGS } from '../../machinery/log/flags.js';
import { FlagError, type FlagTable, type OptionsOf } from '../../machinery/flags/flags.js';

/** Flags of leader election, as all processes have them that take turns. */
export const ELECTION_FLAGS = {
  leaderElect: {
    flag: 'leader-elect',
    type: 'bool',
    default: 'true',
    help: 'of several processes one works; the next takes over when it ends or hangs',
  },
  leaderElectLeaseDurationMs: {
    flag: 'leader-elect-lease-duration',
    type: 'duration',
    default: '15s',
    min: '1s',
    help: 'how long others wait for a leader that is not heard of',
  },
  leaderElectRenewDeadlineMs: {
    flag: 'leader-elect-renew-deadline',
    type: 'duration',
    default: '10s',
    min: '500ms',
    help: 'how long a leader works that cannot renew its lease; below the lease duration',
  },
  leaderElectRetryPeriodMs: {
    flag: 'leader-elect-retry-period',
    type: 'duration',
    default: '2s',
    min: '100ms',
    help: 'time between two tries to take or renew the lease; 1.2 times it is below the renew deadline',
  },
  leaderElectResourceLock: {
    flag: 'leader-elect-resource-lock',
    type: 'string',
    default: 'leases',
    choices: ['leases'],
    help: 'the kind of object that elects',
  },
  leaderElectResourceName: {
    flag: 'leader-elect-resource-name',
    type: 'string',
    metavar: 'NAME',
    help: 'its name; by default that of the process',
  },
  leaderElectResourceNamespace: {
    flag: 'leader-elect-resource-namespace',
    type: 'string',
    metavar: 'NAME',
    help: 'its namespace; by default that of the system',
  },
} as const satisfies FlagTable;

/** Requests of each controller. A server guards itself by flow control; this bounds what a fault can do. */
export const RATE = { qps: 1_000, burst: 2_000 };

/** Flags of what controllers run as, wherever they run. */
export const RUNNING_FLAGS = {
  controllers: {
    flag: 'controllers',
    type: 'list',
    metavar: 'NAME,...',
    help: 'which run: * are all that do by default, NAME is one more, -NAME one less',
  },
  useServiceAccountCredentials: {
    flag: 'use-service-account-credentials',
    type: 'bool',
    default: 'false',
    help: 'each controller asks under a service account of its own, whose role is all that it needs',
  },
  apiQps: {
    flag: 'api-qps',
    type: 'int',
    default: String(RATE.qps),
    min: '1',
    help: 'requests a second of each controller, on average',
  },
  apiBurst: {
    flag: 'api-burst',
    type: 'int',
    default: String(RATE.burst),
    min: '1',
    help: 'requests at once of each controller',
  },
} as const satisfies FlagTable;

/** Flags of every process of controllers; each has those of its controllers besides. */
export const CONTROLLER_FLAGS = {
  ...RUNNING_FLAGS,
  ...ELECTION_FLAGS,
  kubeconfig: {
    flag: 'kubeconfig',
    type: 'string',
    metavar: 'FILE',
    help: 'client configuration: where the API server is, and who this process is',
  },
  vocabulary: {
    flag: 'vocabulary',
    type: 'string',
    default: 'platform',
    choices: ['platform', 'kubernetes'],
    help: 'words of names, as those of the server',
  },
  bindAddress: { flag: 'bind-address', type: 'string', default: '0.0.0.0', help: 'address for health and metrics' },
  securePort: {
    flag: 'secure-port',
    type: 'int',
    default: '10257',
    min: '0',
    max: '65535',
    help: 'port for health, readiness and metrics, TLS only; 0 for a free one',
  },
  tlsCertFile: {
    flag: 'tls-cert-file',
    type: 'string',
    metavar: 'FILE',
    help: 'certificate of that port; without it one is made at each start',
  },
  tlsKeyFile: { flag: 'tls-private-key-file', type: 'string', metavar: 'FILE', help: 'its private key' },
  ...LOG_FLAGS,
} as const satisfies FlagTable;

export type ElectionOptions = OptionsOf<typeof ELECTION_FLAGS>;
export type RunningOptions = OptionsOf<typeof RUNNING_FLAGS>;
export type ControllerOptions = OptionsOf<typeof CONTROLLER_FLAGS>;

/** Refuses times of which two leaders could follow. @throws {FlagError} */
export function checkElection(o: ElectionOptions): void {
  const { leaderElectLeaseDurationMs: lease, leaderElectRenewDeadlineMs: renew, leaderElectRetryPeriodMs: retry } = o;
  if (!o.leaderElect) return;
  if (renew >= lease) throw new FlagError('--leader-elect-renew-deadline must be below --leader-elect-lease-duration');
  if (retry * 1.2 >= renew) {
    throw new FlagError('--leader-elect-renew-deadline must be above 1.2 times --leader-elect-retry-period');
  }
}
