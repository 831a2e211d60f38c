import { setMaxListeners } from 'node:events';
import type { Log } from '../../machinery/log/log.js';
import { hasFired, rest } from '../../machinery/loop/repeat.js';
import { Contender } from '../clients/contender.js';
import { Pace } from '../clients/pace.js';
import { Names, openClient, type Scene } from '../clients/scene.js';
import { Watcher } from '../clients/watcher.js';
import { SELECTORS, Worker } from '../clients/worker.js';
import { runFaults } from '../faults/run-faults.js';
import type { Recorder } from '../history/recorder.js';
import type { Installation } from '../installation/installation.js';
import type { RunOptions } from '../options.js';
import { randomOf, type Random } from '../random/random.js';
import { openNamespaces, removeNamespaces } from './namespaces.js';
import { comeToRest } from './rest.js';

export interface RunDeps {
  readonly installation: Installation;
  readonly recorder: Recorder;
  readonly seed: number;
  /** What is broken meanwhile. */
  readonly faults: readonly string[];
  /** As they are told in the history. */
  readonly told: Readonly<Record<string, string>>;
  readonly log: Log;
}

const LEASES = ['a', 'b'];
/** Time in which what is under way ends by itself. */
const ENDING_MS = 60_000;

/** Clients work while things break; then everything comes to rest. The history is complete when it resolves. */
export async function run(o: RunOptions, d: RunDeps, signal: AbortSignal): Promise<void> {
  const { installation, recorder, seed, log } = d;
  const { vocabulary, servers } = installation;
  const client = openClient(d, 0);
  const about = { client, vocabulary, quota: o.quota, run: `${seed.toString(36)}-${Date.now().toString(36)}` };
  const namespaces = await openNamespaces(about, signal);
  const pace = new Pace(o.operations, o.rate);
  const scene: Scene = { installation, recorder, pace, namespaces, quota: o.quota, names: new Names(), log };
  const pools = Object.fromEntries(Object.entries(namespaces).map(([pool, ns]) => [ns, pool])) as never;
  const options = { ...d.told, servers: String(servers.length) };
  recorder.write({ t: 'run', version: 1, seed, options, pools, quota: o.quota });
  try {
    await work(o, scene, d, signal);
  } finally {
    await removeNamespaces(about, Object.values(namespaces), AbortSignal.timeout(ENDING_MS)).catch((err: unknown) =>
      log.warn('The namespaces of the run are left behind', { err }),
    );
    client.close();
  }
}

async function work(o: RunOptions, scene: Scene, { seed, faults: names }: RunDeps, signal: AbortSignal): Promise<void> {
  const random = randomOf(seed);
  const watchingEnds = new AbortController();
  const soon = new AbortController();
  setMaxListeners(0, watchingEnds.signal, soon.signal); // every client listens
  let failure: unknown;
  /** What fails ends the run, and is told of when everything has ended. */
  const guarded = (work: Promise<void>): Promise<void> =>
    work.catch((err: unknown) => {
      failure ??= err;
      soon.abort();
    });
  const watching = watchersOf(o, scene);
  const watches = watching.map(({ watcher }) => guarded(watcher.run(watchingEnds.signal)));
  const stop = (): void => soon.abort();
  const limit = setTimeout(stop, o.duration);
  signal.addEventListener('abort', stop);
  const faults = guarded(runFaults(o, { scene, names, random: random.fork() }, soon.signal));
  const contenders = contendersOf(o, scene, random).map((it) => guarded(it.run(soon.signal)));
  const workers = Array.from({ length: o.clients }, (_, i) => new Worker(scene, i, random.fork()));
  const progress = tellProgress(scene, soon.signal);
  try {
    await Promise.all(workers.map((it) => guarded(it.run(soon.signal))));
    soon.abort();
    await Promise.all([faults, ...contenders, progress]);
    if (failure === undefined) await comeToRest(scene, watching, AbortSignal.timeout(4 * ENDING_MS));
  } finally {
    clearTimeout(limit);
    signal.removeEventListener('abort', stop);
    watchingEnds.abort();
    await Promise.all(watches);
  }
  if (failure !== undefined) throw failure instanceof Error ? failure : new Error('The run failed');
}

const contendersOf = (o: RunOptions, scene: Scene, random: Random): Contender[] =>
  LEASES.flatMap((lease, l) =>
    Array.from({ length: o.contenders }, (_, i) => {
      const index = 20_000 + l * o.contenders + i;
      return new Contender(scene, index, { lease, random: random.fork() });
    }),
  );

/** Every second one sees everything; each pool has one of these. */
function watchersOf(o: RunOptions, scene: Scene): { watcher: Watcher; ns: string; selector: string }[] {
  const { main, quota, family, fence } = scene.namespaces;
  return Array.from({ length: o.watches }, (_, i) => {
    const selector = i % 2 === 0 ? '' : (SELECTORS[(i >> 1) % SELECTORS.length] ?? '');
    const ns = selector === '' ? ([main, quota, main, fence, family][(i >> 1) % 5] ?? main) : main;
    return { watcher: new Watcher(scene, 10_000 + i, { ns, selector }), ns, selector };
  });
}

const PROGRESS_MS = 10_000;

async function tellProgress({ pace, log }: Scene, signal: AbortSignal): Promise<void> {
  let last = 0;
  for (;;) {
    await rest(PROGRESS_MS, signal);
    if (hasFired(signal)) return;
    log.info('Operations so far', { operations: pace.begun, perSecond: ((pace.begun - last) * 1000) / PROGRESS_MS });
    last = pace.begun;
  }
}
