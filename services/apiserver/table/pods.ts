import { ageOf, conditionIsTrue, listOf, numberOf, recordOf, textOf, timeOf, type Clock, type Show } from './cell.js';

/** The containers of a pod, as its columns show them. */
interface PodState {
  readonly ready: number;
  readonly containers: number;
  readonly restarts: number;
  readonly lastRestartMs: number | undefined;
  readonly reason: string;
}

type Tree = Readonly<Record<string, unknown>>;
const treesOf = (value: unknown): readonly Tree[] => listOf(value).map(recordOf);
const given = (value: unknown): Tree | undefined =>
  value === undefined || value === null ? undefined : recordOf(value);

/** How a container ended, where it gives no reason. */
const endOf = (terminated: Tree): string => {
  const reason = textOf(terminated['reason']);
  if (reason !== '') return reason;
  const signal = numberOf(terminated['signal']);
  return signal === 0 ? `ExitCode:${numberOf(terminated['exitCode'])}` : `Signal:${signal}`;
};

/** The first init container that is not done says what the pod waits for; undefined when all are done. */
function initReason(statuses: readonly Tree[], total: number): string | undefined {
  for (const [i, status] of statuses.entries()) {
    const state = recordOf(status['state']);
    const terminated = given(state['terminated']);
    if (terminated !== undefined && numberOf(terminated['exitCode']) === 0) continue;
    if (terminated !== undefined) return `Init:${endOf(terminated)}`;
    const waiting = textOf(recordOf(state['waiting'])['reason']);
    return waiting === '' || waiting === 'PodInitializing' ? `Init:${i}/${total}` : `Init:${waiting}`;
  }
  return undefined;
}

function restartsOf(statuses: readonly Tree[]): Pick<PodState, 'restarts' | 'lastRestartMs'> {
  const ends = statuses
    .map((status) => timeOf(recordOf(recordOf(status['lastState'])['terminated'])['finishedAt']))
    .filter((ms) => ms !== undefined);
  return {
    restarts: statuses.reduce((sum, status) => sum + numberOf(status['restartCount']), 0),
    lastRestartMs: ends.length === 0 ? undefined : Math.max(...ends),
  };
}

const isRunning = (status: Tree): boolean =>
  status['ready'] === true && given(recordOf(status['state'])['running']) !== undefined;

/** Why a container does not run; undefined when it does, or when nothing is known of it. */
function stopReason(status: Tree): string | undefined {
  const state = recordOf(status['state']);
  const waiting = textOf(recordOf(state['waiting'])['reason']);
  if (waiting !== '') return waiting;
  const terminated = given(state['terminated']);
  return terminated === undefined ? undefined : endOf(terminated);
}

/** The first container that is stopped gives the pod its reason, but one that is done does not while others run. */
function mainReason(statuses: readonly Tree[], status: Tree, otherwise: string): string {
  const reason = statuses.map(stopReason).find((it) => it !== undefined) ?? otherwise;
  const hasRunning = statuses.some((it) => stopReason(it) === undefined && isRunning(it));
  if (reason !== 'Completed' || !hasRunning) return reason;
  return conditionIsTrue(status['conditions'], 'Ready') ? 'Running' : 'NotReady';
}

function stateOf(object: unknown): PodState {
  const pod = recordOf(object);
  const [spec, status] = [recordOf(pod['spec']), recordOf(pod['status'])];
  const inits = treesOf(status['initContainerStatuses']);
  const mains = treesOf(status['containerStatuses']);
  const base = textOf(status['reason']) || textOf(status['phase']);
  const initializing = initReason(inits, listOf(spec['initContainers']).length);
  const isGoing = given(recordOf(pod['metadata'])['deletionTimestamp']) !== undefined;
  const goingReason = status['reason'] === 'NodeLost' ? 'Unknown' : 'Terminating';
  return {
    ready: initializing === undefined ? mains.filter((it) => stopReason(it) === undefined && isRunning(it)).length : 0,
    containers: listOf(spec['containers']).length,
    ...restartsOf(initializing === undefined ? mains : inits),
    reason: isGoing ? goingReason : (initializing ?? mainReason(mains, status, base)),
  };
}

const restartedAgo = (restarts: number, lastMs: number): Clock => {
  const ago = ageOf(lastMs);
  return (nowMs) => `${restarts} (${ago(nowMs)} ago)`;
};

/** Functions for columns of pods. */
export const PODS = {
  podReady: ({ object }) => {
    const { ready, containers } = stateOf(object);
    return `${ready}/${containers}`;
  },
  podStatus: ({ object }) => stateOf(object).reason,
  podRestarts: ({ object }) => {
    const { restarts, lastRestartMs } = stateOf(object);
    return restarts === 0 || lastRestartMs === undefined ? String(restarts) : restartedAgo(restarts, lastRestartMs);
  },
  readinessGates: ({ object }) => {
    const { spec, status } = recordOf(object);
    const gates = treesOf(recordOf(spec)['readinessGates']);
    const { conditions } = recordOf(status);
    const holding = gates.filter((gate) => conditionIsTrue(conditions, textOf(gate['conditionType'])));
    return gates.length === 0 ? undefined : `${holding.length}/${gates.length}`;
  },
} as const satisfies Readonly<Record<string, Show>>;

/** Conditions of a whole row. */
export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

const ENDS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    Succeeded: 'All containers of the pod have ended well.',
    Failed: 'The pod has ended, and not all of its containers well.',
  }),
);

/** Clients may leave out pods that have come to their end. */
export function podCompleted(object: unknown): readonly RowCondition[] {
  const phase = textOf(recordOf(recordOf(object)['status'])['phase']);
  const message = ENDS.get(phase);
  return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason: phase, message }];
}
