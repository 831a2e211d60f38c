import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FlagError, type ParsedFlags } from '../machinery/flags/flags.js';
import { createLog } from '../machinery/log/log.js';
import { commandLine, tell, usage, type ProcessDeps } from '../machinery/process/command-line.js';
import { watchForEnd } from '../machinery/process/ending.js';
import { vocabulary as vocabularyOf, type VocabularyName } from '../machinery/vocabulary/vocabulary.js';
import { SHORT_HISTORY, SMALL_QUOTA } from './faults/etcd.js';
import { faultsFor } from './faults/fault-table.js';
import { Recorder } from './history/recorder.js';
import { findEtcd } from './installation/find-etcd.js';
import { openGiven } from './installation/given.js';
import type { Installation } from './installation/installation.js';
import { openOwn } from './installation/own.js';
import { RUN_FLAGS, VALIDATE_FLAGS, type RunOptions } from './options.js';
import { violationsIn, type Summary } from './report/summary.js';
import { textReport } from './report/text.js';
import { writeReports } from './report/write.js';
import { run } from './run/run.js';

const VIOLATED = 1;
const WRONG = 2;

/** Breaks an installation and looks whether it keeps its promises. @returns 0, or 1 when it does not. */
export async function main(argv: readonly string[], d: ProcessDeps): Promise<number> {
  if (argv[0] === 'validate') return validateCommand(argv.slice(1), d);
  const parsed = commandLine(d, RUN_FLAGS, argv, check);
  if ('exitCode' in parsed) return parsed.exitCode;
  let code = VIOLATED;
  const ended = await usage(d, async () => {
    code = await runCommand(parsed);
  });
  return ended?.exitCode ?? code;
}

function check({ options: o }: ParsedFlags<typeof RUN_FLAGS>): readonly string[] {
  const isGiven = o.kubeconfig.length > 0;
  if (o.servers.length > 0 && !isGiven) throw new FlagError('--servers needs --kubeconfig');
  if (o.faultCommand !== '' && !isGiven) throw new FlagError('--fault-command needs --kubeconfig');
  if (isGiven && o.faults.length > 0 && o.faultCommand === '') {
    throw new FlagError('--faults needs --fault-command where the installation is given by --kubeconfig');
  }
  const strange = isGiven ? undefined : faultsOf(o).find((name) => !faultsFor(o.members).includes(name));
  if (strange === undefined) return [];
  throw new FlagError(
    `Cannot parse --faults: ${JSON.stringify(strange)} is none of ${faultsFor(o.members).join(', ')}`,
  );
}

/** By name; `all` stands for all that an installation of this size can have. */
const faultsOf = ({ faults, members }: RunOptions): readonly string[] =>
  faults.flatMap((name) => (name === 'all' ? faultsFor(members) : [name]));

async function runCommand({ options: o, given }: ParsedFlags<typeof RUN_FLAGS>): Promise<number> {
  const log = createLog(o);
  const { stop } = watchForEnd(log);
  const directory = o.out === '' ? mkdtempSync(join(tmpdir(), 'robustness-')) : o.out;
  mkdirSync(directory, { recursive: true });
  const seed = o.seed === 0 ? Math.floor(Math.random() * 2 ** 31) + 1 : o.seed;
  const installation = await open(o, directory, log);
  const recorder = new Recorder(join(directory, 'history.jsonl'));
  try {
    log.info('The run begins', { seed, directory });
    const faults = faultsOf(o);
    await run(o, { installation, recorder, seed, faults, told: toldOf(o, given), log }, stop);
  } finally {
    await recorder.close();
    await installation.close();
  }
  const limits = { outageMs: given.has('outage') ? o.outage : undefined };
  return tellOf(await writeReports(recorder.path, directory, limits), directory);
}

function open(
  o: RunOptions,
  directory: string,
  log: ReturnType<typeof createLog>,
): Promise<Installation> | Installation {
  const vocabulary = vocabularyOf(o.vocabulary as VocabularyName); // one of the flag's choices
  if (o.kubeconfig.length > 0) {
    return openGiven({ vocabulary, kubeconfigs: o.kubeconfig, servers: o.servers, log });
  }
  const { members, replicas: servers } = o;
  const small = faultsOf(o).includes('full-disk');
  const etcdArgs = [...(small ? [SMALL_QUOTA] : []), ...o.etcdArgs];
  const serverArgs = [...(small ? [SHORT_HISTORY] : []), ...o.serverArgs];
  return openOwn({ vocabulary, servers, members, etcd: findEtcd(o.etcd), etcdArgs, serverArgs, directory });
}

/** What a run can be had again with. */
function toldOf(o: RunOptions, given: ReadonlySet<keyof RunOptions>): Record<string, string> {
  const hidden: readonly (keyof RunOptions)[] = [
    'seed',
    'out',
    'kubeconfig',
    'etcd',
    'logLevel',
    'faultCommand',
    'servers',
  ];
  const names = [...given].filter((name) => !hidden.includes(name));
  return Object.fromEntries(names.map((name) => [RUN_FLAGS[name].flag, String(o[name])]));
}

async function validateCommand([path = '', ...argv]: readonly string[], d: ProcessDeps): Promise<number> {
  const parsed = commandLine(d, VALIDATE_FLAGS, path.startsWith('--') ? [path, ...argv] : argv, () => []);
  if ('exitCode' in parsed) return parsed.exitCode;
  const { options: o, given } = parsed;
  if (path === '' || path.startsWith('--')) {
    tell(`${d.program}: validate needs the file of a history`);
    return WRONG;
  }
  const directory = o.out === '' ? dirname(path) : o.out;
  const limits = { outageMs: given.has('outage') ? o.outage : undefined };
  return tellOf(await writeReports(path, directory, limits), directory);
}

function tellOf(summary: Summary, directory: string): number {
  process.stdout.write(`${textReport(summary)}${join(directory, 'report.html')}\n`);
  return violationsIn(summary) === 0 ? 0 : VIOLATED;
}
