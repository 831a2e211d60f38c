import assert from 'node:assert/strict';
import { ExtensionServer, FLUNDERS, GROUP } from './tools/extension-server.js';
import { created, eventually, ok, refused } from './tools/objects.js';
import { TestServer } from './tools/server.js';
import { ownAddress } from './tools/targets.js';

const API_SERVICES = '/apis/apiregistration.platform.io/v1/apiservices';
const ENDPOINTS = '/api/v1/namespaces/default/endpoints/far';
const HUGE = 'x'.repeat(200_000);

/** Answers that are none, as they stand on the wire. */
const GARBAGE: Readonly<Record<string, string>> = {
  'no HTTP': 'SSH-2.0-OpenSSH_9.6\r\n\r\n',
  'huge headers': `HTTP/1.1 200 OK\r\nX-Huge: ${HUGE}\r\nContent-Length: 2\r\n\r\n{}`,
  'a status that is none': 'HTTP/1.1 abc OK\r\nContent-Length: 2\r\n\r\n{}',
  'two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\n{}',
  'a length and chunks':
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'another protocol, unasked': 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
};

describe('servers of APIServices that fail', function () {
  this.timeout(90_000);
  let far = new ExtensionServer();
  let server: TestServer;

  before(async () => {
    await far.start();
    const flags = [...far.flags(), '--request-timeout=4s'];
    server = await TestServer.start({ store: 'embedded', flags });
    await far.serve(server.client);
    created(await server.client.post(API_SERVICES, far.apiService()));
    await serves();
  });
  after(async () => {
    await server.close();
    await far.close();
  });

  const serves = (): Promise<true> =>
    eventually(async () => ((await server.client.get(FLUNDERS)).code === 200 ? true : undefined), 40_000);

  for (const [what, bytes] of Object.entries(GARBAGE)) {
    it(`are not passed on when they answer with ${what}`, async () => {
      far.answers.set(`${FLUNDERS}/garbage`, ({ socket }) => void socket.end(bytes, 'latin1'));
      const { message } = refused(await server.client.get(`${FLUNDERS}/garbage`), 503, 'ServiceUnavailable');
      assert.match(message, /^error trying to reach service: /);
      assert.ok(message.length < 300, message);
      await serves();
    });
  }

  it('are not waited for longer than a request may take, nor longer than the client waits', async () => {
    let open = 0;
    far.answers.set(`${FLUNDERS}/hang`, ({ socket }) => {
      open++;
      socket.once('close', () => open--);
    });
    refused(await server.client.get(`${FLUNDERS}/hang`), 504, 'Timeout');
    const leaving = new AbortController();
    const left = server.client.request('GET', `${FLUNDERS}/hang`, { signal: leaving.signal });
    const watched = server.client.request('GET', `${FLUNDERS}/hang?watch=true`, { signal: leaving.signal });
    await eventually(() => Promise.resolve(open === 2 ? true : undefined));
    leaving.abort();
    await Promise.all([left, watched].map((it) => assert.rejects(it)));
    await eventually(() => Promise.resolve(open === 0 ? true : undefined));
    await serves();
  });

  it('cut an answer that they do not finish', async () => {
    far.answers.set(`${FLUNDERS}/half`, (_req, res) => {
      res.writeHead(200, { 'content-length': '100' });
      res.write('{"a":', () => res.destroy());
    });
    await assert.rejects(server.client.get(`${FLUNDERS}/half`));
    await serves();
  });

  it('may come back elsewhere while a watch runs, which ends and can be begun again', async () => {
    const watch = await server.client.watch(`${FLUNDERS}?watch=true`);
    await eventually(() => Promise.resolve(far.watches.size === 1 ? true : undefined));
    const old = far;
    far = new ExtensionServer();
    far.takesAny = true;
    await far.start();
    await old.close();
    await watch.ended;
    const subsets = [{ addresses: [{ ip: ownAddress() }], ports: [{ port: far.target.port, name: 'https' }] }];
    ok(await server.client.patch(ENDPOINTS, { subsets }));
    ok(await server.client.patch(`${API_SERVICES}/v1.${GROUP}`, { spec: { caBundle: far.caBundle } }));
    await serves();
    const again = await server.client.watch(`${FLUNDERS}?watch=true`);
    await eventually(() => Promise.resolve(far.watches.size === 1 ? true : undefined));
    far.tell('ADDED', 'b');
    assert.equal((await again.next()).object.metadata.name, 'b');
    again.close();
  });
});
