import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';

import { startEtcd, type EtcdServer } from '../../services/storage/testing/start-etcd.js';
import { client as clientOf, clientFor, type Client } from '../support/client.js';
import { startPlatform, stopped, type Running } from '../support/platform.js';
import { startProgram, type Program } from '../support/program.js';
import { removeDirectory, scratchDirectory } from '../support/scratch.js';
import { CHART, needsHelm, runHelm, type PodSpec, type Ran } from './helm.js';
import { StandInNode } from './stand-in-node.js';

const NAMESPACE = 'installed';
const READY_MS = 90_000;
const PROCESSES = ['certificate-signer', 'resource-lifecycle', 'role-aggregation', 'service-accounts', 'token-cleaner'];

/** Each step stands on the one before it: a release has one life. */
describe('the chart, installed by Helm into a server of ours', function () {
  this.timeout(180_000);
  const directory = scratchDirectory();
  const processes: Program[] = [];
  const opened: (() => unknown)[] = [];
  let host: Running;
  let admin: Client;
  let node: StandInNode;
  let etcd: EtcdServer;
  let serviceUrl = 'https://127.0.0.1:1';
  let refresh: () => Promise<void>;

  before(async function () {
    needsHelm(this);
    etcd = await startEtcd();
    opened.push(() => etcd.stop());
    host = await startPlatform({ vocabulary: 'kubernetes', accounts: true, controllers: true });
    opened.push(() => host.stop());
    admin = clientOf(host);
    opened.push(() => admin.close());
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await admin.post('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: NAMESPACE, labels },
    });
    await until(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`, 200);
    const { kubeconfig } = host;
    node = new StandInNode({
      client: admin,
      kubeconfig,
      namespace: NAMESPACE,
      directory,
      serviceUrl: () => serviceUrl,
    });
    opened.push(() => node.stop());
  });
  after(async () => {
    await Promise.all(processes.map(stopped));
    for (const close of opened.reverse()) await close();
    removeDirectory(directory);
  });

  const helm = async (command: string, ...args: string[]): Promise<Ran> => {
    const env = { KUBECONFIG: host.kubeconfig, HELM_CACHE_HOME: join(directory, 'helm') };
    return runHelm([command, 'cp', ...args, `--namespace=${NAMESPACE}`], env);
  };
  const succeed = async (...args: Parameters<typeof helm>): Promise<string> => {
    const { code, stdout, stderr } = await helm(...args);
    assert.equal(code, 0, `${stderr}\n${JSON.stringify(node.done.slice(-1))}`);
    return stdout;
  };
  const until = async (path: string, wanted: number): Promise<void> => {
    const end = performance.now() + READY_MS;
    while ((await admin.get(path)).status !== wanted) {
      assert.ok(performance.now() < end, path);
      await sleep(100);
    }
  };
  const get = async <T>(path: string): Promise<T> => JSON.parse((await admin.get(path)).text) as T;
  const secret = async (set: string): Promise<Record<string, string>> =>
    (await get<{ data: Record<string, string> }>(`/api/v1/namespaces/${NAMESPACE}/secrets/cp-platform-${set}`)).data;
  const certificate = async (set: string): Promise<X509Certificate> =>
    new X509Certificate(Buffer.from((await secret(set))['tls.crt'] ?? '', 'base64'));
  interface Deployment {
    readonly spec: { readonly replicas: number; readonly template: { readonly spec: PodSpec } };
  }
  const deployment = (name: string): Promise<Deployment> =>
    get(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/cp-platform-${name}`);
  /** One of the pods of a deployment, with another port. */
  const start = async (name: string): Promise<{ readonly program: Program; readonly refresh: () => Promise<void> }> => {
    const placed = await node.place(name, (await deployment(name)).spec.template.spec);
    const args = placed.args.map((it) => it.replace(/^--secure-port=.*/, '--secure-port=0').replace('$(POD_IP)', '127.0.0.1')); // prettier-ignore
    const program = startProgram([...args, '--bind-address=127.0.0.1']);
    processes.push(program);
    return { program, refresh: placed.refresh };
  };
  const values = (): string[] => ['--set=vocabulary=kubernetes', `--set=etcd.endpoints={${etcd.url}}`];

  it('installs: a job makes keys and certificates before anything else is there', async () => {
    const notes = await succeed('install', CHART, ...values());
    assert.match(notes, /https:\/\/cp-platform\.installed\.svc:443/);
    const [job] = node.done;
    assert.deepEqual([job?.name, job?.code], ['cp-platform-certificates-hook-pod', 0]);
    const server = await certificate('apiserver');
    assert.ok(server.checkHost('cp-platform.installed.svc.cluster.local'));
    assert.ok(server.verify((await certificate('ca')).publicKey));
    assert.equal((await deployment('apiserver')).spec.replicas, 3);
    await until(`/apis/batch/v1/namespaces/${NAMESPACE}/jobs/cp-platform-certificates-hook`, 404);
    await until(`/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles/cp-platform-certificates-hook`, 404);
  });

  it('makes pods that the namespace, which is a restricted one, takes', async () => {
    for (const name of ['apiserver', ...PROCESSES]) {
      const { spec } = (await deployment(name)).spec.template;
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: `try-${name}` }, spec };
      const { status, text } = await admin.post(`/api/v1/namespaces/${NAMESPACE}/pods?dryRun=All`, pod);
      assert.equal(status, 201, text);
    }
    const metadata = { name: 'open' };
    const open = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'a', image: 'b' }] } };
    assert.equal((await admin.post(`/api/v1/namespaces/${NAMESPACE}/pods?dryRun=All`, open)).status, 403);
  });

  it('tells by its test that nothing serves yet', async () => {
    const { code } = await helm('test', '--timeout=1m');
    assert.notEqual(code, 0);
    assert.equal(node.done.at(-1)?.args[1], 'check');
  });

  it('starts a server and every process of controllers as it says, with the files that it mounts', async () => {
    const server = await start('apiserver');
    ({ refresh } = server);
    [, serviceUrl = ''] = await server.program.line(/^ready (https:\S+)$/, READY_MS);
    await Promise.all(PROCESSES.map(async (it) => (await start(it)).program.line(/^ready /, READY_MS)));
    const [ca, cert, key] = ['ca.crt', 'tls.crt', 'tls.key'].map(async (it) => Buffer.from((await secret('admin'))[it] ?? '', 'base64').toString()); // prettier-ignore
    const own = clientFor(serviceUrl, { ca: (await ca) ?? '', cert: (await cert) ?? '', key: (await key) ?? '' });
    try {
      const end = performance.now() + READY_MS;
      for (const name of PROCESSES) {
        const path = `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-${name}`;
        while ((await own.get(path)).status !== 200) {
          assert.ok(performance.now() < end, name);
          await sleep(100);
        }
      }
    } finally {
      own.close();
    }
  });

  it('passes its test', async () => {
    assert.match(await succeed('test', '--timeout=2m'), /Phase:\s+Succeeded/);
  });

  it('upgrades: a certificate is made anew for another host, and a server that runs shows it', async () => {
    const before = await Promise.all(['ca', 'service-account', 'admin'].map(secret));
    await succeed(
      'upgrade',
      CHART,
      ...values(),
      '--set=apiserver.hosts={api.example.com}',
      '--set=apiserver.replicas=5',
    );
    assert.equal((await deployment('apiserver')).spec.replicas, 5);
    assert.deepEqual(await Promise.all(['ca', 'service-account', 'admin'].map(secret)), before);
    await refresh();
    const end = performance.now() + READY_MS;
    while ((await shownBy(serviceUrl)).checkHost('api.example.com') === undefined) {
      assert.ok(performance.now() < end, 'the old certificate is shown');
      await sleep(100);
    }
    await succeed('test', '--timeout=2m');
  });

  it('rolls back', async () => {
    await succeed('rollback', '1');
    assert.equal((await deployment('apiserver')).spec.replicas, 3);
    await succeed('test', '--timeout=2m');
  });

  it('leaves keys and certificates, and nothing else', async () => {
    await succeed('uninstall');
    const left = async (prefix: string, resource: string): Promise<readonly string[]> => {
      const { items } = await get<{ items: { metadata: { name: string } }[] }>(`${prefix}/namespaces/${NAMESPACE}/${resource}`); // prettier-ignore
      return items.map(({ metadata }) => metadata.name).filter((it) => it.startsWith('cp-platform'));
    };
    for (const [prefix, resource] of [
      ['/apis/apps/v1', 'deployments'],
      ['/api/v1', 'services'],
      ['/api/v1', 'configmaps'],
      ['/api/v1', 'serviceaccounts'],
      ['/apis/rbac.authorization.k8s.io/v1', 'roles'],
      ['/apis/batch/v1', 'cronjobs'],
      ['/apis/networking.k8s.io/v1', 'networkpolicies'],
      ['/apis/policy/v1', 'poddisruptionbudgets'],
    ] as const) {
      assert.deepEqual(await left(prefix, resource), [], resource);
    }
    assert.ok((await left('/api/v1', 'secrets')).includes('cp-platform-ca'));
  });
});

/** The certificate that a server shows to a new connection. */
function shownBy(url: string): Promise<X509Certificate> {
  const { hostname: host, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      const { raw } = socket.getPeerCertificate();
      socket.destroy();
      resolve(new X509Certificate(raw));
    });
    socket.once('error', reject);
  });
}
