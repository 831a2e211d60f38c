import { setMaxListeners } from 'node:events';
import { commandLine, tell, type ProcessDeps } from '../machinery/process/command-line.js';
import type { Command } from './command.js';
import { COMMANDS } from './commands.js';

const WRONG_USAGE = 2;
const FAILED = 1;

/** The tool of whoever runs a platform. @returns The exit code. */
export async function main(argv: readonly string[], d: ProcessDeps): Promise<number> {
  const found = COMMANDS.filter(({ name }) => startsWith(argv, name)).sort((a, b) => b.name.length - a.name.length)[0];
  if (found === undefined) return overview(argv, d);
  const rest = argv.slice(wordsOf(found.name).length);
  const flagsAt = rest.findIndex((word) => word.startsWith('-') && word !== '-');
  const operands = flagsAt < 0 ? rest : rest.slice(0, flagsAt);
  const program = [d.program, found.name, ...found.operands].join(' ');
  const parsed = commandLine({ ...d, program }, found.flags, flagsAt < 0 ? [] : rest.slice(flagsAt), () => []);
  if ('exitCode' in parsed) return parsed.exitCode;
  if (operands.length !== found.operands.length) {
    tell(`Usage: ${program} [flags]`);
    return WRONG_USAGE;
  }
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const call = { ...parsed, operands, version: d.version, print, report: tell };
  return run(`${d.program} ${found.name}`, found, call);
}

const wordsOf = (name: string): string[] => name.split(' ');

const startsWith = (argv: readonly string[], name: string): boolean =>
  wordsOf(name).every((word, i) => argv[i] === word);

function overview(argv: readonly string[], { program, version }: ProcessDeps): number {
  if (argv.includes('--version')) {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const asked = argv.length === 0 || ['--help', '-h', 'help'].includes(argv[0] ?? '');
  const calls = COMMANDS.map(({ name, operands, help }) => ({ call: [name, ...operands].join(' '), help }));
  const width = Math.max(...calls.map(({ call }) => call.length));
  const lines = calls.map(({ call, help }) => `  ${call.padEnd(width)}  ${help}\n`);
  const usage = `Usage: ${program} COMMAND [flags]\n\n${lines.join('')}\n${program} COMMAND --help tells the flags of a command.\n`;
  if (asked && argv.length > 0) process.stdout.write(usage);
  else process.stderr.write(usage);
  return asked && argv.length > 0 ? 0 : WRONG_USAGE;
}

async function run(program: string, found: Command, call: Parameters<Command['run']>[0]): Promise<number> {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // every call under way listens to it
  const onSignal = (name: NodeJS.Signals): void => stop.abort(new Error(`Stopped by ${name}`));
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, onSignal);
  try {
    await found.run(call, stop.signal);
    return 0;
  } catch (err) {
    tell(`${program}: ${err instanceof Error ? err.message : String(err)}`);
    return FAILED;
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, onSignal);
  }
}
