import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FlagError, parseFlags, type FlagTable } from '../../services/machinery/flags/flags.js';
import { startEtcd } from '../../services/storage/testing/start-etcd.js';
import { BINDINGS, decisionMicros, getWithRights } from './access.js';
import { admissionRows } from './admission.js';
import { informerRows } from './clients.js';
import { controllerRows } from './controllers.js';
import { conversionRows } from './conversion.js';
import { customRows } from './custom.js';
import { encryptionRows } from './encryption.js';
import { cpuMicros, residentBytes, start } from './processes.js';
import { replicaRows } from './replicas.js';
import { paired, render, row, type Row, type SuiteOptions } from './rows.js';
import { bareFanOut, bareLoop, configMap, populate, SCENARIOS, type Scenario, type Subject } from './scenarios.js';
import { startServer } from './server.js';
import { sizeRows } from './sizes.js';
import { storeLimit } from './store-limit.js';

const FLAGS = {
  stores: { flag: 'store', type: 'list', default: 'embedded,etcd', help: 'which stores to measure' },
  seconds: { flag: 'seconds', type: 'int', default: '4', min: '1', help: 'how long each scenario runs' },
  only: { flag: 'only', type: 'string', help: 'run scenarios whose name has this in it' },
  json: { flag: 'json', type: 'string', metavar: 'FILE', help: 'write the figures there, too' },
} as const satisfies FlagTable;

/** The server's clock of processor time ticks a hundred times a second. */
const IDLE_MS = 20_000;
const BARE = join(import.meta.dirname, 'bare-server.js');

const ACCESS = `get by a token, ${BINDINGS.toLocaleString('en')} role bindings`;

/** Figures with servers of their own. What is large takes minutes, and is measured only where it is named. */
const SUITES: readonly {
  /** Part of the names of its rows. */
  readonly name: string;
  readonly isLarge?: true;
  readonly rows: (o: SuiteOptions) => Promise<readonly Row[]>;
}[] = [
  { name: 'informer', rows: informerRows },
  { name: 'controllers', rows: controllerRows },
  { name: 'create ConfigMap, admission', rows: admissionRows },
  { name: 'custom objects', rows: customRows },
  { name: 'converted objects', rows: conversionRows },
  { name: 'encryption', rows: encryptionRows },
  { name: 'large sizes', isLarge: true, rows: sizeRows },
  { name: 'replicas', isLarge: true, rows: replicaRows },
];

async function measureStore(store: string, o: { seconds: number; only: string }): Promise<Row[]> {
  const etcd = store === 'etcd' ? await startEtcd({}) : undefined;
  const asked: SuiteOptions = { store, seconds: o.seconds, etcdUrl: etcd?.url };
  const rows: Row[] = [];
  try {
    const scenarios = SCENARIOS.filter(({ name }) => name.includes(o.only));
    const access = ACCESS.includes(o.only);
    if (scenarios.length > 0 || access) rows.push(...(await scenarioRows(asked, scenarios, access)));
    for (const { name, isLarge = false, rows: of } of SUITES) {
      if (!name.includes(o.only) || (isLarge && o.only === '')) continue;
      const some = await of(asked);
      rows.push(...some);
      process.stdout.write(`${render(some)}\n`);
    }
  } finally {
    await etcd?.stop();
  }
  return rows;
}

/** One server for all scenarios, beside a bare one that shows what the machine allows. */
async function scenarioRows(o: SuiteOptions, scenarios: readonly Scenario[], access: boolean): Promise<Row[]> {
  const { store, seconds, etcdUrl } = o;
  const server = await startServer(o);
  const { target, directory } = server;
  const { pid, startedInMs } = server.process;
  const bare = await start(process.execPath, [
    BARE,
    join(directory, 'apiserver.crt'),
    join(directory, 'apiserver.key'),
  ]);
  try {
    const rows: Row[] = [row(store, 'start to ready, empty store', 's', startedInMs / 1000)];
    await populate(target);
    const subject: Subject = { target, pid, seconds, sizes: new Map(), measured: new Map() };
    const bareSubject = { ...subject, target: { ...target, port: Number(bare.line) }, pid: bare.pid };
    const limitOf = limits(subject, bareSubject, etcdUrl);
    for (const scenario of scenarios) {
      rows.push(await measure(store, scenario, subject, limitOf));
      process.stdout.write(`${render(rows.slice(-1))}\n`);
    }
    await sleep(3_000);
    rows.push(row(store, 'resident memory, idle after the run', 'MB', residentBytes(pid) / 1e6));
    const before = cpuMicros(pid);
    await sleep(IDLE_MS);
    rows.push(row(store, 'processor time, idle', '% of one', (cpuMicros(pid) - before) / (IDLE_MS * 10)));
    if (access) rows.push(await accessRow(store, subject));
    return rows;
  } finally {
    await bare.stop();
    await server.stop();
  }
}

/** Last, and after memory has been looked at: the bindings stay. */
async function accessRow(store: string, subject: Subject): Promise<Row> {
  const { bare, checked } = await getWithRights(subject);
  const besides = { by: 'administrator', perSecond: bare.perSecond };
  return paired(store, [{ scenario: ACCESS, measured: checked, besides }])[0] as Row;
}

async function measure(
  store: string,
  scenario: Scenario,
  s: Subject,
  limitOf: (scenario: Scenario) => Promise<number>,
): Promise<Row> {
  const measured = await scenario.run(s);
  s.measured.set(scenario.name, measured);
  return {
    store,
    scenario: scenario.name,
    unit: scenario.unit,
    value: scenario.value(measured),
    limit: await limitOf(scenario),
    limitBy: scenario.limit.by,
    p50Ms: measured.p50Ms,
    p99Ms: measured.p99Ms,
    ...(measured.cpuMicros === undefined ? {} : { cpuMicros: measured.cpuMicros }),
  };
}

/** What the machine allows, measured in the same run; once for scenarios that share it. */
function limits(s: Subject, bare: Subject, endpoint: string | undefined): (scenario: Scenario) => Promise<number> {
  let transactions: Promise<number> | undefined;
  return async ({ limit, value }) => {
    switch (limit.by) {
      case 'bare server':
        return value(await bareLoop(bare, limit.path(s)));
      case 'bare fan-out':
        return value(await bareFanOut(bare, limit.protocol));
      case 'plain': {
        const plain = s.measured.get(limit.scenario);
        return plain === undefined ? NaN : value(plain);
      }
      case 'bare store':
        return (transactions ??= storeLimit(endpoint, s.seconds, Buffer.from(configMap('limit', 1))));
    }
  };
}

try {
  const { options } = parseFlags(FLAGS, process.argv.slice(2));
  const rows: Row[] = [];
  for (const store of options.stores) rows.push(...(await measureStore(store, options)));
  rows.push(row('-', `decision by roles, ${BINDINGS.toLocaleString('en')} role bindings`, 'us', decisionMicros()));
  process.stdout.write(`\n${render(rows)}\n`);
  if (options.json !== '') writeFileSync(options.json, `${JSON.stringify(rows, null, 2)}\n`);
} catch (err) {
  if (!(err instanceof FlagError)) throw err;
  process.stderr.write(`${err.message}\n`);
  process.exitCode = 2;
}
