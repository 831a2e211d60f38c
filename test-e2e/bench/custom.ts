import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { Connection, request, type Target } from './connection.js';
import { closedLoop } from './load.js';
import type { PairedRow } from './paired-rows.js';
import { cpuMicros, start, type Started } from './processes.js';
import { CONNECTIONS, OBJECTS, type Costed } from './scenarios.js';

const { groups } = vocabulary('platform');
/** What is compared is measured by turns, so that what the machine does besides hits both. */
const TURNS = 6;
const GROUP = 'bench.example.com';
const VALUE = 'v'.repeat(900);
const DEFINITIONS = 200;

/** Objects of one size, of a kind that is built in and of kinds that are defined, and what admits them. */
interface Kind {
  readonly name: string;
  readonly path: string;
  readonly object: (name: string) => object;
}

const custom = (plural: string, name: string): Kind => ({
  name,
  path: `/apis/${GROUP}/v1/namespaces/bench/${plural}`,
  object: (it) => ({
    apiVersion: `${GROUP}/v1`,
    kind: kindOf(plural),
    metadata: { name: it, labels: { app: 'bench' } },
    spec: { value: VALUE, replicas: 3, limit: 5 },
  }),
});

const BUILT_IN: Kind = {
  name: 'ConfigMaps',
  path: '/api/v1/namespaces/bench/configmaps',
  object: (name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { app: 'bench' } },
    data: { value: VALUE, replicas: '3', limit: '5' },
  }),
};
const PLAIN = custom('plains', 'custom objects');
const RULED = custom('ruleds', 'custom objects with five rules');
const ADMITTED = custom('admitteds', 'custom objects under a policy with five rules');

const kindOf = (plural: string): string => `${plural.charAt(0).toUpperCase()}${plural.slice(1, -1)}`;

const RULES = [
  'self.replicas <= self.limit',
  'self.value.size() < 1000',
  "self.value.startsWith('v')",
  '!has(self.mode) || self.mode in ["a", "b"]',
  "self.value.matches('^v+$')",
];

const definition = (plural: string, rules: readonly string[]): object => ({
  apiVersion: `${groups.apiextensions}/v1`,
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural, kind: kindOf(plural) },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['value'],
                properties: {
                  value: { type: 'string', minLength: 1, maxLength: 1000 },
                  mode: { type: 'string', maxLength: 10 },
                  replicas: { type: 'integer', minimum: 0 },
                  limit: { type: 'integer' },
                },
                ...(rules.length === 0 ? {} : { 'x-platform-validations': rules.map((rule) => ({ rule })) }),
              },
            },
          },
        },
      },
    ],
  },
});

const POLICY = {
  apiVersion: `${groups.admissionregistration}/v1`,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'bench' },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [GROUP], apiVersions: ['v1'], operations: ['CREATE'], resources: ['admitteds'] }],
    },
    validations: RULES.map((rule) => ({ expression: rule.replaceAll('self.', 'object.spec.') })),
  },
};
const BINDING = {
  apiVersion: `${groups.admissionregistration}/v1`,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'bench' },
  spec: { policyName: 'bench', validationActions: ['Deny'] },
};

interface Subject {
  readonly target: Target;
  readonly server: Started;
}

async function post({ target }: Subject, path: string, object: object): Promise<void> {
  const connection = await Connection.open(target);
  const { code } = await connection.ask(request('POST', path, { body: JSON.stringify(object) }));
  connection.close();
  if (code !== 201) throw new Error(`${path}: ${code} ${connection.firstBytes}`);
}

/** Waits until a path is there: a definition is served once its names are accepted. */
async function served({ target }: Subject, path: string): Promise<void> {
  const connection = await Connection.open(target);
  let code = 0;
  for (let tries = 0; code !== 200 && tries < 3_000; tries++) {
    ({ code } = await connection.ask(request('GET', `${path}?limit=1`)));
    if (code !== 200) await sleep(5);
  }
  connection.close();
  if (code !== 200) throw new Error(`${path} is not served: ${code}`);
}

async function loop(s: Subject, expect: number, durationMs: number, next: (n: number) => Buffer): Promise<Costed> {
  const before = cpuMicros(s.server.pid);
  const measured = await closedLoop({ target: s.target, connections: CONNECTIONS, durationMs, next, expect });
  return { ...measured, cpuMicros: (cpuMicros(s.server.pid) - before) / measured.count };
}

let made = 0;
/** What is asked of every kind, beside the same of another one. */
const QUESTIONS: readonly {
  readonly does: string;
  readonly kinds: readonly (readonly [Kind, Kind])[];
  readonly expect: number;
  readonly next: (kind: Kind) => (n: number) => Buffer;
}[] = [
  {
    does: `list 5,000`,
    kinds: [[PLAIN, BUILT_IN]],
    expect: 200,
    next:
      ({ path }) =>
      (): Buffer =>
        request('GET', `${path}?resourceVersion=0&labelSelector=app%3Dbench`),
  },
  {
    does: 'get',
    kinds: [[PLAIN, BUILT_IN]],
    expect: 200,
    next:
      ({ path }) =>
      (n): Buffer =>
        request('GET', `${path}/o-${(n * 7919) % OBJECTS}?resourceVersion=0`),
  },
  {
    does: 'create',
    kinds: [
      [PLAIN, BUILT_IN],
      [RULED, PLAIN],
      [ADMITTED, PLAIN],
    ],
    expect: 201,
    next:
      ({ path, object }) =>
      (): Buffer =>
        request('POST', path, { body: JSON.stringify(object(`c-${made++}`)) }),
  },
];

async function populated(s: Subject): Promise<void> {
  await post(s, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } });
  const definitions = `/apis/${groups.apiextensions}/v1/customresourcedefinitions`;
  for (const [plural, rules] of [
    ['plains', []],
    ['ruleds', RULES],
    ['admitteds', []],
  ] as const) {
    // prettier-ignore
    await post(s, definitions, definition(plural, rules));
  }
  for (const { path } of [PLAIN, RULED, ADMITTED]) await served(s, path);
  for (const [resource, object] of [
    ['validatingadmissionpolicies', POLICY],
    ['validatingadmissionpolicybindings', BINDING],
  ] as const) {
    // prettier-ignore
    await post(s, `/apis/${groups.admissionregistration}/v1/${resource}`, object);
  }
  for (const { path, object } of [PLAIN, BUILT_IN]) {
    const next = (n: number): Buffer => request('POST', path, { body: JSON.stringify(object(`o-${n}`)) });
    await closedLoop({ target: s.target, connections: CONNECTIONS, durationMs: 120_000, count: OBJECTS, next, expect: 201 }); // prettier-ignore
  }
}

const middle = (parts: readonly Costed[]): Costed => {
  const found = [...parts].sort((a, b) => a.perSecond - b.perSecond)[Math.floor(parts.length / 2)];
  if (found === undefined) throw new Error('Nothing was measured');
  return found;
};

async function pair(
  s: Subject,
  { does, expect, next }: (typeof QUESTIONS)[number],
  [kind, beside]: readonly [Kind, Kind],
  seconds: number,
): Promise<PairedRow> {
  const parts: Readonly<Record<'of' | 'beside', Costed[]>> = { of: [], beside: [] };
  for (let turn = 0; turn <= TURNS; turn++) {
    const [of, other] = [
      await loop(s, expect, (seconds / TURNS) * 1000, next(kind)),
      await loop(s, expect, (seconds / TURNS) * 1000, next(beside)),
    ];
    if (turn === 0) continue; // warm
    parts.of.push(of);
    parts.beside.push(other);
  }
  return {
    scenario: `${does}, ${kind.name}`,
    measured: middle(parts.of),
    besides: { by: beside.name, perSecond: middle(parts.beside).perSecond },
  };
}

/** From the answer to a definition until its resource is served, in milliseconds; the middle of many. */
async function servedAfter(s: Subject): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < DEFINITIONS; n++) {
    const plural = `later${n}s`;
    await post(s, `/apis/${groups.apiextensions}/v1/customresourcedefinitions`, definition(plural, []));
    const from = performance.now();
    await served(s, `/apis/${GROUP}/v1/namespaces/bench/${plural}`);
    took.push(performance.now() - from);
  }
  return took.sort((a, b) => a - b)[Math.floor(DEFINITIONS / 2)] ?? NaN;
}

export interface CustomFigures {
  readonly rows: readonly PairedRow[];
  readonly definitions: number;
  readonly servedAfterMs: number;
}

/** Custom objects beside built-in ones, and what rules and policies cost them. */
export async function customFigures(
  store: string,
  seconds: number,
  etcdUrl: string | undefined,
): Promise<CustomFigures> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-'));
  const args = ['up', '--data-dir', dir, '--secure-port=0', '--log-level=error', `--store=${store}`];
  if (etcdUrl !== undefined) args.push(`--etcd-servers=${etcdUrl}`, `--etcd-prefix=/${dir.replaceAll('/', '-')}`);
  const server = await start(join(import.meta.dirname, '../../../bin/platform'), args);
  try {
    const port = Number(/https:\/\/[^\s]*:(\d+)/.exec(server.line)?.[1]);
    const credentials = { cert: readFileSync(join(dir, 'admin.crt')), key: readFileSync(join(dir, 'admin.key')) };
    const subject: Subject = { target: { host: '127.0.0.1', port, ...credentials }, server };
    await populated(subject);
    const rows: PairedRow[] = [];
    for (const question of QUESTIONS) {
      for (const kinds of question.kinds) rows.push(await pair(subject, question, kinds, seconds));
    }
    return { rows, definitions: DEFINITIONS, servedAfterMs: await servedAfter(subject) };
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
