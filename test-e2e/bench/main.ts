import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { FlagError, parseFlags, type FlagTable } from '../../services/machinery/flags/flags.js';
import { startEtcd } from '../../services/storage/testing/start-etcd.js';
import { BINDINGS, decisionMicros, getWithRights } from './access.js';
import { admissionRows } from './admission.js';
import { informerFigures } from './clients.js';
import type { Target } from './connection.js';
import { controllerFigures } from './controllers.js';
import { customFigures } from './custom.js';
import type { PairedRow } from './paired-rows.js';
import { cpuMicros, residentBytes, start, type Started } from './processes.js';
import { bareFanOut, bareLoop, configMap, populate, SCENARIOS, type Scenario, type Subject } from './scenarios.js';
import { storeLimit } from './store-limit.js';

const FLAGS = {
  stores: { flag: 'store', type: 'list', default: 'embedded,etcd', help: 'which stores to measure' },
  seconds: { flag: 'seconds', type: 'int', default: '4', min: '1', help: 'how long each scenario runs' },
  only: { flag: 'only', type: 'string', help: 'run scenarios whose name has this in it' },
  json: { flag: 'json', type: 'string', metavar: 'FILE', help: 'write the figures there, too' },
} as const satisfies FlagTable;

interface Row {
  readonly store: string;
  readonly scenario: string;
  readonly unit: string;
  readonly value: number;
  readonly limit: number | undefined;
  readonly limitBy: string;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly cpuMicros?: number;
}

const PLATFORM = join(dirname(fileURLToPath(import.meta.url)), '../../../bin/platform');
/** The server's clock of processor time ticks a hundred times a second. */
const IDLE_MS = 20_000;
const BARE = join(dirname(fileURLToPath(import.meta.url)), 'bare-server.js');

async function measureStore(store: string, o: { seconds: number; only: string }): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-'));
  const etcd = store === 'etcd' ? await startEtcd({}) : undefined;
  const args = ['up', '--data-dir', dir, '--secure-port=0', '--log-level=error'];
  if (etcd !== undefined) args.push('--store=etcd', `--etcd-servers=${etcd.url}`);
  const rows: Row[] = [];
  try {
    const platform = await start(PLATFORM, args);
    rows.push(row(store, 'start to ready, empty store', 's', platform.startedInMs / 1000));
    const target = targetOf(platform, dir);
    const bare = await start(process.execPath, [BARE, join(dir, 'apiserver.crt'), join(dir, 'apiserver.key')]);
    const bareSubject = { ...target, port: Number(bare.line) };
    await populate(target);
    const subject: Subject = { target, pid: platform.pid, seconds: o.seconds, sizes: new Map(), measured: new Map() };
    const limitOf = limits(subject, { ...subject, target: bareSubject, pid: bare.pid }, etcd?.url);
    for (const scenario of SCENARIOS.filter(({ name }) => name.includes(o.only))) {
      rows.push(await measure(store, scenario, subject, limitOf));
      process.stdout.write(`${render(rows.slice(-1))}\n`);
    }
    await sleep(3_000);
    rows.push(row(store, 'resident memory, idle after the run', 'MB', residentBytes(platform.pid) / 1e6));
    const before = cpuMicros(platform.pid);
    await sleep(IDLE_MS);
    rows.push(row(store, 'processor time, idle', '% of one', (cpuMicros(platform.pid) - before) / (IDLE_MS * 10)));
    await bare.stop();
    if (ACCESS.includes(o.only)) rows.push(await accessRow(store, subject));
    await platform.stop();
    if (INFORMER.includes(o.only)) rows.push(...(await informerRows(store, etcd?.url)));
    if (CONTROLLERS.includes(o.only)) rows.push(...(await controllerRows(store, o.seconds, etcd?.url)));
    if (ADMISSION.includes(o.only)) rows.push(...paired(store, await admissionRows(store, o.seconds, etcd?.url)));
    if (CUSTOM.includes(o.only)) rows.push(...(await customRows(store, o.seconds, etcd?.url)));
  } finally {
    await etcd?.stop();
    rmSync(dir, { recursive: true, force: true });
  }
  return rows;
}

const ACCESS = `get by a token, ${BINDINGS.toLocaleString('en')} role bindings`;

/** Last, and after memory has been looked at: the bindings stay. */
async function accessRow(store: string, subject: Subject): Promise<Row> {
  const { bare, checked } = await getWithRights(subject);
  return {
    ...row(store, ACCESS, '/s', checked.perSecond),
    limit: bare.perSecond,
    limitBy: 'administrator',
    p50Ms: checked.p50Ms,
    p99Ms: checked.p99Ms,
    cpuMicros: checked.cpuMicros,
  };
}

/** Part of the names of the rows about informers. */
const INFORMER = 'informer';

async function informerRows(store: string, etcdUrl: string | undefined): Promise<Row[]> {
  const { objects, startMs, heldMb, objectsMb, eventsPerSecond } = await informerFigures(store, etcdUrl);
  const count = objects.toLocaleString('en');
  return [
    row(store, `informer, start with ${count} objects`, 's', startMs / 1000),
    {
      ...row(store, `informer, heap with ${count} objects`, 'MB', heldMb),
      limit: objectsMb,
      limitBy: 'parsed objects',
    },
    row(store, `informer, events to a handler`, '/s', eventsPerSecond),
  ];
}

/** Part of the names of the rows about controllers. */
const CONTROLLERS = 'controllers';

async function controllerRows(store: string, seconds: number, etcdUrl: string | undefined): Promise<Row[]> {
  const figures = await controllerFigures(store, etcdUrl, seconds);
  return [
    {
      ...row(store, 'controllers, certificates from request to signature', '/s', figures.signedPerSecond),
      limit: figures.signaturesPerSecond,
      limitBy: 'signing alone',
    },
    row(store, 'controllers, requests while idle', '/min', figures.idleRequestsPerMinute),
    {
      ...row(store, 'controllers, memory added to up, 5,000 objects', 'MB', figures.addedMb),
      limit: MOST_ADDED_MB,
      limitBy: 'aim',
    },
  ];
}

const MOST_ADDED_MB = 60;

/** Part of the names of the rows about admission. */
const ADMISSION = 'create ConfigMap, admission';

/** Part of the names of the rows about custom objects. */
const CUSTOM = 'custom objects';

async function customRows(store: string, seconds: number, etcdUrl: string | undefined): Promise<Row[]> {
  const { rows, definitions, servedAfterMs } = await customFigures(store, seconds, etcdUrl);
  return [
    ...paired(store, rows),
    {
      ...row(store, `custom objects, served after their definition, ${definitions} of them`, 'ms', servedAfterMs),
      limit: MOST_UNTIL_SERVED_MS,
      limitBy: 'aim',
    },
  ];
}

const MOST_UNTIL_SERVED_MS = 100;

const paired = (store: string, rows: readonly PairedRow[]): Row[] =>
  rows.map(({ scenario, measured, besides }) => ({
    ...row(store, scenario, '/s', measured.perSecond),
    limit: besides?.perSecond,
    limitBy: besides?.by ?? '',
    p50Ms: measured.p50Ms,
    p99Ms: measured.p99Ms,
    cpuMicros: measured.cpuMicros,
  }));

const row = (store: string, scenario: string, unit: string, value: number): Row => ({
  store,
  scenario,
  unit,
  value,
  limit: undefined,
  limitBy: '',
});

function targetOf(platform: Started, dir: string): Target {
  const port = Number(/https:\/\/[^\s]*:(\d+)/.exec(platform.line)?.[1]);
  return {
    host: '127.0.0.1',
    port,
    cert: readFileSync(join(dir, 'admin.crt')),
    key: readFileSync(join(dir, 'admin.key')),
  };
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

function render(rows: readonly Row[]): string {
  return rows
    .map((r) => {
      const limit =
        r.limit === undefined ? '' : `${(r.value / r.limit).toFixed(2)} of ${r.limit.toFixed(0)} (${r.limitBy})`;
      const times = r.p50Ms === undefined ? '' : `p50 ${r.p50Ms.toFixed(1)} ms, p99 ${(r.p99Ms ?? 0).toFixed(1)} ms`;
      const cpu = r.cpuMicros === undefined ? '' : `${r.cpuMicros.toFixed(0)} us cpu`;
      const value = r.value < 100 ? r.value.toFixed(2) : r.value.toFixed(0);
      return `${r.store.padEnd(9)} ${r.scenario.padEnd(58)} ${value.padStart(8)} ${r.unit.padEnd(9)} ${limit.padEnd(34)} ${times} ${cpu}`;
    })
    .join('\n');
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
