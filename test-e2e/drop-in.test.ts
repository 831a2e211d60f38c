import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEtcd } from '../services/storage/testing/start-etcd.js';
import { pod } from './api/tools/objects.js';
import { clientFor, credentialsOf, type Client } from './support/client.js';
import { startApiServer, startPlatform, stopped } from './support/platform.js';
import { runProgram } from './support/program.js';
import { removeDirectory, scratchDirectory } from './support/scratch.js';

/** What harnesses that run an API server in tests give it, besides where its store and its files are. */
const FLAGS = [
  '--vocabulary=kubernetes',
  '--advertise-address=127.0.0.1',
  '--insecure-port=0',
  '--disable-admission-plugins=ServiceAccount',
  '--service-cluster-ip-range=10.0.0.0/24',
  '--authorization-mode=RBAC',
];

describe('in the place of another API server', function () {
  this.timeout(90_000);
  let dir: string;
  beforeEach(() => {
    dir = scratchDirectory();
  });
  afterEach(() => removeDirectory(dir));

  /** Runs a server with the flags of a harness; its clients trust what they find in its directory of certificates. */
  async function serving(args: readonly string[], use: (client: Client) => Promise<void>): Promise<void> {
    const tokens = join(dir, 'tokens.csv');
    writeFileSync(tokens, 'secret,admin,1,system:masters\n');
    const files = [
      `--cert-dir=${join(dir, 'certs')}`,
      `--data-dir=${join(dir, 'data')}`,
      `--token-auth-file=${tokens}`,
    ];
    const server = await startApiServer([...FLAGS, ...files, ...args]);
    const ca = readFileSync(join(dir, 'certs/apiserver.crt'), 'utf8');
    const client = clientFor(server.url, { ca, token: 'secret' });
    try {
      await use(client);
    } finally {
      client.close();
      await stopped(server);
    }
  }
  const privileged = pod('p', { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] });
  const PODS = '/api/v1/namespaces/default/pods';

  it('serves from etcd with a certificate that it makes for itself, and with the same one again', async () => {
    const etcd = await startEtcd();
    try {
      const args = [`--etcd-servers=${etcd.url}`, '--allow-privileged=true'];
      await serving(args, async (client) => assert.equal((await client.post(PODS, privileged)).status, 201));
      const made = readFileSync(join(dir, 'certs/apiserver.crt'), 'utf8');
      await serving(args, async (client) => assert.equal((await client.get(`${PODS}/p`)).status, 200));
      assert.equal(readFileSync(join(dir, 'certs/apiserver.crt'), 'utf8'), made);
    } finally {
      await etcd.stop();
    }
  });

  it('needs no etcd with the embedded store, whatever the endpoints are', async () => {
    await serving(['--store=embedded', '--etcd-servers=http://127.0.0.1:1'], async (client) =>
      assert.equal((await client.get('/api/v1/namespaces/default')).status, 200),
    );
  });

  it('refuses privileged containers, also in templates, where they are not allowed', async () => {
    await serving(['--store=embedded', '--allow-privileged=false'], async (client) => {
      const { status, text } = await client.post(PODS, privileged);
      assert.equal(status, 422);
      assert.match(text, /spec.containers\[0\].securityContext.privileged: Forbidden: disallowed by cluster policy/);
      const template = { ...privileged, metadata: { labels: { a: 'b' } } };
      const spec = { selector: { matchLabels: { a: 'b' } }, template };
      const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec };
      const refused = await client.post('/apis/apps/v1/namespaces/default/deployments', deployment);
      assert.match(refused.text, /spec.template.spec.containers\[0\].securityContext.privileged: Forbidden/);
      const plain = await client.post(PODS, pod('q'));
      assert.equal(plain.status, 201, plain.text);
    });
  });

  it('looks at namespaces no more when that is disabled', async () => {
    const inNowhere = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    await serving(['--store=embedded', '--disable-admission-plugins=NamespaceLifecycle'], async (client) =>
      assert.equal((await client.post('/api/v1/namespaces/nowhere/configmaps', inNowhere)).status, 201),
    );
  });

  for (const [flag, message] of [
    ['--insecure-port=8080', /--insecure-port: "8080" is above 0/],
    ['--enable-admission-plugins=Nope', /--enable-admission-plugins: "Nope" choose one of/],
    ['--disable-admission-plugins=Nope', /--disable-admission-plugins: "Nope" choose one of/],
    ['--no-such-flag=1', /^\S+ apiserver: Unknown flag: --no-such-flag=1\n$/],
  ] as const) {
    it(`refuses ${flag} in one line`, async () => {
      const { code, stdout, stderr } = await runProgram(['apiserver', `--cert-dir=${dir}`, flag]);
      assert.deepEqual([code, stdout, stderr.split('\n').length], [2, '', 2]);
      assert.match(stderr, message);
    });
  }

  it('says in one line that half of a pair is missing', async () => {
    writeFileSync(join(dir, 'apiserver.crt'), '');
    const { code, stderr } = await runProgram([
      'apiserver',
      '--store=embedded',
      `--data-dir=${dir}`,
      `--cert-dir=${dir}`,
    ]);
    assert.equal(code, 1);
    assert.match(stderr, /has apiserver.crt without apiserver.key: both are needed, or neither\n$/);
  });

  it('gives the administrator a key that clients of any language read', async () => {
    const running = await startPlatform({ dataDir: dir, args: [`--cert-dir=${join(dir, 'certs')}`] });
    const { ca, cert = '', key = '', server } = credentialsOf(running.kubeconfig);
    const client = clientFor(server, { ca, cert, key });
    try {
      assert.match(key, /^-----BEGIN EC PRIVATE KEY-----\n/);
      assert.equal(ca, readFileSync(join(dir, 'certs/apiserver.crt'), 'utf8'));
      assert.equal((await client.get('/api/v1/namespaces')).status, 200);
    } finally {
      client.close();
      await running.stop();
    }
  });
});
