import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { request } from './connection.js';
import { start } from './processes.js';
import { paired, type PairedRow, type Row, type SuiteOptions } from './rows.js';
import { post, startServer, type BenchServer } from './server.js';
import { byTurns, type Asked } from './turns.js';

const words = vocabulary('platform');
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
  readonly server: BenchServer;
}

async function open(variant: Variant, store: string, etcdUrl: string | undefined): Promise<Subject> {
  return { variant, server: await startServer({ store, etcdUrl, flags: variant.flags }) };
}

async function populate({ variant, server: { target, directory } }: Subject, bareUrl: string): Promise<void> {
  const ca = readFileSync(join(directory, 'ca.crt'), 'utf8');
  await post(target, [
    ['/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } }],
    ...variant.objects(bareUrl, ca),
  ]);
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

const creates = ({ server: { target, process } }: Subject, { path, object }: (typeof KINDS)[number]): Asked => ({
  targets: [target],
  pids: [process.pid],
  expect: 201,
  next: () => request('POST', path, { body: JSON.stringify(object(created++)) }),
});

/** What admission costs a creation: servers that differ in what they have to admit, by turns. */
export async function admissionRows({ store, seconds, etcdUrl }: SuiteOptions): Promise<Row[]> {
  const subjects = await Promise.all(VARIANTS.map((variant) => open(variant, store, etcdUrl)));
  const bare = await Promise.all(
    subjects.map(
      ({ server: { directory: dir } }) =>
      start(process.execPath, [join(import.meta.dirname, 'bare-server.js'), join(dir, 'apiserver.crt'), join(dir, 'apiserver.key')]), // prettier-ignore
    ),
  );
  try {
    for (const [i, subject] of subjects.entries()) await populate(subject, `https://127.0.0.1:${bare[i]?.line ?? ''}`);
    const rows: PairedRow[] = [];
    for (const kind of KINDS) rows.push(...(await rowsOf(subjects, kind, seconds)));
    return paired(store, rows);
  } finally {
    for (const { server } of subjects) await server.stop();
    for (const server of bare) await server.stop();
  }
}

async function rowsOf(
  subjects: readonly Subject[],
  kind: (typeof KINDS)[number],
  seconds: number,
): Promise<PairedRow[]> {
  const measuredOf = await byTurns(
    subjects.map((it) => creates(it, kind)),
    seconds,
  );
  const found = new Map(subjects.map(({ variant }, i) => [variant.name, measuredOf[i]]));
  return subjects.flatMap(({ variant: { name, beside } }) => {
    const measured = found.get(name);
    const other = found.get(beside);
    if (measured === undefined) return [];
    const besides = other === undefined ? undefined : { by: beside, perSecond: other.perSecond };
    return [{ scenario: `create ${kind.kind}, ${name}`, measured, besides }];
  });
}
