// node main.js --kubeconfig=FILE [--only=TEXT]: runs the scenarios of controllers, one after the other, against the server of
// a client configuration, and prints the state in which each ends as a line of JSON; how long it took goes to stderr.
import { commandLine } from '../../../services/machinery/process/command-line.js';
import type { FlagTable } from '../../../services/machinery/flags/flags.js';
import { SCENARIOS } from './all.js';
import { openClients } from './open-clients.js';
import { play } from './scenario.js';

const FLAGS = {
  kubeconfig: { flag: 'kubeconfig', type: 'string', metavar: 'FILE', help: 'the server, and its administrator' },
  only: { flag: 'only', type: 'string', help: 'run scenarios whose name has this in it' },
  patience: { flag: 'patience', type: 'duration', default: '60s', help: 'how long a state is waited for' },
} as const satisfies FlagTable;

async function main(): Promise<number> {
  const parsed = commandLine({ program: 'scenarios', version: '' }, FLAGS, process.argv.slice(2), () => []);
  if ('exitCode' in parsed) return parsed.exitCode;
  const { kubeconfig, only, patience } = parsed.options;
  const clients = openClients(kubeconfig);
  let unexpected = 0;
  for (const scenario of SCENARIOS.filter(({ name }) => name.includes(only))) {
    const { name, state, ms, isExpected } = await play(scenario, clients.open, patience);
    process.stdout.write(`${JSON.stringify({ name, state })}\n`);
    process.stderr.write(`${String(ms).padStart(6)} ms  ${isExpected ? '' : 'UNEXPECTED  '}${name}\n`);
    if (!isExpected) unexpected++;
  }
  clients.close();
  return unexpected === 0 ? 0 : 1;
}

process.exitCode = await main();
