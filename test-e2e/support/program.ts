import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The executable, in the checkout that this compiled file belongs to. */
export const PROGRAM = findProgram('bin/platform');
/** The tool of whoever runs it. */
const TOOL = findProgram('bin/platformctl');

function findProgram(name: string): string {
  for (let dir = dirname(fileURLToPath(import.meta.url)); dir !== dirname(dir); dir = dirname(dir)) {
    const path = join(dir, name);
    if (existsSync(path)) return path;
  }
  throw new Error(`Cannot find ${name} above this file`);
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

type OutputName = 'stdout' | 'stderr';

/** A process of the program under test, killed at the latest when the test process ends. */
export interface Program {
  readonly pid: number;
  /** All it has written so far. */
  stdout(): string;
  stderr(): string;
  /** The first line that `pattern` matches. Rejects when the process ends, or after `timeoutMs`. @param of Default stdout. */
  line(pattern: RegExp, timeoutMs: number, of?: OutputName): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<Exit>;
}

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts the program with these arguments. `env` is added to the environment of the test. */
export const startProgram = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Program =>
  start(PROGRAM, args, env);

/** Starts the tool with these arguments. */
export const startTool = (args: readonly string[]): Program => start(TOOL, args, {});

function start(path: string, args: readonly string[], env: NodeJS.ProcessEnv): Program {
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_V8_COVERAGE: '', ...env },
  });
  children.add(child);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  }
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      children.delete(child);
      resolve({ code, signal });
    });
  });
  return {
    pid: child.pid ?? 0,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    kill: (signal) => void child.kill(signal),
    exited,
    line: (pattern, timeoutMs, of = 'stdout') => lineOf(child, exited, output, { pattern, timeoutMs, of }),
  };
}

function lineOf(
  child: ChildProcess,
  exited: Promise<Exit>,
  output: Readonly<Record<OutputName, string>>,
  { pattern, timeoutMs, of }: { readonly pattern: RegExp; readonly timeoutMs: number; readonly of: OutputName },
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(limit);
      reject(new Error(`No line like ${String(pattern)}: ${why}\n${output.stdout}${output.stderr}`));
    };
    const limit = setTimeout(() => fail(`not within ${timeoutMs} ms`), timeoutMs);
    const look = (): void => {
      const lines = output[of].split('\n').slice(0, -1); // the last one is not complete
      const found = lines.map((line) => pattern.exec(line)).find((match) => match !== null);
      if (found === undefined) return;
      clearTimeout(limit);
      child[of]?.off('data', look);
      resolve(found);
    };
    child[of]?.on('data', look);
    exited.then(({ code, signal }) => fail(`the process ended with ${signal ?? String(code)}`), reject);
    look();
  });
}

/** Runs the program to its end. */
export async function runProgram(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Exit & { readonly stdout: string; readonly stderr: string }> {
  return ended(startProgram(args, env));
}

/** Runs the tool to its end. */
export const runTool = (args: readonly string[]): ReturnType<typeof ended> => ended(startTool(args));

async function ended(program: Program): Promise<Exit & { readonly stdout: string; readonly stderr: string }> {
  const exit = await program.exited;
  return { ...exit, stdout: program.stdout(), stderr: program.stderr() };
}
