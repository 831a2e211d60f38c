import { hasFired, rest } from '../../machinery/loop/repeat.js';
import type { Scene } from '../clients/scene.js';
import type { RunOptions } from '../options.js';
import type { Random } from '../random/random.js';
import { commandFault } from './command.js';
import { FAULTS } from './fault-table.js';
import type { Fault } from './fault.js';
import { plan } from './plan.js';

export interface FaultScene {
  readonly scene: Scene;
  /** Which ones, by name. */
  readonly names: readonly string[];
  readonly random: Random;
}

/** Breaks one thing, or two, after the other until `signal` fires. All is whole again when it resolves. */
export async function runFaults(o: RunOptions, d: FaultScene, signal: AbortSignal): Promise<void> {
  if (d.names.length === 0) return;
  const { random } = d;
  for (const names of plan(d.names, o.pairs, random)) {
    await rest(o.faultPause * (0.5 + random.next()), signal);
    if (hasFired(signal)) return;
    await breakFor(o, d, names, signal);
  }
}

async function breakFor(o: RunOptions, d: FaultScene, names: readonly string[], signal: AbortSignal): Promise<void> {
  const { recorder, log } = d.scene;
  const faults = [...names].sort(processesFirst).map((name) => faultOf(o, d, name));
  const from = recorder.now();
  log.info('A fault begins', { fault: names.join('+') });
  try {
    await Promise.all(faults.map((it) => it.start()));
    await rest(o.faultDuration * (0.5 + d.random.next()), signal);
  } finally {
    for (const it of faults.reverse()) await it.stop();
    recorder.write({ t: 'fault', name: [...names].sort().join('+'), hits: hitBy(faults), from, to: recorder.now() });
    log.info('A fault is over', { fault: names.join('+') });
  }
}

/** They are whole again last: a server starts only where it reaches its store. */
const processesFirst = (a: string, b: string): number => Number(isOfProcess(b)) - Number(isOfProcess(a));
const isOfProcess = (name: string): boolean => FAULTS.get(name)?.group === 'process';

function faultOf(o: RunOptions, { scene, random }: FaultScene, name: string): Fault {
  const { parts } = scene.installation;
  if (parts === undefined) return commandFault(o.faultCommand, name);
  const kind = FAULTS.get(name);
  if (kind === undefined) throw new Error(`No fault has the name ${name}`);
  return kind.make(parts, random);
}

function hitBy(faults: readonly Fault[]): readonly number[] | 'all' {
  const hit = new Set<number>();
  for (const { hits } of faults) {
    if (hits === 'all') return 'all';
    for (const server of hits) hit.add(server);
  }
  return [...hit];
}
