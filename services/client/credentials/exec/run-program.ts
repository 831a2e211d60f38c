import type { ChildProcess, StdioOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { deadline, unlessAborted } from '../../deadline/deadline.js';
import { CredentialError } from '../credential.js';

const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Longest part of its stderr that is kept, from the end. */
const MAX_COMPLAINT = 1024;

export interface Program {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Whether it may talk to a person: it gets our standard input and error. */
  readonly isInteractive: boolean;
  readonly timeoutMs: number;
  /** Makes complaints fit to be shown. */
  readonly redact: (text: string) => string;
}

/**
 * Runs a program to its end.
 *
 * @returns What it printed on standard output, which is in no error.
 * @throws {CredentialError} When it cannot be started, fails, takes too long or prints too much; with what it complained
 * of, unless a person has read that already. @throws `signal.reason` if it fires first: then it is killed.
 */
export async function runProgram(p: Program, signal: AbortSignal): Promise<Buffer> {
  signal.throwIfAborted();
  const child = start(p);
  const late = (): Error => new CredentialError(`did not end within ${p.timeoutMs} ms`);
  const limit = deadline(p.timeoutMs, signal, late);
  try {
    return await unlessAborted(endOf(child, p), limit.signal);
  } finally {
    limit.end();
    kill(child, p);
  }
}

function endOf(child: ChildProcess, p: Program): Promise<Buffer> {
  const complaint = complaintOf(child, p);
  return new Promise((resolve, reject) => {
    const output = outputOf(child, reject);
    child.on('error', (err) => reject(notStarted(err)));
    child.on('close', (code, killer) => {
      if (code === 0) {
        resolve(output());
        return;
      }
      const how = killer === null ? `exited with ${code ?? ''}` : `was ended by ${killer}`;
      reject(new CredentialError(`${how}${complaint()}`));
    });
  });
}

function start(p: Program): ChildProcess {
  const stdio: StdioOptions = p.isInteractive ? ['inherit', 'pipe', 'inherit'] : ['ignore', 'pipe', 'pipe'];
  try {
    // A group of its own can be ended with all that it has started; but it could not read from the terminal.
    return spawn(p.path, p.args, { env: p.env, stdio, detached: !p.isInteractive });
  } catch (err) {
    throw notStarted(err);
  }
}

/** The runtime's own message quotes arguments and variables. */
const notStarted = (err: unknown): CredentialError => {
  const code = err instanceof Error && 'code' in err ? String(err.code) : 'unknown';
  return new CredentialError(`cannot be run (${code})`);
};

function outputOf(child: ChildProcess, fail: (err: Error) => void): () => Buffer {
  const pieces: Buffer[] = [];
  let length = 0;
  child.stdout?.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length > MAX_OUTPUT_BYTES) fail(new CredentialError(`printed more than ${MAX_OUTPUT_BYTES} bytes`));
    else pieces.push(piece);
  });
  return () => Buffer.concat(pieces);
}

function complaintOf(child: ChildProcess, p: Program): () => string {
  let text = '';
  child.stderr?.on('data', (piece: Buffer) => (text = (text + piece.toString('utf8')).slice(-2 * MAX_COMPLAINT)));
  return () => {
    const line = p.redact(oneLine(text)).slice(-MAX_COMPLAINT);
    return line === '' ? '' : `: ${line}`;
  };
}

/** Text of others, fit for one line of ours. */
export const oneLine = (text: string): string => text.replace(/[\s\p{C}]+/gu, ' ').trim();

/** With whatever it has started and that still holds its output. */
function kill(child: ChildProcess, { isInteractive }: Program): void {
  const isGone = child.exitCode !== null && child.stdout?.closed === true;
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (isGone || child.pid === undefined) return;
  try {
    if (isInteractive) child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}
