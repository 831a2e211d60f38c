import { setTimeout as sleep } from 'node:timers/promises';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { Connection, request } from './connection.js';
import { closedLoop } from './load.js';
import { paired, row, type PairedRow, type Row, type SuiteOptions } from './rows.js';
import { CONNECTIONS, OBJECTS } from './scenarios.js';
import { post, startServer, type BenchServer } from './server.js';
import { byTurns, type Asked } from './turns.js';

const { groups } = vocabulary('platform');
const GROUP = 'bench.example.com';
const VALUE = 'v'.repeat(900);
const DEFINITIONS = 200;
const MOST_UNTIL_SERVED_MS = 100;

/** Objects of one size, of a kind that is built in and of kinds that are defined, and what admits them. */
export interface Kind {
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

export const BUILT_IN: Kind = {
  name: 'ConfigMaps',
  path: '/api/v1/namespaces/bench/configmaps',
  object: (name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { app: 'bench' } },
    data: { value: VALUE, replicas: '3', limit: '5' },
  }),
};
export const PLAIN = custom('plains', 'custom objects');
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

export const definition = (plural: string, rules: readonly string[], group = GROUP): object => ({
  apiVersion: `${groups.apiextensions}/v1`,
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
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

/** Waits until a path is there: a definition is served once its names are accepted. */
export async function served({ target }: BenchServer, path: string): Promise<void> {
  const connection = await Connection.open(target);
  let code = 0;
  for (let tries = 0; code !== 200 && tries < 3_000; tries++) {
    ({ code } = await connection.ask(request('GET', `${path}?limit=1`)));
    if (code !== 200) await sleep(5);
  }
  connection.close();
  if (code !== 200) throw new Error(`${path} is not served: ${code}`);
}

let made = 0;
/** What is asked of every kind, beside the same of another one. */
interface Question {
  readonly does: string;
  readonly expect: number;
  readonly next: (kind: Kind) => (n: number) => Buffer;
}

const QUESTIONS: readonly (Question & { readonly kinds: readonly (readonly [Kind, Kind])[] })[] = [
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

export const DEFINED = `/apis/${groups.apiextensions}/v1/customresourcedefinitions`;
const POLICIES = `/apis/${groups.admissionregistration}/v1/validatingadmission`;

/** @param count Objects of the built-in kind, and of a defined one. */
export async function populated(s: BenchServer, count: number): Promise<void> {
  await post(s.target, [
    ['/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } }],
    [DEFINED, definition('plains', [])],
    [DEFINED, definition('ruleds', RULES)],
    [DEFINED, definition('admitteds', [])],
    [`${POLICIES}policies`, POLICY],
    [`${POLICIES}policybindings`, BINDING],
  ]);
  for (const { path } of [PLAIN, RULED, ADMITTED]) await served(s, path);
  for (const { path, object } of [PLAIN, BUILT_IN]) {
    const next = (n: number): Buffer => request('POST', path, { body: JSON.stringify(object(`o-${n}`)) });
    await closedLoop({ targets: [s.target], connections: CONNECTIONS, durationMs: 600_000, count, next, expect: 201 });
  }
}

export async function pair(
  { target, process }: BenchServer,
  { does, expect, next }: Question,
  [kind, beside]: readonly [Kind, Kind],
  seconds: number,
): Promise<PairedRow> {
  const asked = (of: Kind): Asked => ({ targets: [target], pids: [process.pid], expect, next: next(of) });
  const [measured, other] = await byTurns([asked(kind), asked(beside)], seconds);
  if (measured === undefined || other === undefined) throw new Error('Nothing was measured');
  const besides = { by: beside.name, perSecond: other.perSecond };
  return { scenario: `${does}, ${kind.name}`, measured, besides };
}

/** From the answer to a definition until its resource is served, in milliseconds; the middle of many. */
export async function servedAfter(s: BenchServer, count: number): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < count; n++) {
    const plural = `later${n}s`;
    await post(s.target, [[DEFINED, definition(plural, [])]]);
    const from = performance.now();
    await served(s, `/apis/${GROUP}/v1/namespaces/bench/${plural}`);
    took.push(performance.now() - from);
  }
  return took.sort((a, b) => a - b)[Math.floor(count / 2)] ?? NaN;
}

/** Custom objects beside built-in ones, and what rules and policies cost them. */
export async function customRows({ store, seconds, etcdUrl }: SuiteOptions): Promise<Row[]> {
  const server = await startServer({ store, etcdUrl });
  try {
    await populated(server, OBJECTS);
    const rows: PairedRow[] = [];
    for (const question of QUESTIONS) {
      for (const kinds of question.kinds) rows.push(await pair(server, question, kinds, seconds));
    }
    const aim = { value: MOST_UNTIL_SERVED_MS, by: 'aim' };
    const name = `custom objects, served after their definition, ${DEFINITIONS} of them`;
    return [...paired(store, rows), row(store, name, 'ms', await servedAfter(server, DEFINITIONS), aim)];
  } finally {
    await server.stop();
  }
}
