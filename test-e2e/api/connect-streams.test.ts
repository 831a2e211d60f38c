import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Reply } from './tools/client.js';
import { type Server, FLAGS, withTarget, podAt, seenBy, openRequest, WEBSOCKET } from './tools/connecting.js';
import { Http2Client } from './tools/http2-client.js';
import { eventually, ok, refused } from './tools/objects.js';
import { RawConnection, requestHead } from './tools/raw-connection.js';
import { onServer } from './tools/server.js';
import { deadPort, httpTarget, tcpTarget } from './tools/targets.js';

/** The connection ended within the answer. */
const brokenOff = (reply: Promise<Reply>): Promise<void> =>
  assert.rejects(reply, (err) => err instanceof Error && 'code' in err && err.code === 'ECONNRESET');

function streaming(server: Server): void {
  it('gives pieces of an answer on as they come', async () => {
    const { client } = server();
    let held: ServerResponse | undefined;
    const answer = (_req: IncomingMessage, res: ServerResponse): void => {
      held = res;
      res.flushHeaders();
    };
    await withTarget(await httpTarget({ answer }), async (target) => {
      const { req, res } = await openRequest(client, 'GET', `${await podAt(client, target)}/proxy/`);
      req.end();
      const reply = await res;
      for (const piece of ['one', 'two']) {
        held?.write(piece);
        const [part] = (await once(reply, 'data')) as [Buffer];
        assert.equal(part.toString(), piece);
      }
      held?.end();
      await once(reply, 'end');
    });
  });

  it('gives pieces of a body on as they come, and an answer before the body is complete', async () => {
    const { client } = server();
    const heard: string[] = [];
    const answer = (req: IncomingMessage, res: ServerResponse): void => {
      req.on('data', (part: Buffer) => {
        heard.push(part.toString());
        if (heard.length === 1) res.write('go on');
        else res.end();
      });
    };
    await withTarget(await httpTarget({ answer, early: true }), async (target) => {
      const { req, res } = await openRequest(client, 'POST', `${await podAt(client, target)}/proxy/`);
      req.write('first');
      const [part] = (await once(await res, 'data')) as [Buffer];
      assert.equal(part.toString(), 'go on');
      req.end('second');
      await once(await res, 'end');
      assert.deepEqual(heard, ['first', 'second']);
    });
  });

  it('carries many megabytes either way, no faster than they are taken', async () => {
    const { client } = server();
    const BYTES = 48 * 1024 * 1024;
    let sent = 0;
    const answer = (_req: IncomingMessage, res: ServerResponse): void => {
      const fill = (): void => {
        while (sent < BYTES) {
          sent += 65_536;
          if (!res.write(Buffer.alloc(65_536, 120))) {
            res.once('drain', fill);
            return;
          }
        }
        res.end();
      };
      fill();
    };
    await withTarget(await httpTarget({ answer, early: true }), async (target) => {
      const { req, res } = await openRequest(client, 'GET', `${await podAt(client, target)}/proxy/`);
      req.end();
      const reply = await res;
      let before = -1;
      await eventually(async () => {
        const stands = sent === before; // nobody reads: the target has to wait
        before = sent;
        return Promise.resolve(stands ? true : undefined);
      });
      assert.ok(sent < BYTES, `${sent} bytes were buffered somewhere`);
      let got = 0;
      reply.on('data', (part: Buffer) => (got += part.length));
      await once(reply, 'end');
      assert.equal(got, sent);
    });
  });

  it('answers 503 where nobody listens, where nobody speaks TLS, and where nobody answers', async () => {
    const { client } = server();
    const path = await podAt(client, { port: await deadPort() });
    refused(
      await client.get(`${path}/proxy/`),
      503,
      'ServiceUnavailable',
      /error trying to reach service: dial tcp .*connection refused/,
    );
    await withTarget(await tcpTarget((socket) => void socket.resume()), async (silent) => {
      const quiet = await podAt(client, silent);
      refused(await client.get(`${quiet}/proxy/`), 503, 'ServiceUnavailable', /timed out waiting for an answer/);
      refused(await client.post(`${quiet}/proxy/`, 'x'), 503, 'ServiceUnavailable', /timed out waiting for an answer/);
      const https = quiet.replace(/p$/, 'https:p:web');
      refused(await client.get(`${https}/proxy/`), 503, 'ServiceUnavailable', /dial tcp .*i\/o timeout/);
      await eventually(() => Promise.resolve(silent.sockets.size === 0 ? true : undefined));
    });
    const rude = await tcpTarget((socket) => socket.once('data', () => socket.end('HTTP/1.1 abc nonsense\r\n\r\n')));
    await withTarget(rude, async (target) => {
      const reply = await client.get(`${await podAt(client, target)}/proxy/`);
      refused(reply, 503, 'ServiceUnavailable', /error trying to reach service/);
    });
    for (const head of ['HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n', '']) {
      await withTarget(await tcpTarget((socket) => socket.once('data', () => socket.end(head))), async (target) => {
        refused(await client.get(`${await podAt(client, target)}/proxy/`), 503, 'ServiceUnavailable');
      });
    }
  });

  it('breaks off an answer that its target breaks off, on both protocols', async () => {
    const { client } = server();
    const answer = (_req: IncomingMessage, res: ServerResponse): void => {
      res.writeHead(200, { 'Content-Length': 100 });
      res.write('half', () => res.destroy());
    };
    await withTarget(await httpTarget({ answer }), async (target) => {
      const path = await podAt(client, target);
      await brokenOff(client.get(`${path}/proxy/`));
      const h2 = await Http2Client.connect(client);
      try {
        await assert.rejects(h2.request('GET', `${path}/proxy/`), /NGHTTP2_INTERNAL_ERROR|aborted/);
        ok(await h2.request('GET', path)); // the connection is still good
      } finally {
        h2.close();
      }
    });
  });

  it('cuts an answer in which nothing moves any more', async () => {
    const { client } = server();
    const answer = (_req: IncomingMessage, res: ServerResponse): void => void res.write('begun');
    await withTarget(await httpTarget({ answer }), async (target) => {
      const began = Date.now();
      await brokenOff(client.get(`${await podAt(client, target)}/proxy/`));
      assert.ok(Date.now() - began < 10_000, 'the client lost patience first');
      await eventually(() => Promise.resolve(target.sockets.size === 0 ? true : undefined));
    });
  });

  it('passes on requests of HTTP/2, with bodies of any length', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const path = await podAt(client, target);
      const h2 = await Http2Client.connect(client);
      try {
        const cases = [
          ['GET', undefined],
          ['POST', 'abc'],
          ['DELETE', undefined],
          ['PUT', 'x'.repeat(200_000)],
        ] as const;
        for (const [method, body] of cases) {
          const options = body === undefined ? {} : { body, type: 'text/plain' };
          const seen = seenBy(await h2.request(method, `${path}/proxy/a?b`, options));
          assert.deepEqual([seen.method, seen.url, seen.body], [method, '/a?b', body ?? '']);
          assert.equal(seen.headers.authorization, undefined);
          assert.equal(seen.headers.host, client.url.host);
        }
        refused(await h2.request('GET', `${path}/exec?command=ls`), 400, 'BadRequest', /does not have a host/);
      } finally {
        h2.close();
      }
    });
  });

  it('frames the body of a method that has none, so that it is no request of its own', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const path = await podAt(client, target);
      const h2 = await Http2Client.connect(client);
      const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
      const headers = { ':method': 'GET', ':path': `${path}/proxy/a`, authorization: `Bearer ${client.token}` };
      const stream = h2.session.request(headers, { endStream: false });
      stream.end(smuggled);
      stream.resume();
      await once(stream, 'close');
      h2.close();
      assert.deepEqual(target.seen.map(({ url, body }) => [url, body]), [['/a', smuggled]]); // prettier-ignore
    });
  });

  it('counts them as long-running, and under no load', async () => {
    const { client } = server();
    const answer = (_req: IncomingMessage, res: ServerResponse): void => void res.write('begun');
    await withTarget(await httpTarget({ answer }), async (target) => {
      const { req, res } = await openRequest(client, 'GET', `${await podAt(client, target)}/proxy/`);
      req.end();
      await res;
      const labels = { verb: 'CONNECT', subresource: 'proxy' };
      assert.equal(await server().metric('apiserver_longrunning_requests', labels), 1);
      assert.equal(await server().metric('apiserver_current_inflight_requests', { request_kind: 'mutating' }), 0);
      req.destroy();
    });
  });
}

/** With times so long that nothing but the client's leaving ends anything. */
function leaving(server: Server): void {
  for (const [title, begun] of [
    ['before the target has answered', false],
    ['in the middle of the answer', true],
  ] as const) {
    it(`lets go of the target when the client goes away ${title}`, async () => {
      const { client } = server();
      const answer = (_req: IncomingMessage, res: ServerResponse): void => {
        if (begun) res.write('begun');
      };
      await withTarget(await httpTarget({ answer }), async (target) => {
        const path = await podAt(client, target);
        const before = server().openSockets;
        for (const method of ['GET', 'POST']) {
          const { req, res } = await openRequest(client, method, `${path}/proxy/`);
          req.end(method === 'POST' ? 'body' : undefined);
          if (begun) await res;
          await eventually(() => Promise.resolve(target.seen.at(-1)?.method === method ? true : undefined));
          req.destroy();
        }
        const h2 = await Http2Client.connect(client);
        const stream = h2.open('GET', `${path}/proxy/`);
        stream.on('error', () => undefined);
        stream.end();
        await eventually(() => Promise.resolve(target.seen.length === 3 ? true : undefined));
        stream.close();
        await eventually(() => Promise.resolve(target.sockets.size === 0 ? true : undefined));
        h2.close();
        await eventually(() => Promise.resolve(server().openSockets <= before ? true : undefined));
      });
    });
  }

  it('lets go of a target that has not agreed to another protocol yet', async () => {
    const { client } = server();
    await withTarget(
      await httpTarget({ upgrade: (_req, socket) => void socket.resume().on('end', () => socket.end()) }),
      async (target) => {
        const raw = await RawConnection.open(client);
        raw.send(requestHead(client, 'GET', `${await podAt(client, target)}/proxy/`, WEBSOCKET));
        await eventually(() => Promise.resolve(target.seen.length > 0 ? true : undefined));
        raw.destroy();
        await eventually(() => Promise.resolve(target.sockets.size === 0 ? true : undefined));
      },
    );
  });
}

onServer('a connection that is passed on', { store: 'embedded', flags: FLAGS }, streaming);
onServer('a client that goes away', { store: 'embedded' }, leaving);
