import { hasFired, repeat, rest } from '../../machinery/loop/repeat.js';
import type { ApiClient } from '../../client/rest/client.js';
import { lead } from '../../client/election/leader-election.js';
import type { Log } from '../../machinery/log/log.js';
import type { ElectionOptions } from '../process/options.js';
import { aborted } from './work.js';
import { runControllers, type RunOptions } from './run-controllers.js';

export interface ManagerOptions extends Omit<RunOptions, 'isHeld' | 'onSynced'> {
  /** Name of the process: of its lease, where options give none. */
  readonly name: string;
  readonly election: ElectionOptions;
}

/** Longest that reconciles under way may take to finish. */
const FINISH_MS = 10_000;
const UNANSWERED = 'the API server has not answered yet';
const QPS = { qps: 20, burst: 20 };

/** A set of controllers as one process runs them, while it is the leader. */
export class Manager {
  readonly #o: ManagerOptions;
  #why: string | undefined = UNANSWERED;

  constructor(o: ManagerOptions) {
    this.#o = o;
  }

  /** undefined: ready, which one that waits for its turn is, too. */
  get unready(): string | undefined {
    return this.#why;
  }

  /**
   * Waits for the server and for leadership, and runs the controllers until `stop` fires.
   *
   * @returns `lost` when leadership was lost. @throws {Error} when a controller cannot go on
   */
  async run(stop: AbortSignal): Promise<'stopped' | 'lost'> {
    const { identity, election, log, name, metrics } = this.#o;
    const client = identity.client({ part: 'leader-election', ...QPS });
    try {
      this.#why = UNANSWERED;
      await serverAnswers(client, log, stop);
      if (hasFired(stop)) return 'stopped';
      this.#why = undefined;
      if (!election.leaderElect) {
        await this.#work({ stop, lost: new AbortController().signal, isHeld: () => true });
        return 'stopped';
      }
      const lease = leaseOf(election, name, identity.vocabulary.namespaces.system);
      metrics.leading(lease.name, false);
      return await lead(
        {
          client,
          vocabulary: identity.vocabulary,
          lease,
          leaseDurationMs: election.leaderElectLeaseDurationMs,
          renewDeadlineMs: election.leaderElectRenewDeadlineMs,
          retryPeriodMs: election.leaderElectRetryPeriodMs,
          log,
          changed: (isLeader) => metrics.leading(lease.name, isLeader),
        },
        ({ signal, lost, isHeld }) => this.#work({ stop: signal, lost, isHeld }),
        stop,
      );
    } finally {
      client.close();
    }
  }

  async #work({ stop, lost, isHeld }: { stop: AbortSignal; lost: AbortSignal; isHeld: () => boolean }): Promise<void> {
    this.#why = 'informers are not filled yet';
    const [late, over] = [new AbortController(), new AbortController()];
    const halt = AbortSignal.any([lost, late.signal]);
    const limit = aborted(AbortSignal.any([stop, over.signal]))
      .then(() => rest(FINISH_MS, over.signal))
      .then(() => late.abort(new Error('Stopping takes too long')));
    try {
      await runControllers({ ...this.#o, isHeld, onSynced: () => (this.#why = undefined) }, { stop, halt });
    } finally {
      over.abort();
      await limit;
    }
  }
}

const leaseOf = (o: ElectionOptions, name: string, system: string): { namespace: string; name: string } => ({
  namespace: o.leaderElectResourceNamespace === '' ? system : o.leaderElectResourceNamespace,
  name: o.leaderElectResourceName === '' ? name : o.leaderElectResourceName,
});

/** Resolves when the server knows who this is, or `stop` fires. */
async function serverAnswers(client: ApiClient, log: Log, stop: AbortSignal): Promise<void> {
  let told = '';
  const round = async (signal: AbortSignal): Promise<'finished'> => {
    const { status } = await client.raw({ method: 'GET', path: '/api' }, signal);
    if (status >= 500 || status === 401) throw new Error(`The API server answered with the status ${status}`);
    return 'finished';
  };
  const onFailure = (err: unknown): void => {
    if (String(err) !== told) log.warn('The API server cannot be asked yet', { err });
    told = String(err);
  };
  await repeat({ round, onFailure, retry: { leastMs: 200, mostMs: 5_000 } }, stop);
}
