import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Fault } from './fault.js';

const COMMAND_MS = 300_000;
const exec = promisify(execFile);

/**
 * A fault of somebody's own installation, which his command knows how to begin and to end. That a server is well meanwhile is
 * his business, too.
 */
export function commandFault(command: string, name: string): Fault {
  const call = async (what: 'start' | 'stop'): Promise<void> => {
    await exec('/bin/sh', ['-c', `${command} "$0" "$1"`, what, name], { timeout: COMMAND_MS });
  };
  return { hits: [], start: () => call('start'), stop: () => call('stop') };
}
