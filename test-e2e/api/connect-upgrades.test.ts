import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Client } from './tools/client.js';
import { type Server, FLAGS, withTarget, podAt, WEBSOCKET, SPDY } from './tools/connecting.js';
import { eventually, newNamespace } from './tools/objects.js';
import { RawConnection, requestHead } from './tools/raw-connection.js';
import { onServer, TestServer } from './tools/server.js';
import { deadPort, echo, httpTarget, tcpTarget } from './tools/targets.js';

function upgrading(server: Server): void {
  it('joins the connections, whatever is spoken on them', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const path = await podAt(client, target);
      const raw = await RawConnection.open(client);
      raw.send(`${requestHead(client, 'GET', `${path}/proxy/chat?a=b`, WEBSOCKET)}early;`);
      await raw.until(/101 Switching Protocols\r\n(?:.*\r\n)*\r\nhello;early;$/);
      raw.send(Buffer.from([0, 255, 13, 10, 13, 10]));
      await raw.until(/early;\x00\xff\r\n\r\n$/);
      const [seen] = target.seen;
      assert.deepEqual([seen?.url, seen?.headers.upgrade, seen?.headers['sec-websocket-key']], ['/chat?a=b', 'websocket', 'a2V5']); // prettier-ignore
      assert.deepEqual([seen?.headers.connection, seen?.headers.authorization], ['Upgrade', undefined]);
      raw.destroy();
      await eventually(() => Promise.resolve(target.sockets.size === 0 ? true : undefined));
    });
  });

  it('closes the client when the target does, with what it said last', async () => {
    const { client } = server();
    const upgrade = (req: IncomingMessage, socket: Socket, head: Buffer): void => {
      echo(req, socket, head);
      socket.unpipe();
      socket.resume().once('data', () => socket.end('x'.repeat(300_000) + 'the end'));
    };
    await withTarget(await httpTarget({ upgrade }), async (target) => {
      const before = server().openSockets;
      const raw = await RawConnection.open(client);
      raw.send(requestHead(client, 'POST', `${await podAt(client, target)}/proxy/`, SPDY));
      await raw.until(/hello;/);
      raw.send('bye');
      assert.match(await raw.closed, /x{1000}the end$/);
      await eventually(() => Promise.resolve(server().openSockets <= before ? true : undefined));
    });
  });

  it('cuts connections on which nothing moves', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const raw = await RawConnection.open(client);
      raw.send(requestHead(client, 'GET', `${await podAt(client, target)}/proxy/`, WEBSOCKET));
      await raw.until(/hello;/);
      await raw.closed;
      await eventually(() => Promise.resolve(target.sockets.size === 0 ? true : undefined));
    });
  });

  it('answers by HTTP what is refused, and closes', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const path = await podAt(client, target);
      const ask = async (head: string): Promise<string> => {
        const raw = await RawConnection.open(client);
        raw.send(head);
        return raw.closed;
      };
      const wrong = new Client(client.url.href, 'wrong');
      assert.match(await ask(requestHead(wrong, 'GET', `${path}/proxy/`, WEBSOCKET)), /^HTTP\/1.1 401 [^]*"code":401/);
      const anonymous = requestHead(client, 'POST', `${path}/exec?command=x`, SPDY).replace(/Authorization.*\r\n/, '');
      assert.match(await ask(anonymous), /^HTTP\/1.1 403 [^]*cannot create resource \\"pods\/exec\\"/);
      const viaGet = requestHead(client, 'GET', `${path}/exec?command=x`, SPDY).replace(/Authorization.*\r\n/, '');
      assert.match(await ask(viaGet), /^HTTP\/1.1 403 [^]*cannot get resource \\"pods\/exec\\"/);
      assert.match(await ask(requestHead(client, 'GET', `${path}x/proxy/`, WEBSOCKET)), /^HTTP\/1.1 404 /);
      const withBody = requestHead(client, 'POST', `${path}/proxy/`, [...SPDY, 'Content-Length: 3']);
      assert.match(await ask(`${withBody}abc`), /^HTTP\/1.1 400 [^]*must not have a body/);
      const dead = await podAt(client, { port: await deadPort() });
      assert.match(await ask(requestHead(client, 'GET', `${dead}/proxy/`, WEBSOCKET)), /^HTTP\/1.1 503 /);
      await withTarget(await tcpTarget((socket) => void socket.resume()), async (silent) => {
        const quiet = requestHead(client, 'GET', `${await podAt(client, silent)}/proxy/`, WEBSOCKET);
        assert.match(await ask(quiet), /^HTTP\/1.1 503 /);
      });
      assert.deepEqual(target.seen, []);
    });
  });

  it('gives back the answer of a target that stays with HTTP', async () => {
    const { client } = server();
    const upgrade = (_req: IncomingMessage, socket: Socket): void => {
      socket.end('HTTP/1.1 403 No\r\nContent-Length: 4\r\nX-Why: x\r\n\r\nnono');
    };
    await withTarget(await httpTarget({ upgrade }), async (target) => {
      const raw = await RawConnection.open(client);
      raw.send(requestHead(client, 'GET', `${await podAt(client, target)}/proxy/`, WEBSOCKET));
      assert.match(await raw.closed, /^HTTP\/1.1 403 [^]*x-why: x\r\n[^]*nono$/);
    });
  });

  it('is a wish that other requests may have, too: they are answered as ever, and their connection stays', async () => {
    const { client } = server();
    const path = `/api/v1/namespaces/${await newNamespace(client)}/configmaps`;
    const raw = await RawConnection.open(client);
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } });
    const h2c = ['Connection: Upgrade, HTTP2-Settings, keep-alive', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__', 'Accept:']; // prettier-ignore
    const post = requestHead(client, 'POST', path, [...h2c, 'Content-Type: application/json', `Content-Length: ${body.length}`]); // prettier-ignore
    raw.send(post + body.slice(0, 10));
    raw.send(body.slice(10));
    await raw.until(/^HTTP\/1.1 201 [^]*"ConfigMap"/);
    raw.send(requestHead(client, 'GET', `${path}/c`, h2c));
    await raw.until(/HTTP\/1.1 200 [^]*"ConfigMap"/);
    raw.send(requestHead(client, 'GET', `${path}/d`, ['Connection: close']));
    assert.match(await raw.closed, /HTTP\/1.1 404 /);
  });

  it('ends when the server does', async () => {
    await withTarget(await httpTarget(), async (target) => {
      const other = await TestServer.start({ store: 'embedded' });
      try {
        const raw = await RawConnection.open(other.client);
        raw.send(requestHead(other.client, 'GET', `${await podAt(other.client, target)}/proxy/`, WEBSOCKET));
        await raw.until(/hello;/);
        assert.equal(await other.end(), 0);
        await raw.closed;
      } finally {
        await other.close();
      }
    });
  });
}

onServer('another protocol', { store: 'embedded', flags: FLAGS }, upgrading);
