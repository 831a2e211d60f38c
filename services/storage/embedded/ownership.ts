import { closeSync, openSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { StoreError } from '../store.js';

/** `owner.<boot>.<pid>.<start of the process>`: names a process that has been, and will be, only once. */
const OWNER_FILE = /^owner\.([0-9a-z]+)\.([0-9]+)\.([0-9]+)$/;

/** A directory that this process owns until `release()`. */
export interface Ownership {
  release(): void;
}

/** Directories this very process has open: its own file says nothing about them. */
const held = new Set<string>();

/**
 * Takes `directory`, which exists, for this process. Node has no file locks, so a file is named after its owner, and
 * the next process looks whether that process still lives: a file of a process that was killed is ignored. Each writes
 * its own file first and looks at the others after, so of two that come at once at least one sees the other (both may
 * step back); removing a dead one's file can never remove a living one's.
 * @throws {StoreError} unavailable: a living process owns it
 */
export function own(directory: string): Ownership {
  const real = realpathSync(directory);
  if (held.has(real)) throw refused(directory, process.pid);
  const mine = `owner.${bootId()}.${process.pid}.${startOf(process.pid) ?? '0'}`;
  const path = join(directory, mine);
  closeSync(openSync(path, 'w', 0o600));
  try {
    for (const name of readdirSync(directory)) {
      const other = name === mine ? null : OWNER_FILE.exec(name);
      if (other === null) continue;
      const [, boot = '', pid = '', start = ''] = other;
      if (lives(boot, Number(pid), start)) throw refused(directory, Number(pid));
      rmSync(join(directory, name), { force: true });
    }
  } catch (err) {
    rmSync(path, { force: true });
    throw err;
  }
  held.add(real);
  return {
    release: () => {
      rmSync(path, { force: true });
      held.delete(real);
    },
  };
}

const refused = (directory: string, pid: number): StoreError =>
  new StoreError('unavailable', `Cannot open the store in ${directory}: process ${pid} has it open`);

function lives(boot: string, pid: number, start: string): boolean {
  if (boot !== bootId()) return false;
  const started = startOf(pid);
  if (started !== undefined) return started === start;
  return start === '0' && answers(pid);
}

/** In clock ticks since boot; undefined when there is no such process, or no /proc to ask. */
function startOf(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The name of the program comes second, in brackets, and may hold anything; after it the state and 18 more fields.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const dead = fields?.[0] === 'Z' || fields?.[0] === 'X'; // killed, and its parent has not asked yet
  return dead ? undefined : fields?.[19];
}

function bootId(): string {
  return read('/proc/sys/kernel/random/boot_id')?.replaceAll('-', '').slice(0, 16) ?? 'unknown';
}

/** Where there is no /proc. */
function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (err) {
    return err instanceof Error && 'code' in err && err.code === 'EPERM';
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined; // not there: what the callers ask
  }
}
