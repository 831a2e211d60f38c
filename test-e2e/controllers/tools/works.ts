import { isDeepStrictEqual } from 'node:util';
import { X509Certificate } from 'node:crypto';
import { compactVerify } from 'jose';
import { OpenSsl } from '../../../services/machinery/pki/testing/openssl.js';
import type { Client } from '../../api/tools/client.js';
import type { Document } from '../../api/tools/document.js';
import { configMap, created, eventually, ok, pod } from '../../api/tools/objects.js';
import type { ProcessName } from './processes.js';

/** Pieces of work for the controllers of one process. */
export interface Work {
  /** Makes what the controllers have something to do about. */
  make(i: number): Promise<void>;
  /** What is not as they should leave it; '' when all is. */
  wrong(i: number): Promise<string>;
}

const SYSTEM = '/api/v1/namespaces/platform-system';
const CLUSTER_INFO = '/api/v1/namespaces/platform-public/configmaps/cluster-info';
const REQUESTS = '/apis/certificates.platform.io/v1/certificatesigningrequests';
const ROLES = '/apis/rbac.authorization.platform.io/v1/clusterroles';
/** Longest that a controller takes, with its process killed again and again. */
const PATIENCE_MS = 180_000;
const TOKEN_SECRET = '0123456789abcdef';

/**
 * Work for each process. It needs nothing of another one, and is not in its way.
 *
 * @param hasEvents Whether what is told by events counts: a process that is killed may not come to it.
 */
export function worksOn(client: Client, hasEvents = false): Readonly<Record<ProcessName, Work>> {
  const at = new Objects(client);
  return {
    'certificate-signer': new Certificates(at),
    'token-cleaner': new Tokens(at),
    'role-aggregation': new Roles(at),
    'service-accounts': new Accounts(at),
    'resource-lifecycle': new Lifecycle(at, hasEvents),
  };
}

/** What the tests ask of the server. */
class Objects {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async create(path: string, body: object): Promise<Document> {
    return created(await this.#client.post(path, body));
  }

  /** undefined: there is none. */
  async get(path: string): Promise<Document | undefined> {
    const reply = await this.#client.get(path);
    return reply.code === 404 ? undefined : ok(reply);
  }

  async list(path: string): Promise<readonly Document[]> {
    return ok(await this.#client.get(path)).items;
  }

  async delete(path: string, body?: object): Promise<void> {
    ok(await this.#client.delete(path, body));
  }

  async patch(path: string, change: object): Promise<void> {
    ok(await this.#client.patch(path, change));
  }

  /** Puts the object as it is now, changed; again when a controller was quicker. */
  async put(path: string, subresource: string, change: (object: Document) => object): Promise<void> {
    await eventually(async () => {
      const { code } = await this.#client.put(`${path}/${subresource}`, change(ok(await this.#client.get(path))));
      return code === 200 ? true : undefined;
    }, 30_000);
  }

  namespace(name: string): Promise<Document> {
    return this.create('/api/v1/namespaces', { metadata: { name } });
  }
}

/** The first of the sentences that is not empty. */
const firstOf = async (...sentences: readonly Promise<string>[]): Promise<string> =>
  (await Promise.all(sentences)).find((it) => it !== '') ?? '';

const differs = (what: string, is: unknown, should: unknown): string =>
  isDeepStrictEqual(is, should) ? '' : `${what}: ${JSON.stringify(is)}, not ${JSON.stringify(should)}`;

type Condition = Readonly<Record<'type' | 'reason', string>>;

/** Requests to be signed, to be approved and signed, to be refused, and one whose time is over. */
class Certificates implements Work {
  readonly #at: Objects;
  readonly #of: Readonly<Record<'user' | 'node' | 'serving', string>>;

  constructor(at: Objects) {
    this.#at = at;
    const openssl = new OpenSsl();
    const request = (subject: string, ...more: readonly string[]): string => {
      const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'key'];
      openssl.run('req', '-new', ...key, '-out', 'request', '-subj', subject, ...more);
      return openssl.read('request').toString('base64');
    };
    const node = '/O=system:nodes/CN=system:node:a';
    const serving = request(node, '-addext', 'subjectAltName=DNS:a');
    this.#of = { user: request('/CN=jane'), node: request(node), serving };
    openssl.remove();
  }

  async make(i: number): Promise<void> {
    const usages = ['digital signature', 'key encipherment', 'client auth'];
    const user = { signerName: 'platform.io/apiserver-client', request: this.#of.user, usages };
    const node = { signerName: 'platform.io/apiserver-client-nodeagent', request: this.#of.node, usages };
    const serving = { ...node, signerName: 'platform.io/nodeagent-serving', request: this.#of.serving };
    const wrong = { ...user, usages: [...usages, 'server auth'] };
    for (const [name, spec] of [
      ['user', user],
      ['node', node],
      ['wrong', wrong],
      ['serving', serving],
      ['over', user],
    ] as const) {
      await this.#at.create(REQUESTS, { metadata: { name: `${name}-${i}` }, spec });
    }
    await this.#say(`user-${i}`, 'approval', { type: 'Approved' });
    await this.#say(`wrong-${i}`, 'approval', { type: 'Approved' });
    await this.#say(`serving-${i}`, 'approval', { type: 'Approved' });
    await this.#say(`over-${i}`, 'status', { type: 'Failed', lastUpdateTime: '2020-01-01T00:00:00Z' });
  }

  wrong(i: number): Promise<string> {
    return firstOf(
      this.#signed(`user-${i}`, 'CN=jane', ['Approved ByTest']),
      this.#signed(`node-${i}`, 'O=system:nodes\nCN=system:node:a', ['Approved AutoApproved']),
      this.#signed(`serving-${i}`, 'O=system:nodes\nCN=system:node:a', ['Approved ByTest']),
      this.#signed(`wrong-${i}`, undefined, ['Approved ByTest', 'Failed SignerValidationFailure']),
      this.#at.get(`${REQUESTS}/over-${i}`).then((it) => (it === undefined ? '' : `over-${i} is there`)),
    );
  }

  #say(name: string, subresource: string, condition: object): Promise<void> {
    const conditions = [{ status: 'True', reason: 'ByTest', message: 'the test says so', ...condition }];
    return this.#at.put(`${REQUESTS}/${name}`, subresource, (it) => ({ ...it, status: { conditions } }));
  }

  async #signed(name: string, subject: string | undefined, said: readonly string[]): Promise<string> {
    const { status } = (await this.#at.get(`${REQUESTS}/${name}`)) ?? {};
    const { certificate, conditions = [] } = (status ?? {}) as { certificate?: string; conditions?: Condition[] };
    const signed = certificate === undefined ? undefined : new X509Certificate(Buffer.from(certificate, 'base64'));
    const is = { subject: signed?.subject, said: conditions.map(({ type, reason }) => `${type} ${reason}`).sort() };
    return differs(name, is, { subject, said });
  }
}

/** Tokens that `cluster-info` is signed with; every second one ends soon. */
class Tokens implements Work {
  readonly #at: Objects;

  constructor(at: Objects) {
    this.#at = at;
  }

  async make(i: number): Promise<void> {
    const expiration = new Date(Date.now() + 2_000).toISOString().replace(/\.\d+/, '');
    const stringData = {
      'token-id': this.#id(i),
      'token-secret': TOKEN_SECRET,
      'usage-bootstrap-signing': 'true',
      ...(i % 2 === 1 && { expiration }),
    };
    const metadata = { name: `bootstrap-token-${this.#id(i)}` };
    await this.#at.create(`${SYSTEM}/secrets`, { metadata, type: 'bootstrap.platform.io/token', stringData });
  }

  async wrong(i: number): Promise<string> {
    const id = this.#id(i);
    const secret = await this.#at.get(`${SYSTEM}/secrets/bootstrap-token-${id}`);
    const { kubeconfig = '', [`jws-kubeconfig-${id}`]: jws } = (await this.#at.get(CLUSTER_INFO))?.data ?? {};
    const signed = jws !== undefined && (await isSigned(kubeconfig, jws, `${id}.${TOKEN_SECRET}`));
    return differs(`token ${id}`, [secret !== undefined, signed], i % 2 === 1 ? [false, false] : [true, true]);
  }

  #id(i: number): string {
    return String(i).padStart(6, '0');
  }
}

async function isSigned(text: string, jws: string, key: string): Promise<boolean> {
  const [header = '', , signature = ''] = jws.split('.');
  const whole = `${header}.${Buffer.from(text).toString('base64url')}.${signature}`;
  return compactVerify(whole, Buffer.from(key)).then(
    () => true,
    () => false,
  );
}

/** A role that gathers the rules of three, of which one changes and one goes. */
class Roles implements Work {
  readonly #at: Objects;

  constructor(at: Objects) {
    this.#at = at;
  }

  async make(i: number): Promise<void> {
    const selector = { matchLabels: { gathered: `by-${i}` } };
    await this.#at.create(ROLES, {
      metadata: { name: `whole-${i}` },
      aggregationRule: { clusterRoleSelectors: [selector] },
    });
    for (const part of ['a', 'b', 'c']) {
      const metadata = { name: `part-${i}-${part}`, labels: selector.matchLabels };
      await this.#at.create(ROLES, { metadata, rules: [ruleOf(part)] });
    }
    await this.#at.patch(`${ROLES}/part-${i}-b`, { rules: [ruleOf('d')] });
    await this.#at.delete(`${ROLES}/part-${i}-c`);
  }

  async wrong(i: number): Promise<string> {
    const role = await this.#at.get(`${ROLES}/whole-${i}`);
    return differs(`role ${i}`, role?.['rules'], [ruleOf('a'), ruleOf('d')]);
  }
}

const ruleOf = (resource: string): object => ({ verbs: ['get'], apiGroups: ['example.com'], resources: [resource] });

const TOKEN = 'platform.io/service-account-token';

/** A namespace with an account and a secret that names it, an account that was deleted, and a map of authorities that was spoilt. */
class Accounts implements Work {
  readonly #at: Objects;

  constructor(at: Objects) {
    this.#at = at;
  }

  async make(i: number): Promise<void> {
    const all = this.#in(i);
    await this.#at.namespace(`accounts-${i}`);
    for (const name of ['robot', 'gone']) await this.#at.create(`${all}/serviceaccounts`, { metadata: { name } });
    const annotations = { 'platform.io/service-account.name': 'robot' };
    await this.#at.create(`${all}/secrets`, { metadata: { name: 'mine', annotations }, type: TOKEN });
    const map = `${all}/configmaps/platform-root-ca.crt`;
    await eventually(() => this.#at.get(map), PATIENCE_MS);
    await this.#at.patch(map, { data: { 'ca.crt': 'spoilt' } });
    await eventually(async () => {
      const account = await this.#at.get(`${all}/serviceaccounts/gone`);
      return account?.['secrets'] === undefined ? undefined : true; // the secret that has to go with it
    }, PATIENCE_MS);
    await this.#at.delete(`${all}/serviceaccounts/gone`);
  }

  async wrong(i: number): Promise<string> {
    const accounts = await this.#at.list(`${this.#in(i)}/serviceaccounts`);
    const secrets = await this.#at.list(`${this.#in(i)}/secrets`);
    const map = await this.#at.get(`${this.#in(i)}/configmaps/platform-root-ca.crt`);
    const entries = { type: TOKEN, data: ['ca.crt', 'namespace', 'token'] };
    const is = {
      published: (map?.data['ca.crt'] ?? '').startsWith('-----BEGIN CERTIFICATE'),
      accounts: accounts.map(({ metadata, secrets: references }) => [metadata.name, namesOf(references)]),
      secrets: secrets.map(({ metadata, type, data }) => ({
        type,
        of: metadata.annotations?.['platform.io/service-account.name'],
        name: metadata.name,
        data: Object.keys(data).sort(),
      })),
    };
    const own = (name: string): string[] =>
      is.secrets.filter((it) => it.of === name && it.name !== 'mine').map((it) => it.name);
    return differs(`accounts ${i}`, is, {
      published: true,
      accounts: ['default', 'robot'].map((name) => [name, own(name).slice(0, 1)]),
      secrets: is.secrets.map(({ name, of }) => ({ ...entries, of, name })).slice(0, 3),
    });
  }

  #in(i: number): string {
    return `/api/v1/namespaces/accounts-${i}`;
  }
}

const namesOf = (references: unknown): string[] =>
  ((references ?? []) as readonly { name: string }[]).map(({ name }) => name);

const POLICIES = ['Background', 'Foreground', 'Orphan'] as const;
const DEPENDENTS = ['a', 'b', 'c', 'd'];

/** An owner that is deleted in one of three ways, claims, volumes, a quota, a job whose time is over, a dependent that is misled, and a namespace. */
class Lifecycle implements Work {
  readonly #at: Objects;
  readonly #hasEvents: boolean;

  constructor(at: Objects, hasEvents: boolean) {
    this.#at = at;
    this.#hasEvents = hasEvents;
  }

  async make(i: number): Promise<void> {
    const here = `life-${i}`;
    const all = `/api/v1/namespaces/${here}`;
    const volumes = '/api/v1/persistentvolumes';
    await this.#at.namespace(here);
    await this.#at.create(`${all}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard: { persistentvolumeclaims: '5' } } }); // prettier-ignore
    for (const name of ['used', 'unused']) await this.#at.create(`${all}/persistentvolumeclaims`, claim(name));
    const user = { nodeName: 'n', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'used' } }] };
    await this.#at.create(`${all}/pods`, pod('user', { ...user, containers: [{ name: 'c', image: 'i' }] }));
    for (const name of ['used', 'unused']) await this.#at.delete(`${all}/persistentvolumeclaims/${name}`);
    for (const name of [`bound-${i}`, `free-${i}`]) await this.#at.create(volumes, volume(name));
    await this.#at.put(`${volumes}/bound-${i}`, 'status', (it) => ({ ...it, status: { phase: 'Bound' } }));
    for (const name of [`bound-${i}`, `free-${i}`]) await this.#at.delete(`${volumes}/${name}`);
    await this.#at.patch(`${all}/resourcequotas/q/status`, { status: { used: { persistentvolumeclaims: '4' } } });
    await this.#finishJob(here);
    await this.#mislead(all, i);
    await this.#family(all, POLICIES[i % 3] ?? 'Background');
    await this.#at.namespace(`gone-${i}`);
    for (const name of DEPENDENTS) await this.#at.create(`/api/v1/namespaces/gone-${i}/configmaps`, configMap(name));
    await this.#at.delete(`/api/v1/namespaces/gone-${i}`);
  }

  wrong(i: number): Promise<string> {
    const all = `/api/v1/namespaces/life-${i}`;
    const kept = async (path: string, expected: readonly string[]): Promise<string> => {
      const names = (await this.#at.list(path)).map(({ metadata }) => metadata.name).filter((it) => it.match(/^(bound|free)/) === null || it.endsWith(`-${i}`)); // prettier-ignore
      return differs(path, names, expected);
    };
    const namespace = this.#at.get(`/api/v1/namespaces/gone-${i}`);
    return firstOf(
      kept(`${all}/persistentvolumeclaims`, ['used']),
      kept('/api/v1/persistentvolumes', [`bound-${i}`]),
      kept(`/apis/batch/v1/namespaces/life-${i}/jobs`, []),
      kept(`${all}/configmaps?labelSelector=family`, []),
      this.#dependents(all, POLICIES[i % 3] === 'Orphan'),
      this.#at.get(`${all}/resourcequotas/q`).then((it) => differs(`quota ${i}`, it?.status, { hard: { persistentvolumeclaims: '5' }, used: { persistentvolumeclaims: '1' } })), // prettier-ignore
      this.#misled(all),
      namespace.then((it) => (it === undefined ? '' : `gone-${i} is there`)),
    );
  }

  async #dependents(all: string, areThere: boolean): Promise<string> {
    const found = await this.#at.list(`${all}/secrets?labelSelector=family`);
    const is = found.map(({ metadata }) => [metadata.name, metadata['ownerReferences']]);
    return differs(`dependents in ${all}`, is, areThere ? DEPENDENTS.map((name) => [name, undefined]) : []);
  }

  async #family(all: string, propagationPolicy: string): Promise<void> {
    const labels = { family: 'x' };
    const owner = await this.#at.create(`${all}/configmaps`, configMap('owner', { labels }));
    const { uid } = owner.metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, blockOwnerDeletion: true }];
    for (const name of DEPENDENTS) {
      await this.#at.create(`${all}/secrets`, { metadata: { name, labels, ownerReferences } });
    }
    await this.#at.delete(`${all}/configmaps/owner`, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy });
  }

  /** A dependent of an owner in another namespace. */
  async #mislead(all: string, i: number): Promise<void> {
    const { metadata } = await this.#at.create('/api/v1/namespaces/default/configmaps', configMap(`elsewhere-${i}`));
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: metadata.name, uid: metadata.uid }];
    await this.#at.create(`${all}/configmaps`, configMap('misled', { metadata: { ownerReferences } }));
  }

  async #misled(all: string): Promise<string> {
    const misled = await this.#at.get(`${all}/configmaps/misled`);
    const events = await this.#at.list(`${all}/events?fieldSelector=reason%3DOwnerRefInvalidNamespace`);
    const isTold = !this.#hasEvents || events.length > 0;
    return differs(`misled in ${all}`, [misled === undefined, isTold], [true, true]);
  }

  async #finishJob(namespace: string): Promise<void> {
    const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
    await this.#at.create(jobs, { metadata: { name: 'j' }, spec: { ttlSecondsAfterFinished: 0, template } });
    const time = '2020-01-01T00:00:00Z';
    const conditions = [{ type: 'Complete', status: 'True', lastTransitionTime: time }];
    const status = { startTime: time, completionTime: time, succeeded: 1, conditions };
    await this.#at.put(`${jobs}/j`, 'status', (it) => ({ ...it, status }));
  }
}

const claim = (name: string): object => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});

const volume = (name: string): object => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } },
});
