import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { clientFor, credentialsOf, type Answer, type Credentials } from './support/client.js';
import { startPlatform, type Running } from './support/platform.js';
import { removeDirectory, scratchDirectory } from './support/scratch.js';

const TOKENS = '# a comment\nsecret-1,ann,1,"dev,system:masters"\nsecret-2,bob,2\n';

describe('credentials', function () {
  this.timeout(90_000);
  const dataDir = scratchDirectory();
  let server: Running;
  let ca: string;

  before(async () => {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'tokens.csv'), TOKENS);
    server = await startPlatform({ dataDir, args: [`--token-auth-file=${join(dataDir, 'tokens.csv')}`] });
    ca = credentialsOf(server.kubeconfig).ca;
  });
  after(async () => {
    await server.stop();
    removeDirectory(dataDir);
  });

  async function get(
    path: string,
    credentials: Partial<Credentials>,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const client = clientFor(server.url, { ca, ...credentials });
    try {
      return await client.request('GET', path, { headers });
    } finally {
      client.close();
    }
  }

  it('let the administrator in by certificate', async () => {
    const { cert = '', key = '' } = credentialsOf(server.kubeconfig);
    assert.equal((await get('/api/v1/namespaces', { cert, key })).status, 200);
  });

  it('let in who has a token of the file, with and without groups', async () => {
    assert.equal((await get('/api/v1/namespaces', { token: 'secret-1' })).status, 200);
    const bob = await get('/api/v1/namespaces', { token: 'secret-2' });
    assert.match(String(bob.json()['message']), /User "bob" cannot list resource "namespaces"/);
  });

  it('refuse a wrong token, whatever its form', async () => {
    for (const authorization of [
      'Bearer wrong',
      'Bearer',
      'Bearer ',
      'Bearer secret-1 x',
      'Basic c2VjcmV0LTE=',
      'secret-1',
      'Bearer secret-1,',
    ]) {
      const answer = await get('/api/v1/namespaces', {}, { authorization });
      assert.equal(answer.status, 401, authorization);
      assert.equal(answer.json()['reason'], 'Unauthorized');
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
      assert.doesNotMatch(answer.text + server.stderr(), /secret-1/, 'a token must not come back');
    }
  });

  it('refuse nobody in particular everything but health and version', async () => {
    const answer = await get('/api/v1/namespaces', {});
    assert.deepEqual([answer.status, answer.json()['reason']], [403, 'Forbidden']);
    assert.match(
      String(answer.json()['message']),
      /User "system:anonymous" cannot list resource "namespaces" in API group "" at the cluster scope/,
    );
    for (const path of ['/apis', '/metrics', '/openapi/v3', '/', '/healthzz', '/readyz/ping'])
      assert.equal((await get(path, {})).status, 403, path);
    for (const path of ['/healthz', '/livez', '/readyz', '/version'])
      assert.equal((await get(path, {})).status, 200, path);
  });

  it('refuse the certificate of a stranger', async () => {
    const [key, cert] = ['stranger.key', 'stranger.crt'].map((name) => join(dataDir, name));
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'],
        ...['-subj', '/O=system:masters/CN=admin', '-keyout', key ?? '', '-out', cert ?? ''],
      ],
      { stdio: 'ignore' },
    );
    const stranger = { cert: readFileSync(cert ?? '', 'utf8'), key: readFileSync(key ?? '', 'utf8') };
    assert.equal((await get('/api/v1/namespaces', stranger)).status, 401);
  });

  it('give new connections a changed serving certificate', async () => {
    const shown = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false }, () => {
          resolve(String(socket.getPeerCertificate().subject.CN));
          socket.destroy();
        });
        socket.once('error', reject);
      });
    const before = await shown();
    for (const kind of ['crt', 'key']) copyFileSync(join(dataDir, `admin.${kind}`), join(dataDir, `apiserver.${kind}`));
    const deadline = Date.now() + 20_000;
    let now = before;
    while (now === before && Date.now() < deadline) now = await shown();
    assert.notEqual(now, before);
  });
});
