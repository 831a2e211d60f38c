import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { ExtensionServer, FLUNDERS, GROUP } from './tools/extension-server.js';
import { created, eventually, ok } from './tools/objects.js';
import { TestServer } from './tools/server.js';

const API_SERVICES = '/apis/apiregistration.platform.io/v1/apiservices';
const NAME = `v1.${GROUP}`;
const WHO = `${FLUNDERS}/who`;

/** By which connection somebody is asked, and as whom. */
interface Way {
  readonly port: number;
  readonly user: string;
  /** Of the certificate that the front proxy shows. */
  readonly proxy: string;
}

describe('connections to the servers of APIServices', function () {
  this.timeout(90_000);
  const far = new ExtensionServer();
  let server: TestServer;

  before(async () => {
    await far.start();
    server = await TestServer.start({ store: 'embedded', flags: far.flags() });
    await far.serve(server.client);
    far.answers.set(WHO, ({ socket, headers }, res, { seen }) => {
      const user = headers['x-remote-user'];
      res.end(JSON.stringify({ port: socket.remotePort, user, proxy: seen.at(-1)?.subject }));
    });
    created(await server.client.post(API_SERVICES, far.apiService()));
    await way();
  });
  after(async () => {
    await server.close();
    await far.close();
  });

  const asked = async (method: string, headers: Readonly<Record<string, string>> = {}): Promise<Way> => {
    const o = method === 'GET' ? { headers } : { headers, body: { a: 1 } };
    return JSON.parse((await server.client.request(method, WHO, o)).text) as Way;
  };
  /** The next one that is asked, when there is one. */
  const way = (): Promise<Way> =>
    eventually(async () => {
      const reply = await server.client.get(WHO);
      return reply.code === 200 ? (JSON.parse(reply.text) as Way) : undefined;
    }, 40_000);
  const isOpen = (port: number): boolean => [...far.target.sockets].some(({ remotePort }) => remotePort === port);
  const changed = (from: number): Promise<Way> =>
    eventually(async () => {
      const next = await way();
      return next.port === from ? undefined : next;
    }, 40_000);

  it('carry one request after the other, of all users, each with the name of its own', async () => {
    const ports = new Set<number>();
    for (let i = 0; i < 30; i++) {
      const headers = i % 3 === 0 ? {} : { 'Impersonate-User': `user-${i % 3}`, 'Impersonate-Group': 'system:masters' };
      const { port, user } = await asked(i % 2 === 0 ? 'GET' : 'POST', headers);
      assert.equal(user, i % 3 === 0 ? 'tester' : `user-${i % 3}`);
      ports.add(port);
    }
    assert.ok(ports.size < 15, `${ports.size} connections`);
  });

  it('are not used when other authorities are trusted, and closed', async () => {
    const { port } = await way();
    const caBundle = Buffer.from(`${far.authority.cert}${far.proxies.cert}`).toString('base64');
    ok(await server.client.patch(`${API_SERVICES}/${NAME}`, { spec: { caBundle } }));
    await eventually(() => Promise.resolve(isOpen(port) ? undefined : true));
    assert.notEqual((await changed(port)).port, port);
    ok(await server.client.patch(`${API_SERVICES}/${NAME}`, { spec: { caBundle: far.caBundle } }));
  });

  it('are not used when the front proxy has another certificate, and closed', async () => {
    const { port } = await way();
    far.flags('another-proxy');
    const { port: next } = await eventually(async () => {
      const now = await way();
      return now.proxy === 'another-proxy' ? now : undefined;
    }, 30_000);
    assert.notEqual(next, port);
    await eventually(() => Promise.resolve(isOpen(port) ? undefined : true));
  });

  it('are replaced for a read when they end before its answer, and no write is sent twice', async () => {
    const used = new WeakSet<Socket>();
    const count = { all: 0, cut: 0 };
    far.answers.set(`${FLUNDERS}/cut`, ({ socket }, res) => {
      count.all++;
      if (used.has(socket)) {
        count.cut++;
        socket.destroy();
      } else {
        used.add(socket);
        res.end('{}');
      }
    });
    for (let i = 0; i < 10; i++) assert.equal((await server.client.get(`${FLUNDERS}/cut`)).code, 200);
    assert.ok(count.cut >= 5, JSON.stringify(count));
    assert.equal(count.all, 10 + count.cut);

    Object.assign(count, { all: 0, cut: 0 });
    const codes: number[] = [];
    for (let i = 0; i < 10; i++) codes.push((await server.client.post(`${FLUNDERS}/cut`, {})).code);
    assert.equal(count.all, 10);
    assert.deepEqual(codes.filter((code) => code === 503).length, count.cut);
    assert.equal(codes.filter((code) => code === 200).length, 10 - count.cut);
  });

  it('carry nothing on that a server says before it is asked', async () => {
    const poison = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"poison"';
    far.answers.set(`${FLUNDERS}/two`, ({ socket }) => void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}${poison}`)); // prettier-ignore
    far.answers.set(`${FLUNDERS}/late`, ({ socket }, res) => {
      res.end('{}');
      res.once('finish', () => setImmediate(() => socket.write(poison)));
    });
    for (const name of ['two', 'late']) {
      for (let i = 0; i < 5; i++) {
        const { text } = await server.client.get(`${FLUNDERS}/${name}`);
        assert.ok(!text.includes('poison'));
        assert.equal((await asked('GET')).user, 'tester');
      }
    }
  });
});
