import assert from 'node:assert/strict';
import { join } from 'node:path';
import { startEtcd, type EtcdServer } from '../../services/storage/testing/start-etcd.js';
import { startProgram, type Program } from '../support/program.js';
import { created, eventually, ok } from '../api/tools/objects.js';
import type { Client } from '../api/tools/client.js';
import type { Document } from '../api/tools/document.js';
import { TestServer } from '../api/tools/server.js';

const KILLS = 20;
const NAMESPACES = 12;
const DEPENDENTS = 15;
const SHORT_LEASE = [
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];

interface Reference {
  readonly name: string;
}

describe('controllers that are killed while they work', function () {
  this.timeout(240_000);
  let etcd: EtcdServer;
  let server: TestServer;
  let client: Client;
  const replicas: Program[] = [];
  const start = (): Program =>
    startProgram([
      'controller-manager',
      `--kubeconfig=${join(server.directory, 'admin.kubeconfig')}`,
      '--use-service-account-credentials',
      `--root-ca-file=${join(server.directory, 'ca.crt')}`,
      `--service-account-private-key-file=${join(server.directory, 'service-account.key')}`,
      '--bind-address=127.0.0.1',
      '--secure-port=0',
      ...SHORT_LEASE,
    ]);
  before(async () => {
    etcd = await startEtcd();
    server = await TestServer.start({ store: 'etcd', etcdUrl: etcd.url });
    ({ client } = server);
    replicas.push(start(), start());
  });
  after(async () => {
    for (const replica of replicas) replica.kill('SIGKILL');
    await server.close();
    await etcd.stop();
  });

  const make = async (path: string, kind: string, name: string, more: object = {}): Promise<Document> => {
    const [, , group, version] = path.startsWith('/apis/') ? path.split('/') : ['', '', '', ''];
    const apiVersion = path.startsWith('/apis/') ? `${group ?? ''}/${version ?? ''}` : 'v1';
    const { metadata, ...rest } = more as { metadata?: object };
    return created(await client.post(path, { apiVersion, kind, metadata: { name, ...metadata }, ...rest }));
  };
  const itemsAt = async (path: string): Promise<readonly Document[]> => ok(await client.get(path)).items;
  const inNamespace = (i: number, resource: string): string => `/api/v1/namespaces/work-${i}/${resource}`;

  /** One namespace with an account, an owner and its dependents; of the even ones the owner, of every third all is deleted. */
  async function work(i: number): Promise<void> {
    await make('/api/v1/namespaces', 'Namespace', `work-${i}`);
    await make(inNamespace(i, 'serviceaccounts'), 'ServiceAccount', 'robot');
    const owner = await make(inNamespace(i, 'configmaps'), 'ConfigMap', 'owner');
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }];
    for (let n = 0; n < DEPENDENTS; n++) {
      await make(inNamespace(i, 'secrets'), 'Secret', `dependent-${n}`, { metadata: { ownerReferences } });
    }
    if (i % 2 === 0) ok(await client.delete(`${inNamespace(i, 'configmaps')}/owner`));
    if (i % 3 === 0) ok(await client.delete(`/api/v1/namespaces/work-${i}`));
  }

  /** What is wrong with the state that should be; '' when nothing is. */
  async function wrongWith(i: number): Promise<string> {
    const { code } = await client.get(`/api/v1/namespaces/work-${i}`);
    if (i % 3 === 0) return code === 404 ? '' : `namespace ${i} is there`;
    const accounts = await itemsAt(inNamespace(i, 'serviceaccounts'));
    const secrets = await itemsAt(inNamespace(i, 'secrets'));
    const tokens = secrets.filter((it) => it['type'] === 'platform.io/service-account-token');
    const names = accounts.map(({ metadata }) => metadata.name).sort();
    if (names.join() !== 'default,robot') return `accounts of ${i}: ${names.join()}`;
    for (const account of accounts) {
      const own = tokens.filter(({ metadata }) => metadata.annotations?.['platform.io/service-account.uid'] === account.metadata.uid); // prettier-ignore
      const references = ((account['secrets'] ?? []) as readonly Reference[]).map(({ name }) => name);
      if (own.map(({ metadata }) => metadata.name).join() !== references.join() || own.length !== 1) {
        return `tokens of ${account.metadata.name} in ${i}: ${own.length}, references ${references.join()}`;
      }
      if (Object.keys(own[0]?.data ?? {}).length !== 3) return `a token of ${i} is not filled`;
    }
    if (tokens.length !== 2) return `${tokens.length} tokens in ${i}`;
    const dependents = secrets.length - tokens.length;
    if (dependents !== (i % 2 === 0 ? 0 : DEPENDENTS)) return `${dependents} dependents in ${i}`;
    const map = await client.get(`${inNamespace(i, 'configmaps')}/platform-root-ca.crt`);
    return map.code === 200 ? '' : `no authorities in ${i}`;
  }

  it('come to the state that they would have come to', async () => {
    const working = (async (): Promise<void> => {
      for (let i = 0; i < NAMESPACES; i++) await work(i);
    })();
    let kills = 0;
    for (let worked = false; kills < KILLS || !worked;) {
      worked = await Promise.race([
        working.then(() => true),
        new Promise<false>((end) => setTimeout(() => end(false), 400)),
      ]);
      if (kills++ >= KILLS) continue;
      const at = Math.floor(Math.random() * replicas.length);
      const killed = replicas[at];
      killed?.kill('SIGKILL');
      await killed?.exited;
      replicas[at] = start();
    }
    await working;
    let wrong = '';
    await eventually(async () => {
      for (let i = 0; i < NAMESPACES; i++) {
        wrong = await wrongWith(i);
        if (wrong !== '') return undefined;
      }
      return true;
    }, 120_000).catch((err: unknown) => assert.fail(`${wrong}: ${String(err)}`));
  });
});
