import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A child whose first line on stdout says that it can be used. */
export interface Started {
  readonly pid: number;
  readonly line: string;
  readonly startedInMs: number;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export async function start(command: string, args: readonly string[]): Promise<Started> {
  const from = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, 'line'), exited.then(() => undefined)]);
  if (first === undefined) throw new Error(`${command} ${args.join(' ')} ended before it was ready`);
  const startedInMs = performance.now() - from;
  return {
    pid: child.pid ?? 0,
    line: String(first[0]),
    startedInMs,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
      running.delete(child);
    },
  };
}

/** Resident memory of a process in bytes, but for pages of the embedded store's file: the system takes them back at will. */
export function residentBytes(pid: number): number {
  const all = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  const maps = readFileSync(`/proc/${pid}/smaps`, 'utf8').matchAll(/\.mdb\n(?:[A-Z]\w+:.*\n)*?Rss:\s+(\d+)/g);
  const mapped = [...maps].reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0);
  return (all - mapped) * 1024;
}

const TICKS_PER_SECOND = 100;

/** Processor time that a process has used, in microseconds. */
export function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1e6;
}
