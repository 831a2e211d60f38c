import { Registry } from 'prom-client';
import { fixed } from '../client/credentials/fixed.js';
import type { Connection } from '../client/kubeconfig/connection.js';
import { GROUPS } from '../controller-manager/groups.js';
import { identityOf } from '../controllers/identity/identity.js';
import { chosen } from '../controllers/process/choose.js';
import { ELECTION_FLAGS, RATE } from '../controllers/process/options.js';
import { Manager } from '../controllers/running/manager.js';
import { controllerMetrics } from '../controllers/running/metrics.js';
import type { ControllerEntry } from '../controllers/controller.js';
import { parseFlags } from '../machinery/flags/flags.js';
import type { Log } from '../machinery/log/log.js';
import { repeat } from '../machinery/loop/repeat.js';
import type { Vocabulary } from '../machinery/vocabulary/vocabulary.js';
import type { UpOptions } from './options.js';

export interface UpControllers {
  /** With the files that were made in place of those that no flag names. */
  readonly options: UpOptions;
  readonly vocabulary: Vocabulary;
  readonly version: string;
  readonly log: Log;
  /** Of the server in this process. */
  readonly url: string;
  /** PEM of what the server is verified by, of the certificate of its controllers, and of their key. */
  readonly authorities: string;
  readonly cert: string;
  readonly key: string;
  /** Whether the server's certificate was brought along: nothing is known of its names. */
  readonly isStrange: boolean;
  /** Shows metrics on the page of the server. */
  readonly includeMetrics: (metrics: Pick<Registry, 'metrics'>) => void;
}

/** The controllers that the flag means. @throws {FlagError} */
export const controllersOf = ({ controllers }: Pick<UpOptions, 'controllers'>): readonly ControllerEntry[] =>
  chosen<ControllerEntry>(controllers, GROUPS.flatMap(({ controllers: all }): readonly ControllerEntry[] => all)); // prettier-ignore

/**
 * Runs controllers beside the server of this process, over a connection to it, until `stop` fires. What they cannot go on
 * after ends them, not the server: they begin again after a pause. Never throws.
 */
export async function runBeside(u: UpControllers, stop: AbortSignal): Promise<void> {
  const { options, vocabulary, log } = u;
  const entries = controllersOf(options);
  if (entries.length === 0) return;
  const name = vocabulary.controllerManagerName;
  const registry = new Registry();
  u.includeMetrics(registry);
  const metrics = controllerMetrics(registry);
  const { requests } = metrics;
  const identity = identityOf({ connection: connectionTo(u), vocabulary, userAgent: `${name}/${u.version}`, requests });
  const manager = new Manager({
    name,
    identity,
    entries,
    options,
    // A store of its own has no second process.
    election: { ...parseFlags(ELECTION_FLAGS, []).options, leaderElect: options.etcdServers.length > 0 },
    useServiceAccountCredentials: options.authorizationMode.includes('RBAC'),
    ...RATE,
    metrics,
    log,
  });
  const round = async (signal: AbortSignal): Promise<number | 'finished'> =>
    (await manager.run(signal)) === 'lost' ? 0 : 'finished';
  await repeat({ round, onFailure: (err) => log.error('Controllers ended, and begin again', { err }) }, stop);
  identity.close();
}

/** It does not leave the machine, and ends at a port that this process holds: so it may be a strange certificate. */
function connectionTo({ url, authorities, cert, key, isStrange }: UpControllers): Connection {
  return {
    server: new URL(url),
    tls: { authorities, serverName: undefined, insecure: isStrange },
    credentials: fixed({ headers: {}, cert, key }),
    impersonation: {},
    namespace: '',
  };
}
