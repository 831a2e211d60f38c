import { TestAuthority } from '../../services/client/testing/certificates.js';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { ConvertingHook, versionsWith } from '../api/tools/converting-hook.js';
import { Connection, request } from './connection.js';
import { DEFINED, served } from './custom.js';
import { closedLoop } from './load.js';
import { paired, row, type Row, type SuiteOptions } from './rows.js';
import { CONNECTIONS, OBJECTS } from './scenarios.js';
import { post, startServer, type BenchServer } from './server.js';
import { byTurns, type Asked } from './turns.js';

const { groups } = vocabulary('platform');
const GROUP = 'converted.example.com';

/** A version, and the members of its spec. */
const STORED = { version: 'v1', spec: { hostPort: 'host:1', replicas: 2, note: 'v'.repeat(900) } };
const OTHER = { version: 'v2', spec: { host: 'host', port: 1, count: 2, note: 'v'.repeat(900) } };
type Version = typeof STORED | typeof OTHER;

const path = ({ version }: Version): string => `/apis/${GROUP}/${version}/namespaces/bench/widgets`;
const body = ({ version, spec }: Version, name: string): string =>
  JSON.stringify({ apiVersion: `${GROUP}/${version}`, kind: 'Widget', metadata: { name }, spec });

const definition = (hook: ConvertingHook): object => ({
  apiVersion: `${groups.apiextensions}/v1`,
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: versionsWith('v1'),
    conversion: hook.conversion(),
  },
});

let made = 0;
const QUESTIONS: readonly { readonly does: string; readonly expect: number; readonly next: (of: Version) => Asked['next'] }[] = [
  { does: 'get', expect: 200, next: (of) => (n) => request('GET', `${path(of)}/w-${(n * 7919) % OBJECTS}?resourceVersion=0`) },
  { does: 'list 5,000', expect: 200, next: (of) => () => request('GET', `${path(of)}?resourceVersion=0`) },
  { does: 'create', expect: 201, next: (of) => () => request('POST', path(of), { body: body(of, `c-${made++}`) }) },
]; // prettier-ignore

/** Custom objects in the version that a webhook converts to, beside that which is stored. The webhook runs in this process. */
export async function conversionRows({ store, seconds, etcdUrl }: SuiteOptions): Promise<Row[]> {
  const authority = new TestAuthority('converters');
  const hook = await ConvertingHook.start(authority);
  const server = await startServer({ store, etcdUrl });
  try {
    await populated(server, hook);
    const rows = [row(store, 'first list of 5,000 converted objects', 'ms', await firstListMs(server))];
    for (const { does, expect, next } of QUESTIONS) {
      const asked = [OTHER, STORED].map((of): Asked => {
        const { target, process } = server;
        return { targets: [target], pids: [process.pid], expect, next: next(of) };
      });
      const [measured, stored] = await byTurns(asked, seconds);
      if (measured === undefined || stored === undefined) throw new Error('Nothing was measured');
      const besides = { by: 'as stored', perSecond: stored.perSecond };
      rows.push(...paired(store, [{ scenario: `${does}, converted objects`, measured, besides }]));
    }
    return rows;
  } finally {
    await server.stop();
    await hook.service.close();
    authority.remove();
  }
}

async function populated({ target, ...server }: BenchServer, hook: ConvertingHook): Promise<void> {
  await post(target, [
    ['/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } }],
    [DEFINED, definition(hook)],
  ]);
  await served({ target, ...server }, path(STORED));
  const next = (n: number): Buffer => request('POST', path(STORED), { body: body(STORED, `w-${n}`) });
  await closedLoop({ targets: [target], connections: CONNECTIONS, durationMs: 120_000, count: OBJECTS, next, expect: 201 }); // prettier-ignore
}

async function firstListMs({ target }: BenchServer): Promise<number> {
  const connection = await Connection.open(target);
  const from = performance.now();
  const { code } = await connection.ask(request('GET', `${path(OTHER)}?resourceVersion=0`));
  connection.close();
  if (code !== 200) throw new Error(`list: ${code} ${connection.firstBytes}`);
  return performance.now() - from;
}
