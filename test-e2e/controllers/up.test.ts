import assert from 'node:assert/strict';
import { join } from 'node:path';
import { eventually } from '../api/tools/objects.js';
import { onServer, TestServer } from '../api/tools/server.js';
import { runProgram } from '../support/program.js';
import { scratchDirectory, removeDirectory } from '../support/scratch.js';

const PATIENCE_MS = 60_000;
const CONFIG_MAP = 'platform-root-ca.crt';
const SYSTEM_ACCOUNTS = '/api/v1/namespaces/platform-system/serviceaccounts';

describe('controllers in the process of up', function () {
  this.timeout(120_000);

  const published = async (server: TestServer, namespace: string): Promise<true> =>
    eventually(async () => {
      const { code } = await server.client.get(`/api/v1/namespaces/${namespace}/configmaps/${CONFIG_MAP}`);
      return code === 200 ? true : undefined;
    }, PATIENCE_MS);
  const newNamespace = async (server: TestServer, name: string): Promise<void> =>
    assert.equal((await server.client.post('/api/v1/namespaces', { metadata: { name } })).code, 201);

  onServer('all of them', { store: 'embedded', controllers: true, accounts: true }, (server) => {
    it('work under service accounts of their own', async () => {
      await newNamespace(server(), 'work');
      await published(server(), 'work');
      assert.equal((await server().client.get(`${SYSTEM_ACCOUNTS}/root-ca-cert-publisher`)).code, 200);
      const { text } = await server().client.get(`/api/v1/namespaces/work/configmaps/${CONFIG_MAP}`);
      assert.match(text, /"manager": *"platform-controller-manager"/);
    });

    it('show their metrics beside those of the server', async () => {
      const { text } = await server().client.get('/metrics');
      assert.match(text, /^workqueue_adds_total\{name="root-ca-cert-publisher"\} [1-9]/m);
      assert.match(text, /^leader_election_master_status|^controller_runtime_reconcile_total\{/m);
      assert.match(text, /^rest_client_requests_total\{code="201",method="POST",host="127\.0\.0\.1:\d+"\} [1-9]/m);
      assert.match(text, /^apiserver_request_total\{/m);
      const types = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
      assert.equal(types.length, new Set(types).size);
    });

    it('end before the server does, with it, and begin with it again', async () => {
      assert.equal(await server().end(), 0);
      await server().run();
      await newNamespace(server(), 'again');
      await published(server(), 'again');
    });
  });

  onServer('those that are named', { store: 'embedded', controllers: ['root-ca-cert-publisher'] }, (server) => {
    it('work, and no others', async () => {
      await newNamespace(server(), 'work');
      await published(server(), 'work');
      const { items } = (await server().client.get(SYSTEM_ACCOUNTS)).body;
      const names = items.map(({ metadata }) => metadata.name);
      assert.ok(names.includes('root-ca-cert-publisher') && !names.includes('namespace-controller'), String(names));
    });
  });

  it('take turns where servers share a store', async () => {
    const controllers = ['root-ca-cert-publisher'];
    const first = await TestServer.start({ store: 'etcd', controllers });
    const etcdUrl = first.etcd?.url ?? assert.fail();
    const second = await TestServer.start({ store: 'etcd', etcdUrl, controllers });
    try {
      await newNamespace(first, 'one');
      await published(first, 'one');
      await first.end();
      await newNamespace(second, 'two');
      await published(second, 'two');
    } finally {
      await second.close();
      await first.close();
    }
  });

  it('are refused by names that there are none of', async () => {
    const dir = scratchDirectory();
    const args = ['up', `--data-dir=${join(dir, 'data')}`, '--secure-port=0', '--controllers=*,nothing'];
    const { code, stderr } = await runProgram(args);
    removeDirectory(dir);
    assert.equal(code, 2);
    assert.match(stderr, /there is no controller "nothing"/);
  });
});
