import { setTimeout as sleep } from 'node:timers/promises';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { Connection, request, type Target } from './connection.js';
import { closedLoop, type Measured } from './load.js';
import { cpuMicros } from './processes.js';
import { crowdOverHttp1, crowdOverHttp2, type Crowd } from './watchers.js';

const words = vocabulary('platform');
export const OBJECTS = 5_000;
export const CONNECTIONS = 32;
const WATCHERS = 300;
export const COLLECTION = '/api/v1/namespaces/bench/configmaps';
const WATCHED = '/api/v1/namespaces/watched/configmaps';
/** Connections that write while others watch. */
const WRITERS = 8;
const VALUE = 'v'.repeat(900);

/** What is measured on the server itself, and what stands for its limit. */
export interface Scenario {
  readonly name: string;
  /** Unit of `value`. */
  readonly unit: string;
  readonly run: (s: Subject) => Promise<Measured & { readonly cpuMicros?: number }>;
  /** Which figure of the answer counts. */
  readonly value: (m: Measured) => number;
  readonly limit:
    | { readonly by: 'bare server'; readonly path: (s: Subject) => string }
    | { readonly by: 'bare store' }
    | { readonly by: 'bare fan-out'; readonly protocol: 1 | 2 }
    /** What another scenario has come to in the same run. */
    | { readonly by: 'plain'; readonly scenario: string };
}

export interface Subject {
  readonly target: Target;
  readonly pid: number;
  readonly seconds: number;
  /** Bytes of answers that were seen, for the bare server to send as many. */
  readonly sizes: Map<string, number>;
  /** What came of the scenarios that have run, by their names. */
  readonly measured: Map<string, Measured>;
}

const nameOf = (n: number): string => `cm-${String(n).padStart(5, '0')}`;

/** Some 1.2 KB as stored. */
export const configMap = (name: string, group: number, salt = ''): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { group: String(group), app: 'bench' }, annotations: { note: 'measured object' } },
    data: { value: VALUE, salt },
  });

/** Creates the namespace and its objects. */
export async function populate(target: Target): Promise<void> {
  deleted = created; // another server had those
  const connection = await Connection.open(target);
  for (const name of ['bench', 'watched']) {
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await connection.ask(request('POST', '/api/v1/namespaces', { body }));
  }
  for (let n = 0; n < WRITERS; n++) {
    await connection.ask(request('POST', WATCHED, { body: configMap(`w-${n}`, 1) }));
  }
  connection.close();
  await closedLoop({
    targets: [target],
    connections: CONNECTIONS,
    durationMs: 120_000,
    count: OBJECTS,
    next: (n) => request('POST', COLLECTION, { body: configMap(nameOf(n), n % 10) }),
    expect: 201,
  });
}

/** With the server's processor time for each request. */
export interface Costed extends Measured {
  readonly cpuMicros: number;
}

/** A closed loop of 32 connections, with the server's processor time for each request. */
async function loop(s: Subject, expect: number, next: (n: number) => Buffer, count?: number): Promise<Costed> {
  const before = cpuMicros(s.pid);
  const measured = await closedLoop({
    targets: [s.target],
    connections: CONNECTIONS,
    durationMs: s.seconds * 1000,
    next,
    expect,
    ...(count === undefined ? {} : { count }),
  });
  return { ...measured, cpuMicros: (cpuMicros(s.pid) - before) / measured.count };
}

const reading =
  (key: string, path: (n: number) => string, accept?: string) =>
  async (s: Subject): Promise<Measured> => {
    const headers = accept === undefined ? {} : { accept };
    const connection = await Connection.open(s.target);
    s.sizes.set(key, (await connection.ask(request('GET', path(0), headers))).bytes);
    connection.close();
    return loop(s, 200, (n) => request('GET', path(n), headers));
  };

/** Where a single object is read from the cache. */
export const cachedObject = (n: number): string => `${COLLECTION}/${someObject(n)}?resourceVersion=0`;

const bareSized = (key: string): Scenario['limit'] => ({
  by: 'bare server',
  path: (s) => `/fixed/${s.sizes.get(key) ?? 0}`,
});
const perSecond = (m: Measured): number => m.perSecond;
const bytesPerSecond = (m: Measured): number => m.bytesPerSecond / 1e6;

/** Objects that `create` made, by number, and those of them that `delete` has taken away. */
let created = 0;
let deleted = 0;
let salt = 0;
const someObject = (n: number): string => nameOf((n * 7919) % OBJECTS);

const fullList = (query: '' | '?resourceVersion=0'): Scenario => ({
  name: `list 5,000, ${query === '' ? 'consistent' : 'resourceVersion=0'}`,
  unit: 'MB/s',
  value: bytesPerSecond,
  limit: bareSized(`all${query}`),
  run: reading(`all${query}`, () => `${COLLECTION}${query}`),
});

const PLAIN_LIST = 'list 5,000, resourceVersion=0';

/** The same 5,000 objects in another view; lists a second, beside those of the plain list. */
const viewedList = (view: string, accept: string): Scenario => ({
  name: `list 5,000 as ${view}`,
  unit: '/s',
  value: perSecond,
  limit: { by: 'plain', scenario: PLAIN_LIST },
  run: reading(`as ${view}`, () => `${COLLECTION}?resourceVersion=0`, accept),
});

/** Updates a second that go on beside reads: what was joined or encoded for a read does not serve the next one. */
const WRITES_BESIDE = 200;

/** The same scenario with writes going on. The limit is what it was: a bare server has nothing to be written. */
const whileWritten = (scenario: Scenario): Scenario => ({
  ...scenario,
  name: `${scenario.name}, ${WRITES_BESIDE} writes/s`,
  run: async (s) => {
    const over = new AbortController();
    const writing = writePaced(s.target, over.signal);
    try {
      return await scenario.run(s);
    } finally {
      over.abort();
      await writing;
    }
  },
});

/** Changes the 5,000 objects one after the other, each in its turn of the clock, and leaves their labels as they are. */
async function writePaced(target: Target, signal: AbortSignal): Promise<void> {
  const connection = await Connection.open(target);
  const from = performance.now();
  for (let n = 0; !signal.aborted; n++) {
    const at = (n * 7919) % OBJECTS;
    const body = configMap(nameOf(at), at % 10, String(++salt));
    const { code } = await connection.ask(request('PUT', `${COLLECTION}/${nameOf(at)}`, { body }));
    if (code !== 200) throw new Error(`A write beside reads was answered with ${code}`);
    const early = (n * 1000) / WRITES_BESIDE - (performance.now() - from);
    if (early > 0) await sleep(early, undefined, { signal }).catch(() => undefined);
  }
  connection.close();
}

const AS_TABLE = viewedList('Table', `application/json;as=Table;g=${words.metaGroup};v=v1`);
const BY_LABEL: Scenario = {
  name: 'by label, 500 of 5,000, resourceVersion=0',
  unit: '/s',
  value: perSecond,
  limit: bareSized('label'),
  run: reading('label', () => `${COLLECTION}?labelSelector=group%3D3&resourceVersion=0`),
};

/** A patch of one object, beside a plain update. */
const patching = (name: string, type: string, query: string, body: (n: number) => object): Scenario => ({
  name,
  unit: '/s',
  value: perSecond,
  limit: { by: 'plain', scenario: 'update' },
  run: (s) =>
    loop(s, 200, (n) =>
      request('PATCH', `${COLLECTION}/${someObject(n)}${query}`, { type, body: JSON.stringify(body(n)) }),
    ),
});

/** In running order: full lists while nothing but the 5,000 objects is there. */
export const SCENARIOS: readonly Scenario[] = [
  fullList(''),
  fullList('?resourceVersion=0'),
  AS_TABLE,
  viewedList('PartialObjectMetadataList', `application/json;as=PartialObjectMetadataList;g=${words.metaGroup};v=v1`),
  viewedList('Protobuf', words.protobufMediaType),
  ...[fullList('?resourceVersion=0'), AS_TABLE, BY_LABEL].map(whileWritten),
  {
    name: 'create',
    unit: '/s',
    value: perSecond,
    limit: { by: 'bare store' },
    run: (s) => loop(s, 201, () => request('POST', COLLECTION, { body: configMap(`new-${++created}`, 99) })),
  },
  {
    name: 'get, consistent',
    unit: '/s',
    value: perSecond,
    limit: bareSized('get'),
    run: reading('get', (n) => `${COLLECTION}/${someObject(n)}`),
  },
  {
    name: 'get, resourceVersion=0',
    unit: '/s',
    value: perSecond,
    limit: bareSized('get0'),
    run: reading('get0', cachedObject),
  },
  {
    name: 'page of 500, consistent',
    unit: '/s',
    value: perSecond,
    limit: bareSized('page'),
    run: reading('page', () => `${COLLECTION}?limit=500`),
  },
  BY_LABEL,
  {
    name: 'update',
    unit: '/s',
    value: perSecond,
    limit: { by: 'bare store' },
    run: (s) =>
      loop(s, 200, (n) =>
        request('PUT', `${COLLECTION}/${someObject(n)}`, { body: configMap(someObject(n), 1, String(++salt)) }),
      ),
  },
  patching('merge patch', 'application/merge-patch+json', '', () => ({ data: { salt: String(++salt) } })),
  patching('strategic merge patch', 'application/strategic-merge-patch+json', '', () => ({
    data: { salt: String(++salt) },
  })),
  patching('apply', 'application/apply-patch+yaml', '?fieldManager=bench&force=true', () => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    data: { salt: String(++salt) },
  })),
  {
    name: 'delete',
    unit: '/s',
    value: perSecond,
    limit: { by: 'bare store' },
    run: (s: Subject): Promise<Measured> => {
      return loop(s, 200, () => request('DELETE', `${COLLECTION}/new-${++deleted}`), created - deleted);
    },
  },
  {
    name: 'fan-out to 300 watchers, HTTP/1.1',
    unit: 'events/s',
    value: perSecond,
    limit: { by: 'bare fan-out', protocol: 1 },
    run: (s) => fanOut(s, crowdOverHttp1),
  },
  {
    name: 'fan-out to 300 watchers, HTTP/2',
    unit: 'events/s',
    value: perSecond,
    limit: { by: 'bare fan-out', protocol: 2 },
    run: (s) => fanOut(s, crowdOverHttp2),
  },
];

type OpenCrowd = (target: Target, path: string, size: number) => Promise<Crowd>;

/** Updates from 8 connections until the time is over; counts what 300 watchers get of them, to the last frame. */
export async function fanOut(s: Subject, open: OpenCrowd): Promise<Measured> {
  const crowd = await open(s.target, `${WATCHED}?watch=1&resourceVersion=0`, WATCHERS);
  try {
    return await countDeliveries(crowd, s, (n) =>
      request('PUT', `${WATCHED}/w-${n % WRITERS}`, { body: configMap(`w-${n % WRITERS}`, 1, String(n)) }),
    );
  } finally {
    crowd.close();
  }
}

export async function countDeliveries(crowd: Crowd, s: Subject, next: (n: number) => Buffer): Promise<Measured> {
  const before = crowd.frames();
  const from = performance.now();
  const writes = await closedLoop({
    targets: [s.target],
    connections: WRITERS,
    durationMs: s.seconds * 1000,
    next,
    expect: 200,
  });
  const expected = before + writes.count * WATCHERS;
  const deadline = performance.now() + 30_000;
  while (crowd.frames() < expected && performance.now() < deadline) await new Promise((r) => setTimeout(r, 5));
  const seconds = (performance.now() - from) / 1000;
  const frames = crowd.frames() - before;
  if (frames < writes.count * WATCHERS) throw new Error(`Watchers got ${frames} of ${writes.count * WATCHERS} frames`);
  return { ...writes, count: frames, perSecond: frames / seconds };
}

export async function bareFanOut(s: Subject, protocol: 1 | 2): Promise<Measured> {
  const frame = `${JSON.stringify({ type: 'MODIFIED', object: JSON.parse(configMap('watched', 1)) as object })}\n`;
  const crowd = await (protocol === 1 ? crowdOverHttp1 : crowdOverHttp2)(s.target, '/watch', WATCHERS);
  try {
    return await countDeliveries(crowd, s, () => request('PUT', '/emit', { body: frame }));
  } finally {
    crowd.close();
  }
}

export async function bareLoop(s: Subject, path: string): Promise<Measured> {
  return loop(s, 200, () => request('GET', path));
}
