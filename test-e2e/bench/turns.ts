import type { Target } from './connection.js';
import { closedLoop } from './load.js';
import { cpuMicros } from './processes.js';
import { CONNECTIONS, type Costed } from './scenarios.js';

/** What is compared is measured by turns, so that what the machine does besides hits all of it. */
const TURNS = 6;

/** Requests in a closed loop, and what they cost the processes that answer them. */
export interface Asked {
  /** Connections are shared out among them. */
  readonly targets: readonly Target[];
  readonly pids: readonly number[];
  readonly next: (n: number) => Buffer;
  readonly expect: number;
}

export async function costed({ targets, pids, next, expect }: Asked, durationMs: number): Promise<Costed> {
  const used = (): number => pids.reduce((sum, pid) => sum + cpuMicros(pid), 0);
  const before = used();
  const measured = await closedLoop({ targets, connections: CONNECTIONS, durationMs, next, expect });
  return { ...measured, cpuMicros: (used() - before) / measured.count };
}

/** @returns For each of what is asked the turn in the middle; a first one is for warmth. */
export async function byTurns(asked: readonly Asked[], seconds: number): Promise<Costed[]> {
  const parts: Costed[][] = asked.map(() => []);
  for (let turn = 0; turn <= TURNS; turn++) {
    for (const [i, it] of asked.entries()) {
      const part = await costed(it, (seconds / TURNS) * 1_000);
      if (turn > 0) parts[i]?.push(part);
    }
  }
  return parts.map(middle);
}

function middle(parts: readonly Costed[]): Costed {
  const found = [...parts].sort((a, b) => a.perSecond - b.perSecond)[Math.floor(parts.length / 2)];
  if (found === undefined) throw new Error('Nothing was measured');
  return found;
}
