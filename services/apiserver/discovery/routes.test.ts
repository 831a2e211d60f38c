import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { startPathServer, type PathServer } from './testing/path-server.js';

/** Asks for what no client of HTTP would let through. */
async function codeOf(port: number, url: string): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  socket.write(Buffer.from(`GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 'latin1'));
  return Number((await text(socket)).split(' ')[1]);
}

describe('pathRoutes()', () => {
  let server: PathServer;
  before(async () => (server = await startPathServer()));
  after(() => server.close());

  it('lists at / what there is', async () => {
    const paths = (await server.get('/')).json()['paths'] as string[];
    for (const path of [
      '/api',
      '/api/v1',
      '/apis',
      '/apis/apps',
      '/apis/apps/v1',
      '/healthz/ping',
      '/metrics',
      '/version',
    ]) {
      assert.ok(paths.includes(path), path);
    }
    for (const path of paths) assert.equal((await server.get(path)).code, 200, path);
  });

  it('tells its version in a form that clients parse', async () => {
    const version = (await server.get('/version')).json();
    assert.equal(version['major'], '1');
    assert.equal(version['minor'], '24');
    assert.equal(version['gitVersion'], 'v1.24.0');
    for (const member of ['gitCommit', 'gitTreeState', 'buildDate', 'goVersion', 'compiler', 'platform']) {
      assert.equal(typeof version[member], 'string', member);
    }
  });

  it('shows the metrics', async () => {
    const answer = await server.get('/metrics');
    assert.match(answer.headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
    assert.match(answer.text, /^# TYPE apiserver_request_total counter$/m);
  });

  for (const path of ['/nope', '/swaggerapi/x', '/version/x']) {
    it(`has nothing at ${path}`, async () => {
      assert.equal((await server.get(path)).code, 404);
    });
  }

  for (const path of ['/%6detrics', '//metrics', '/livez/../metrics', '/METRICS']) {
    it(`has nothing at ${JSON.stringify(path)}, which looks like another path`, async () => {
      assert.equal(await codeOf(server.port, path), 404);
    });
  }

  it('has no tables but of resources', async () => {
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const codeFor = async (path: string, accept: string): Promise<number> => (await server.get(path, { accept })).code;
    for (const path of ['/api', '/apis', '/api/v1', '/apis/apps', '/apis/apps/v1']) {
      assert.equal(await codeFor(path, table), 406, path);
      assert.equal(await codeFor(path, `${table},application/json`), 200, path);
    }
    assert.equal(await codeFor('/version', table), 200);
  });

  it('takes the whole URL for the path in it', async () => {
    assert.equal(await codeOf(server.port, 'https://[:/version'), 200);
    assert.equal(await codeOf(server.port, 'https://elsewhere/nope'), 404);
    assert.equal(await codeOf(server.port, '/version#x'), 400);
  });

  it('takes a slash at the end', async () => {
    assert.equal((await server.get('/apis/apps/v1/')).json()['groupVersion'], 'apps/v1');
  });

  it('refuses methods that change things', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await server.send(method, '/version');
      assert.equal(answer.code, 405, method);
      assert.equal(answer.json()['reason'], 'MethodNotAllowed');
      assert.equal(answer.headers.allow, 'GET, HEAD');
    }
  });

  it('answers HEAD without a body', async () => {
    const answer = await server.send('HEAD', '/version');
    assert.deepEqual([answer.code, answer.bytes.length], [200, 0]);
  });
});
