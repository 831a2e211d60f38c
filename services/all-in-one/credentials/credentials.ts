import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Log } from '../../machinery/log/log.js';
import { machineHosts } from '../../machinery/pki/hosts.js';
import { nameOf, textOf, type CredentialFile } from './files.js';
import type { LeafRequest } from '../../machinery/pki/issue.js';
import type { MakeRequest } from './make.js';
import { isEmpty, planOf, type Plan, type Texts } from './plan.js';

export interface CredentialOptions {
  /** Exists, and is this process's alone. */
  readonly directory: string;
  readonly vocabulary: Vocabulary;
  /** Host names and addresses for the serving certificate, besides the usual ones. */
  readonly hosts: readonly string[];
  readonly log: Log;
}

export const ADMIN = 'admin';
/** By this name servers behind this one know it. */
export const FRONT_PROXY = 'front-proxy-client';
/** Members may do everything, whatever the authorizers say. */
const ADMIN_GROUP = 'system:masters';

const KEPT = [
  'caKey',
  'caCert',
  'servingKey',
  'servingCert',
  'adminKey',
  'adminCert',
  'controllersKey',
  'controllersCert',
  'frontProxyCa',
  'frontProxyKey',
  'frontProxyCert',
  'serviceAccountKey',
  'serviceAccountPublic',
] as const satisfies readonly CredentialFile[];

/**
 * Makes the credentials that are missing, or that no longer serve, in `directory`.
 *
 * The work is done in a thread of its own: it takes some 40 ms, most of them waiting for the disk, in which the caller can
 * load the server.
 *
 * @throws {Error} In one line, when a file cannot be used, read or written.
 */
export async function ensureCredentials(o: CredentialOptions): Promise<void> {
  const leaves = leafRequests(o);
  const texts = readTexts(o.directory);
  const { serving, admin, controllers, frontProxy } = leaves;
  const wanted = {
    serving: wantedOf(serving),
    admin: wantedOf(admin),
    controllers: wantedOf(controllers),
    frontProxy: wantedOf(frontProxy),
  };
  const plan = planOf(texts, wanted, new Date());
  if (isEmpty(plan)) return;
  const authorityName = `${o.vocabulary.defaultServiceName}-ca`;
  await inThread({ directory: o.directory, plan, texts, authorityName, leaves });
  tell(o.log, plan);
}

function leafRequests({ vocabulary, hosts }: CredentialOptions): MakeRequest['leaves'] {
  const services = vocabulary.serviceHostNames;
  const names = [...machineHosts(), ...services, `${services.at(-1) ?? ''}.cluster.local`];
  return {
    serving: {
      commonName: vocabulary.serverName,
      hosts: [...new Set([...names, ...hosts])],
      usage: 'serverAuth',
    },
    admin: { organization: ADMIN_GROUP, commonName: ADMIN, hosts: [], usage: 'clientAuth' },
    frontProxy: { commonName: FRONT_PROXY, hosts: [], usage: 'clientAuth' },
    controllers: { commonName: `system:${vocabulary.controllerManagerName}`, hosts: [], usage: 'clientAuth' },
  };
}

const wantedOf = ({
  organization,
  commonName,
  hosts,
}: Omit<LeafRequest, 'key'>): { subject: string; hosts: readonly string[] } => ({
  subject: [...(organization === undefined ? [] : [`O=${organization}`]), `CN=${commonName}`].join('\n'),
  hosts,
});

function readTexts(directory: string): Texts {
  const found = KEPT.map((file) => [file, textOf(directory, file)] as const);
  return Object.fromEntries(found.filter(([, text]) => text !== undefined));
}

function tell(log: Log, { authority, leaves, frontProxy, serviceAccount }: Plan): void {
  if (authority !== undefined) log.info('Authority made', { file: nameOf('caCert'), ...authority });
  for (const [leaf, why] of Object.entries(leaves)) log.info('Certificate made', { certificate: leaf, why });
  if (frontProxy !== undefined) log.info('Certificate made', { certificate: FRONT_PROXY, why: frontProxy });
  if (serviceAccount !== undefined) log.info('Service account key made', { file: nameOf('serviceAccountKey') });
}

async function inThread(request: MakeRequest): Promise<void> {
  const worker = new Worker(new URL('./make-worker.js', import.meta.url), { workerData: request });
  const [code] = (await once(worker, 'exit')) as [number]; // an error of the thread rejects this
  if (code !== 0) throw new Error(`The thread that makes credentials ended with ${code}`);
}
