import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { Connection, request, type Target } from './connection.js';
import { closedLoop } from './load.js';
import type { PairedRow } from './paired-rows.js';
import { cpuMicros, start, type Started } from './processes.js';
import { CONNECTIONS, type Costed } from './scenarios.js';

const words = vocabulary('platform');
/** All servers are measured by turns, so that what the machine does besides hits each of them. */
const TURNS = 6;
const WEBHOOKS = 100;
const NONE = [
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DefaultStorageClass',
  'DefaultTolerationSeconds',
  'LimitRanger',
  'MutatingAdmissionWebhook',
  'NamespaceLifecycle',
  'PersistentVolumeClaimResize',
  'PodSecurity',
  'Priority',
  'ResourceQuota',
  'RuntimeClass',
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'TaintNodesByCondition',
  'ValidatingAdmissionWebhook',
].join(',');

/** A server with something to admit. */
interface Variant {
  readonly name: string;
  readonly flags: readonly string[];
  /** Objects that it has besides its namespace, by the path of their collection. */
  readonly objects: (webhookUrl: string, authority: string) => readonly (readonly [path: string, object: object])[];
  /** Beside which it is measured. */
  readonly beside: string;
}

const CONFIGURATIONS = `/apis/${words.groups.admissionregistration}/v1/validatingwebhookconfigurations`;
const NOTHING = 'no admission';
const DEFAULTS = 'default plugins';

const webhook = (url: string, authority: string, resources: string, count: number): object => ({
  apiVersion: `${words.groups.admissionregistration}/v1`,
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'bench' },
  webhooks: Array.from({ length: count }, (_, n) => ({
    name: `w${n}.example.com`,
    rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: [resources] }],
    clientConfig: { url: `${url}/allow/${n}`, caBundle: Buffer.from(authority).toString('base64') },
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
  })),
});

const VARIANTS: readonly Variant[] = [
  { name: NOTHING, flags: [`--disable-admission-plugins=${NONE}`], objects: () => [], beside: '' },
  { name: DEFAULTS, flags: [], objects: () => [], beside: NOTHING },
  {
    name: 'a webhook that allows all',
    flags: [],
    objects: (url, authority) => [[CONFIGURATIONS, webhook(url, authority, '*', 1)]],
    beside: DEFAULTS,
  },
  {
    name: `${WEBHOOKS} webhooks of which none matches`,
    flags: [],
    objects: (url, authority) => [[CONFIGURATIONS, webhook(url, authority, 'cronjobs', WEBHOOKS)]],
    beside: DEFAULTS,
  },
  {
    name: 'a quota that counts',
    flags: [],
    objects: () => [
      [
        '/api/v1/namespaces/bench/resourcequotas',
        { metadata: { name: 'q' }, spec: { hard: { configmaps: '1000000', pods: '1000000', cpu: '1000000' } } },
      ],
    ],
    beside: DEFAULTS,
  },
];

interface Subject {
  readonly variant: Variant;
  readonly target: Target;
  readonly server: Started;
  readonly dir: string;
}

async function open(variant: Variant, store: string, etcdUrl: string | undefined): Promise<Subject> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-'));
  const args = ['up', '--data-dir', dir, '--secure-port=0', '--log-level=error', `--store=${store}`, ...variant.flags];
  if (etcdUrl !== undefined) args.push(`--etcd-servers=${etcdUrl}`, `--etcd-prefix=/${dir.replaceAll('/', '-')}`);
  const server = await start(join(import.meta.dirname, '../../../bin/platform'), args);
  const port = Number(/https:\/\/[^\s]*:(\d+)/.exec(server.line)?.[1]);
  const [cert, key] = ['admin.crt', 'admin.key'].map((file) => readFileSync(join(dir, file)));
  if (cert === undefined || key === undefined) throw new Error('no credentials');
  return { variant, target: { host: '127.0.0.1', port, cert, key }, server, dir };
}

async function populate({ variant, target, dir }: Subject, bareUrl: string): Promise<void> {
  const connection = await Connection.open(target);
  const post = async (path: string, object: object): Promise<void> => {
    const { code } = await connection.ask(request('POST', path, { body: JSON.stringify(object) }));
    if (code !== 201) throw new Error(`${path}: ${code} ${connection.firstBytes}`);
  };
  await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } });
  for (const [path, object] of variant.objects(bareUrl, readFileSync(join(dir, 'ca.crt'), 'utf8'))) {
    await post(path, object);
  }
  connection.close();
}

const configMap = (n: number): object => ({ metadata: { name: `c-${n}` }, data: { value: 'v'.repeat(900) } });
const pod = (n: number): object => ({
  metadata: { name: `p-${n}`, labels: { app: 'bench' } },
  spec: {
    containers: [{ name: 'main', image: 'image:1', resources: { requests: { cpu: '100m', memory: '64Mi' } } }],
  },
});

const KINDS = [
  { kind: 'ConfigMap', path: '/api/v1/namespaces/bench/configmaps', object: configMap },
  { kind: 'Pod', path: '/api/v1/namespaces/bench/pods', object: pod },
];

let created = 0;

async function creates({ target, server }: Subject, kind: (typeof KINDS)[number], seconds: number): Promise<Costed> {
  const before = cpuMicros(server.pid);
  const measured = await closedLoop({
    target,
    connections: CONNECTIONS,
    durationMs: seconds * 1000,
    expect: 201,
    next: () => request('POST', kind.path, { body: JSON.stringify(kind.object(created++)) }),
  });
  return { ...measured, cpuMicros: (cpuMicros(server.pid) - before) / measured.count };
}

const middle = (parts: readonly Costed[]): Costed => {
  const found = [...parts].sort((a, b) => a.perSecond - b.perSecond)[Math.floor(parts.length / 2)];
  if (found === undefined) throw new Error('Nothing was measured');
  return found;
};

/** What admission costs a creation: servers that differ in what they have to admit, by turns. */
export async function admissionRows(store: string, seconds: number, etcdUrl: string | undefined): Promise<PairedRow[]> {
  const subjects = await Promise.all(VARIANTS.map((variant) => open(variant, store, etcdUrl)));
  const bare = await Promise.all(
    subjects.map(
      ({ dir }) =>
      start(process.execPath, [join(import.meta.dirname, 'bare-server.js'), join(dir, 'apiserver.crt'), join(dir, 'apiserver.key')]), // prettier-ignore
    ),
  );
  try {
    for (const [i, subject] of subjects.entries()) await populate(subject, `https://127.0.0.1:${bare[i]?.line ?? ''}`);
    const rows: PairedRow[] = [];
    for (const kind of KINDS) rows.push(...(await byTurns(subjects, kind, seconds)));
    return rows;
  } finally {
    for (const { server } of subjects) await server.stop();
    for (const server of bare) await server.stop();
    for (const { dir } of subjects) rmSync(dir, { recursive: true, force: true });
  }
}

async function byTurns(
  subjects: readonly Subject[],
  kind: (typeof KINDS)[number],
  seconds: number,
): Promise<PairedRow[]> {
  const parts = new Map<string, Costed[]>(subjects.map(({ variant }) => [variant.name, []]));
  for (const subject of subjects) await creates(subject, kind, seconds / TURNS); // warm
  for (let turn = 0; turn < TURNS; turn++) {
    for (const subject of subjects) {
      parts.get(subject.variant.name)?.push(await creates(subject, kind, seconds / TURNS));
    }
  }
  const found = new Map([...parts].map(([name, costed]) => [name, middle(costed)]));
  return subjects.flatMap(({ variant: { name, beside } }) => {
    const measured = found.get(name);
    const other = found.get(beside);
    if (measured === undefined) return [];
    const besides = other === undefined ? undefined : { by: beside, perSecond: other.perSecond };
    return [{ scenario: `create ${kind.kind}, ${name}`, measured, besides }];
  });
}
