import { setTimeout as sleep } from 'node:timers/promises';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { Connection, request } from './connection.js';
import { BUILT_IN, DEFINED, definition, pair, PLAIN, populated, served, servedAfter } from './custom.js';
import { cpuMicros, residentBytes } from './processes.js';
import { paired, row, type Row, type SuiteOptions } from './rows.js';
import { post, startServer, type BenchServer } from './server.js';
import { crowdOverHttp2 } from './watchers.js';

const { apiDiscoveryGroup } = vocabulary('platform');
const OBJECTS = 100_000;
const DEFINITIONS = 1_000;
const DEFINITIONS_OF_A_GROUP = 20;
/** New definitions, of which the one in the middle is told of. */
const MORE_DEFINITIONS = 21;
const WATCHES = 10_000;
const WATCHES_OF_A_CONNECTION = 100;
const WATCHES_BESIDE = 300;
/** Until what was allocated on the way is collected. */
const SETTLE_MS = 5_000;
const IDLE_MS = 20_000;
const AGGREGATED = `application/json;g=${apiDiscoveryGroup};v=v2;as=APIGroupDiscoveryList`;

const settledMb = async ({ process: { pid } }: BenchServer): Promise<number> => {
  await sleep(SETTLE_MS);
  return residentBytes(pid) / 1e6;
};

/** What many watches, definitions and objects cost. */
export async function sizeRows(o: SuiteOptions): Promise<Row[]> {
  return [...(await watchRows(o)), ...(await definitionRows(o)), ...(await objectRows(o))];
}

async function watchRows({ store, etcdUrl }: SuiteOptions): Promise<Row[]> {
  const server = await startServer({ store, etcdUrl });
  try {
    const { pid } = server.process;
    const without = await settledMb(server);
    const watches = Array.from({ length: WATCHES / WATCHES_OF_A_CONNECTION }, () =>
      crowdOverHttp2(server.target, '/api/v1/configmaps?watch=true', WATCHES_OF_A_CONNECTION),
    );
    const crowds = await Promise.all(watches);
    const beside = await settledMb(server);
    const before = cpuMicros(pid);
    await sleep(IDLE_MS);
    const share = (cpuMicros(pid) - before) / (IDLE_MS * 10);
    for (const crowd of crowds) crowd.close();
    const name = `${WATCHES.toLocaleString('en')} idle watches`;
    return [
      row(store, `${name}, memory of one`, 'KB', ((beside - without) / WATCHES) * 1_000),
      row(store, `${name}, processor time`, '% of one', share),
    ];
  } finally {
    await server.stop();
  }
}

async function definitionRows({ store, etcdUrl }: SuiteOptions): Promise<Row[]> {
  let server = await startServer({ store, etcdUrl });
  try {
    const emptyMs = (server = await server.again()).process.startedInMs;
    const without = await settledMb(server);
    const groupOf = (n: number): string => `g${Math.floor(n / DEFINITIONS_OF_A_GROUP)}.example.com`;
    const defined = Array.from(
      { length: DEFINITIONS },
      (_, n) => [DEFINED, definition(`kinds${n}s`, [], groupOf(n))] as const,
    );
    await post(server.target, defined);
    await served(server, `/apis/${groupOf(DEFINITIONS - 1)}/v1/kinds${DEFINITIONS - 1}s`);
    const eachKb = (((await settledMb(server)) - without) / DEFINITIONS) * 1_000;
    const crowds = await Promise.all(
      Array.from({ length: WATCHES_BESIDE }, (_, n) =>
        crowdOverHttp2(server.target, `/apis/${groupOf(n)}/v1/kinds${n}s?watch=true`, 1),
      ),
    );
    const servedMs = await servedAfter(server, MORE_DEFINITIONS);
    for (const crowd of crowds) crowd.close();
    const { first, next } = await discoveryMs(server);
    const startedMs = (server = await server.again()).process.startedInMs;
    const name = `${DEFINITIONS.toLocaleString('en')} definitions`;
    return [
      row(store, `${name}, memory of one`, 'KB', eachKb, { value: 500, by: 'aim' }),
      row(store, `${name}, a new one served, ${WATCHES_BESIDE} watches`, 'ms', servedMs, { value: 100, by: 'aim' }),
      row(store, `${name}, discovery after a change`, 'ms', first, { value: 20, by: 'aim' }),
      row(store, `${name}, discovery again`, 'ms', next, { value: 20, by: 'aim' }),
      row(store, `${name}, start to ready`, 's', startedMs / 1_000),
      row(store, `${name}, start to ready without them`, 's', emptyMs / 1_000),
    ];
  } finally {
    await server.stop();
  }
}

async function discoveryMs(server: BenchServer): Promise<{ readonly first: number; readonly next: number }> {
  const connection = await Connection.open(server.target);
  const ask = async (): Promise<number> => {
    const from = performance.now();
    const { code } = await connection.ask(request('GET', '/apis', { accept: AGGREGATED }));
    if (code !== 200) throw new Error(`discovery: ${code} ${connection.firstBytes}`);
    return performance.now() - from;
  };
  const [first, next] = [await ask(), await ask()];
  connection.close();
  return { first, next };
}

/** A whole list is sent from memory, so that what is compared is how it is put together. */
const LIST = {
  does: `list ${OBJECTS.toLocaleString('en')}`,
  expect: 200,
  next:
    ({ path }: { readonly path: string }) =>
    (): Buffer =>
      request('GET', `${path}?resourceVersion=0`),
};

async function objectRows({ store, seconds, etcdUrl }: SuiteOptions): Promise<Row[]> {
  let server = await startServer({ store, etcdUrl });
  try {
    const without = await settledMb(server);
    await populated(server, OBJECTS);
    server = await server.again();
    const { startedInMs } = server.process;
    const connection = await Connection.open(server.target); // ready is not loaded: a list waits for it
    const from = performance.now();
    await connection.ask(request('GET', `${BUILT_IN.path}?limit=1&resourceVersion=0`));
    const loadedMs = startedInMs + performance.now() - from;
    connection.close();
    const beside = await settledMb(server);
    const lists = await pair(server, LIST, [PLAIN, BUILT_IN], seconds * 4);
    const name = `2 x ${OBJECTS.toLocaleString('en')} objects`;
    return [
      row(store, `${name}, start to ready`, 's', startedInMs / 1_000),
      row(store, `${name}, start to the first list`, 's', loadedMs / 1_000),
      row(store, `${name}, memory`, 'MB', beside - without),
      ...paired(store, [lists]),
    ];
  } finally {
    await server.stop();
  }
}
