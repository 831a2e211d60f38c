import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { makeCertificates, type Certificates } from '../../services/storage/testing/certificates.js';
import { Client, type Reply } from './tools/client.js';
import { Http2Client } from './tools/http2-client.js';
import { created, eventually, newNamespace, ok, refused } from './tools/objects.js';
import { RawConnection, requestHead } from './tools/raw-connection.js';
import { onServer, TestServer } from './tools/server.js';
import { deadPort, echo, httpTarget, ownAddress, tcpTarget, type Seen, type Target } from './tools/targets.js';

type Server = () => TestServer;

const FLAGS = ['--proxy-connect-timeout=700ms', '--proxy-answer-timeout=900ms', '--proxy-idle-timeout=1500ms'];
const podsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
const servicesIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/services`;

interface PodParts {
  readonly ports?: readonly object[];
  readonly spec?: object;
  readonly ip?: string;
}

/** A pod that runs at an address. */
async function runningPod(client: Client, path: string, name: string, { ports, spec, ip }: PodParts): Promise<void> {
  const container = { name: 'main', image: 'i', ...(ports === undefined ? {} : { ports }) };
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [container], ...spec } };
  created(await client.post(path, object));
  const podIP = ip ?? ownAddress();
  ok(await client.patch(`${path}/${name}/status`, { status: { podIP, podIPs: [{ ip: podIP }], phase: 'Running' } }));
}

/** Runs a test with targets that are closed afterwards. */
async function withTarget(target: Target, test: (target: Target) => Promise<void>): Promise<void> {
  try {
    await test(target);
  } finally {
    await target.close();
  }
}

/** A pod `p` in a namespace of its own, whose first port is the target's. */
async function podAt(client: Client, target: Pick<Target, 'port'>, ip?: string): Promise<string> {
  const path = podsIn(await newNamespace(client));
  await runningPod(client, path, 'p', { ports: [{ name: 'web', containerPort: target.port }], ...(ip ? { ip } : {}) });
  return `${path}/p`;
}

function seenBy(reply: Reply): Seen {
  ok(reply);
  return JSON.parse(reply.text) as Seen;
}

function proxying(server: Server): void {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    it(`passes on ${method} with path, query and body as they are`, async () => {
      const { client } = server();
      await withTarget(await httpTarget(), async (target) => {
        const path = await podAt(client, target);
        const tail = "/a%2Fb//c;d/%ff/%zz/../x'?q=%20+&q=2&watch=1&=";
        const body = method === 'GET' || method === 'HEAD' ? {} : { body: `${method}-body`, type: 'text/plain' };
        const reply = await client.request(method, `${path}/proxy${tail}`, body);
        assert.equal(reply.code, 200, reply.text);
        const [seen] = target.seen;
        assert.deepEqual([seen?.method, seen?.url, seen?.body], [method, tail, body.body ?? '']);
        if (method !== 'HEAD') assert.deepEqual(JSON.parse(reply.text), seen);
      });
    });
  }

  it('tells the target who is proxied, and nothing that a client proves itself with', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const path = await podAt(client, target);
      const { headers } = seenBy(
        await client.get(`${path}/proxy/x?y`, {
          'x-forwarded-for': '10.9.9.9',
          'x-forwarded-host': 'elsewhere',
          'x-remote-user': 'admin',
          forwarded: 'for=10.9.9.9',
          te: 'trailers',
          'proxy-authorization': 'Basic Zm9v',
          'keep-alive': 'timeout=5',
          connection: 'keep-alive, x-hop',
          'x-hop': '1',
          'x-custom': 'kept',
          cookie: 'a=b',
          'sec-websocket-protocol': 'base64url.bearer.authorization.platform.io.dG9rZW4, chat',
        }),
      );
      assert.equal(headers['x-custom'], 'kept');
      assert.equal(headers.cookie, 'a=b');
      assert.equal(headers['x-forwarded-for'], '127.0.0.1');
      assert.equal(headers['x-forwarded-uri'], `${path}/proxy/x`);
      assert.equal(headers.host, client.url.host);
      assert.equal(headers['sec-websocket-protocol'], 'chat');
      const gone = ['authorization', 'x-forwarded-host', 'x-remote-user', 'forwarded', 'te', 'proxy-authorization', 'keep-alive', 'x-hop']; // prettier-ignore
      for (const name of gone) assert.equal(headers[name], undefined, name);
    });
  });

  it('gives the answer back, without what belongs to a connection or to this server', async () => {
    const { client } = server();
    const answer = (_req: IncomingMessage, res: ServerResponse): void => {
      res.writeHead(418, {
        'Set-Cookie': ['a=1', 'b=2'],
        'Access-Control-Allow-Origin': '*',
        'Keep-Alive': 'timeout=1',
        'X-Own': 'yes',
      });
      res.end('short and stout');
    };
    await withTarget(await httpTarget({ answer }), async (target) => {
      const { code, text, headers } = await client.get(`${await podAt(client, target)}/proxy/`);
      assert.deepEqual([code, text, headers['x-own']], [418, 'short and stout', 'yes']);
      assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2']);
      assert.equal(headers['access-control-allow-origin'], undefined);
    });
  });

  it('leads from the bare proxy to its root, and redirects of the target through the proxy', async () => {
    const { client } = server();
    const answer = (req: IncomingMessage, res: ServerResponse): void => {
      res.writeHead(302, { Location: Buffer.from((req.url ?? '').slice(2), 'base64url').toString() });
      res.end();
    };
    await withTarget(await httpTarget({ answer }), async (target) => {
      const path = await podAt(client, target);
      const bare = await client.get(`${path}/proxy?a=b`);
      assert.deepEqual([bare.code, bare.headers.location], [301, `${path}/proxy/?a=b`]);
      const own = `${ownAddress()}:${target.port}`;
      for (const [from, to] of [
        ['/login?x#y', `${path}/proxy/login?x#y`],
        [`http://${own}/login`, `${path}/proxy/login`],
        [`http://${own}`, `${path}/proxy/`],
        [`//${client.url.host}/login`, `${path}/proxy/login`],
        [`${path}/proxy/there`, `${path}/proxy/there`],
        ['next', 'next'],
        ['http://example.com/login', 'http://example.com/login'],
      ] as const) {
        const reply = await client.get(`${path}/proxy/?${Buffer.from(from).toString('base64url')}`);
        assert.deepEqual([reply.code, reply.headers.location], [302, to]);
      }
    });
  });

  it('finds the port by number, by name and by itself, and speaks TLS where it is asked to', async () => {
    const { client } = server();
    const files = makeCertificates();
    const [plain, tls] = [await httpTarget(), await httpTarget({ files: files.stranger })];
    try {
      const path = podsIn(await newNamespace(client));
      const ports = [
        { name: 'web', containerPort: plain.port },
        { name: 'tls', containerPort: tls.port },
      ];
      await runningPod(client, path, 'p', { ports });
      for (const name of [
        'p',
        'p:',
        'p:web',
        `p:${plain.port}`,
        'http:p:web',
        ':p:web',
        'https:p:tls',
        `https:p:${tls.port}`,
      ]) {
        assert.equal(seenBy(await client.get(`${path}/${name}/proxy/it`)).url, '/it', name);
      }
      assert.equal(seenBy(await client.get(`${path}/https%3Ap%3Atls/proxy/it`)).url, '/it');
      refused(await client.get(`${path}/ftp:p:web/proxy/`), 400, 'BadRequest', /invalid pod request "ftp:p:web"/);
      refused(await client.get(`${path}/a:b:c:d/proxy/`), 400, 'BadRequest', /invalid pod request/);
      refused(await client.get(`${path}/p:nothing/proxy/`), 503, 'ServiceUnavailable', /unknown port "nothing"/);
      refused(await client.get(`${path}/q/proxy/`), 404, 'NotFound', /pods "q" not found/);
      refused(
        await client.get(`${path}/http:p:tls/proxy/`),
        503,
        'ServiceUnavailable',
        /error trying to reach service/,
      );
      refused(
        await client.get(`${path}/https:p:web/proxy/`),
        503,
        'ServiceUnavailable',
        /error trying to reach service/,
      );
    } finally {
      await Promise.all([plain.close(), tls.close()]);
      files.remove();
    }
  });

  for (const ip of ['127.0.0.1', '169.254.169.254', '0.0.0.0', '::1', 'fe80::1', '::ffff:127.0.0.1']) {
    it(`never connects to ${ip} for a client`, async () => {
      const { client } = server();
      await withTarget(await httpTarget(), async (target) => {
        const reply = await client.get(`${await podAt(client, target, ip)}/proxy/`);
        refused(reply, 400, 'BadRequest', /address not allowed/);
        assert.equal(target.sockets.size, 0);
      });
    });
  }

  it('refuses a pod that has no address', async () => {
    const { client } = server();
    const path = podsIn(await newNamespace(client));
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    created(await client.post(path, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }));
    refused(await client.get(`${path}/p/proxy/`), 400, 'BadRequest', /address not allowed/);
  });

  it('refuses who may not, and what is no method of a proxy', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const path = await podAt(client, target);
      const anonymous = await client.request('GET', `${path}/proxy/`, { headers: { authorization: '' } });
      refused(anonymous, 403, 'Forbidden', /cannot get resource "pods\/proxy"/);
      const wrong = await client.request('GET', `${path}/proxy/`, { headers: { authorization: 'Bearer wrong' } });
      refused(wrong, 401, 'Unauthorized');
      refused(await client.request('PROPFIND', `${path}/proxy/`), 405, 'MethodNotAllowed');
      refused(await client.request('OPTIONS', `${path}/exec`), 405, 'MethodNotAllowed');
      refused(await client.get(`${path}/exec/more`), 404, 'NotFound');
      assert.deepEqual(target.seen, []);
    });
  });
}

/** Resolves with the answer when its head is there. */
async function openRequest(
  client: Client,
  method: string,
  path: string,
): Promise<{ req: ClientRequest; res: Promise<IncomingMessage> }> {
  const { hostname: host, port } = client.url;
  const headers = { authorization: `Bearer ${client.token}` };
  const req = https.request({ host, port, method, path, headers, rejectUnauthorized: false, agent: false });
  req.on('error', () => undefined); // ended by the test
  const res = once(req, 'response').then(([it]) => it as IncomingMessage);
  res.catch(() => undefined);
  await once(req, 'socket');
  return { req, res };
}

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

function services(server: Server): void {
  interface Subset {
    readonly addresses?: readonly object[];
    readonly notReadyAddresses?: readonly object[];
    readonly ports: readonly object[];
  }
  async function serviceWith(client: Client, ports: readonly object[], subsets: readonly Subset[]): Promise<string> {
    const namespace = await newNamespace(client);
    created(await client.post(servicesIn(namespace), { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports } })); // prettier-ignore
    const endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 's' }, subsets };
    created(await client.post(`/api/v1/namespaces/${namespace}/endpoints`, endpoints));
    return servicesIn(namespace);
  }

  it('are reached by number and name of a port, wherever it leads', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const ports = [{ name: 'web', port: 80 }, { name: 'dead', port: 81 }]; // prettier-ignore
      const path = await serviceWith(client, ports, [
        { addresses: [{ ip: ownAddress() }], ports: [{ name: 'web', port: target.port }, { name: 'dead', port: await deadPort() }] }, // prettier-ignore
      ]);
      for (const name of ['s:80', 's:web', 'http:s:web']) {
        assert.equal(seenBy(await client.get(`${path}/${name}/proxy/it?x`)).url, '/it?x', name);
      }
      refused(await client.get(`${path}/s:81/proxy/`), 503, 'ServiceUnavailable', /connection refused/);
      refused(
        await client.get(`${path}/s:82/proxy/`),
        503,
        'ServiceUnavailable',
        /no service port 82 found for service "s"/,
      );
      refused(
        await client.get(`${path}/s/proxy/`),
        503,
        'ServiceUnavailable',
        /no endpoints available for service "s"/,
      );
      refused(await client.get(`${path}/t:80/proxy/`), 404, 'NotFound');
      refused(await client.get(`${path}/ftp:s:80/proxy/`), 400, 'BadRequest', /invalid service request/);
    });
  });

  it('choose among ready addresses by chance, and no others', async () => {
    const { client } = server();
    const targets = [await httpTarget(), await httpTarget(), await httpTarget()];
    try {
      const [a, b, c] = targets.map(({ port }) => ({ port }));
      const path = await serviceWith(
        client,
        [{ port: 80 }],
        [
          { addresses: [{ ip: ownAddress() }], ports: [a!] },
          { addresses: [{ ip: ownAddress() }], ports: [b!] },
          { notReadyAddresses: [{ ip: ownAddress() }], ports: [c!] },
        ],
      );
      await eventually(async () => {
        ok(await client.get(`${path}/s/proxy/`));
        return targets[0]!.seen.length > 0 && targets[1]!.seen.length > 0 ? true : undefined;
      });
      assert.equal(targets[2]!.seen.length, 0);
    } finally {
      await Promise.all(targets.map((target) => target.close()));
    }
  });

  it('are not reached at addresses that are not allowed, or of pods that they are not', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const ports = [{ port: target.port }];
      const loopback = await serviceWith(client, [{ port: 80 }], []);
      refused(await client.get(`${loopback}/s/proxy/`), 503, 'ServiceUnavailable', /no endpoints available/);
      const targetRef = { kind: 'Pod', namespace: 'default', name: 'nobody' };
      const path = await serviceWith(client, [{ port: 80 }], [{ addresses: [{ ip: ownAddress(), targetRef }], ports }]);
      refused(await client.get(`${path}/s/proxy/`), 503, 'ServiceUnavailable', /no endpoints available/);
      assert.deepEqual(target.seen, []);
    });
  });

  it('reach the pod that their address names', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const ports = [{ port: target.port }];
      const path = await serviceWith(client, [{ port: 80 }], []);
      const namespace = path.split('/')[4]!;
      await runningPod(client, podsIn(namespace), 'p', {});
      const targetRef = { kind: 'Pod', namespace, name: 'p' };
      const subsets = [{ addresses: [{ ip: ownAddress(), targetRef }], ports }];
      ok(await client.patch(`/api/v1/namespaces/${namespace}/endpoints/s`, { subsets }));
      assert.equal(seenBy(await client.get(`${path}/s/proxy/`)).url, '/');
      ok(await client.patch(`${podsIn(namespace)}/p/status`, { status: { podIP: '10.1.2.3', podIPs: [{ ip: '10.1.2.3' }] } })); // prettier-ignore
      refused(await client.get(`${path}/s/proxy/`), 503, 'ServiceUnavailable', /no endpoints available/);
    });
  });
}

const WEBSOCKET = ['Connection: keep-alive, Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: a2V5', 'Sec-WebSocket-Version: 13']; // prettier-ignore
const SPDY = ['Connection: Upgrade', 'Upgrade: SPDY/3.1', 'X-Stream-Protocol-Version: v4.channel.platform.io'];

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
        const began = Date.now();
        assert.equal(await other.end(), 0);
        await raw.closed;
        assert.ok(Date.now() - began < 5_000, 'it waited for the connection');
      } finally {
        await other.close();
      }
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

/** A node whose agent is a target of the test, and a pod on it. */
async function podOnNode(
  client: Client,
  agent: Pick<Target, 'port'>,
  spec: object = {},
): Promise<{ node: string; path: string; namespace: string }> {
  const namespace = await newNamespace(client);
  const node = `node-${namespace}`;
  created(await client.post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: node } }));
  const addresses = [{ type: 'Hostname', address: 'nowhere.invalid' }, { type: 'InternalIP', address: '127.0.0.1' }]; // prettier-ignore
  const daemonEndpoints = { nodeagentEndpoint: { Port: agent.port } };
  ok(await client.patch(`/api/v1/nodes/${node}/status`, { status: { addresses, daemonEndpoints } }));
  await runningPod(client, podsIn(namespace), 'p', { spec: { nodeName: node, ...spec } });
  return { node, namespace, path: `${podsIn(namespace)}/p` };
}

function nodes(server: Server): void {
  let files: Certificates;
  before(() => {
    files = makeCertificates();
  });
  after(() => files.remove());

  it('are proxied to their agent, or to another of their ports', async () => {
    const { client } = server();
    const [agent, other] = [await httpTarget({ files: files.server }), await httpTarget()];
    try {
      const { node } = await podOnNode(client, agent);
      for (const name of [node, `${node}:${agent.port}`, `https:${node}:`]) {
        assert.equal(
          seenBy(await client.get(`/api/v1/nodes/${name}/proxy/stats/summary?x=1`)).url,
          '/stats/summary?x=1',
        );
      }
      refused(await client.get(`/api/v1/nodes/${node}:${other.port}/proxy/`), 400, 'BadRequest', /address not allowed/);
      const addresses = [{ type: 'ExternalIP', address: ownAddress() }];
      ok(await client.patch(`/api/v1/nodes/${node}/status`, { status: { addresses } }));
      assert.equal(seenBy(await client.get(`/api/v1/nodes/http:${node}:${other.port}/proxy/a`)).url, '/a');
      ok(await client.patch(`/api/v1/nodes/${node}/status`, { status: { addresses: [] } }));
      refused(await client.get(`/api/v1/nodes/${node}/proxy/`), 503, 'ServiceUnavailable', /no preferred addresses/);
      refused(await client.get('/api/v1/nodes/nobody/proxy/'), 404, 'NotFound', /nodes "nobody" not found/);
    } finally {
      await Promise.all([agent.close(), other.close()]);
    }
  });

  it('tell the logs of containers', async () => {
    const { client } = server();
    const answer = (_req: IncomingMessage, res: ServerResponse): void => void res.end('line 1\nline 2\n');
    await withTarget(await httpTarget({ files: files.server, answer }), async (agent) => {
      const { path, namespace } = await podOnNode(client, agent);
      const options = 'follow=true&previous=true&timestamps=1&tailLines=0&limitBytes=10&sinceTime=2006-01-02T15:04:05Z';
      const reply = await client.get(`${path}/log?${options}&pretty=1&bogus=1`, { accept: 'application/json, */*' });
      assert.deepEqual(
        [reply.code, reply.text, reply.headers['content-type']],
        [200, 'line 1\nline 2\n', 'text/plain'],
      );
      const [seen] = agent.seen;
      assert.equal(seen?.url, `/containerLogs/${namespace}/p/main?follow=true&limitBytes=10&previous=true&sinceTime=2006-01-02T15%3A04%3A05Z&tailLines=0&timestamps=true`); // prettier-ignore
      assert.deepEqual(Object.keys(seen.headers), ['host', 'connection']);
      ok(await client.get(`${path}/log`));
      assert.equal(agent.seen[1]?.url, `/containerLogs/${namespace}/p/main`);
    });
  });

  it('give logs on line by line, until the client has enough', async () => {
    const { client } = server();
    let held: ServerResponse | undefined;
    const answer = (_req: IncomingMessage, res: ServerResponse): void => void (held = res);
    await withTarget(await httpTarget({ files: files.server, answer }), async (agent) => {
      const { path } = await podOnNode(client, agent);
      const { req, res } = await openRequest(client, 'GET', `${path}/log?follow=true`);
      req.end();
      await eventually(() => Promise.resolve(held));
      held?.write('one\n');
      const reply = await res;
      const [line] = (await once(reply, 'data')) as [Buffer];
      assert.equal(line.toString(), 'one\n');
      req.destroy();
      await eventually(() => Promise.resolve(agent.sockets.size === 0 ? true : undefined));
    });
  });

  it('have their refusals of logs told', async () => {
    const { client } = server();
    const answer = (req: IncomingMessage, res: ServerResponse): void => {
      res.statusCode = Number(/tailLines=(\d+)/.exec(req.url ?? '')?.[1]);
      if (res.statusCode === 302) res.setHeader('Location', 'http://127.0.0.1/secret');
      res.end('container "main" is waiting');
    };
    await withTarget(await httpTarget({ files: files.server, answer }), async (agent) => {
      const { path } = await podOnNode(client, agent);
      refused(await client.get(`${path}/log?tailLines=400`), 400, 'BadRequest', /^container "main" is waiting$/);
      refused(await client.get(`${path}/log?tailLines=404`), 404, 'NotFound');
      refused(await client.get(`${path}/log?tailLines=500`), 500, 'InternalError', /container .*main.* is waiting/);
      refused(await client.get(`${path}/log?tailLines=302`), 502, 'InternalError');
    });
    const { path } = await podOnNode(client, { port: await deadPort() });
    refused(await client.get(`${path}/log`), 503, 'ServiceUnavailable', /connection refused/);
  });

  it('are not asked for logs that nobody can have', async () => {
    const { client } = server();
    await withTarget(await httpTarget({ files: files.server }), async (agent) => {
      const containers = ['a', 'b'].map((name) => ({ name, image: 'i' }));
      const { path, namespace } = await podOnNode(client, agent, { containers, initContainers: [{ name: 'i', image: 'i' }] }); // prettier-ignore
      refused(await client.get(`${path}/log`), 400, 'BadRequest', /^a container name must be specified for pod p, choose one of: \[i a b\]$/); // prettier-ignore
      refused(await client.get(`${path}/log?container=c`), 400, 'BadRequest', /^container c is not valid for pod p$/);
      refused(await client.get(`${path}/log?container=a&tailLines=-1`), 422, 'Invalid', /tailLines: Invalid value: -1/);
      refused(await client.get(`${path}/log?container=a&limitBytes=0`), 422, 'Invalid', /must be greater than 0/);
      refused(await client.get(`${path}/log?container=a&sinceTime=2006-01-02T15:04:05Z&sinceSeconds=1`), 422, 'Invalid', /at most one of/); // prettier-ignore
      refused(await client.get(`${path}/log?container=a&sinceTime=yesterday`), 422, 'Invalid', /sinceTime/);
      refused(await client.get(`${path}x/log`), 404, 'NotFound');
      refused(await client.post(`${path}/log`, {}), 405, 'MethodNotAllowed');
      await runningPod(client, podsIn(namespace), 'lone', {});
      assert.equal((await client.get(`${podsIn(namespace)}/lone/log`)).code, 204);
      await runningPod(client, podsIn(namespace), 'lost', { spec: { nodeName: 'nobody' } });
      refused(await client.get(`${podsIn(namespace)}/lost/log`), 404, 'NotFound', /nodes "nobody" not found/);
      assert.deepEqual(agent.seen, []);
    });
  });

  for (const [word, query, asked] of [
    ['exec', 'command=sh&command=-c&command=a%20b%26c&stdin=true&stdout=1&stderr&tty=false&container=main', 'exec/NS/p/main?command=sh&command=-c&command=a+b%26c&error=1&input=1&output=1'], // prettier-ignore
    ['attach', 'stdout=true&tty=true', 'attach/NS/p/main?output=1&tty=1'],
    ['portforward', '', 'portForward/NS/p'],
    ['portforward', 'ports=80&ports=443', 'portForward/NS/p?port=80%2C443'],
  ] as const) {
    it(`have sessions: ${word}?${query}`, async () => {
      const { client } = server();
      await withTarget(await httpTarget({ files: files.server }), async (agent) => {
        const { path, namespace } = await podOnNode(client, agent);
        for (const [method, headers] of [
          ['POST', SPDY],
          ['GET', WEBSOCKET],
        ] as const) {
          const raw = await RawConnection.open(client);
          raw.send(requestHead(client, method, `${path}/${word}?${query}`, headers));
          await raw.until(/^HTTP\/1.1 101 [^]*hello;$/);
          raw.send('typed');
          await raw.until(/hello;typed$/);
          raw.destroy();
          const seen = agent.seen.at(-1)!;
          assert.deepEqual([seen.method, seen.url], [method, `/${asked.replace('NS', namespace)}`]);
          assert.equal(seen.headers.authorization, undefined);
        }
        assert.equal(agent.seen[0]?.headers['x-stream-protocol-version'], 'v4.channel.platform.io');
        await eventually(() => Promise.resolve(agent.sockets.size === 0 ? true : undefined));
      });
    });
  }

  it('have no sessions without another protocol, a container or a host, and none that lead elsewhere', async () => {
    const { client } = server();
    const upgrade = (_req: IncomingMessage, socket: Socket): void => {
      socket.end('HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n');
    };
    await withTarget(await httpTarget({ files: files.server, upgrade }), async (agent) => {
      const { path, namespace } = await podOnNode(client, agent);
      for (const word of ['exec', 'attach', 'portforward']) {
        refused(await client.post(`${path}/${word}`, ''), 400, 'BadRequest', /^Upgrade request required$/);
        refused(await client.put(`${path}/${word}`, ''), 405, 'MethodNotAllowed');
      }
      refused(await client.get(`${path}/exec?container=x`), 400, 'BadRequest', /container x is not valid for pod p/);
      await runningPod(client, podsIn(namespace), 'lone', {});
      refused(await client.get(`${podsIn(namespace)}/lone/exec`), 400, 'BadRequest', /^pod lone does not have a host assigned$/); // prettier-ignore
      const raw = await RawConnection.open(client);
      raw.send(requestHead(client, 'POST', `${path}/exec`, SPDY));
      assert.match(await raw.closed, /^HTTP\/1.1 502 [^]*the backend attempted to redirect/);
    });
  });
}

function certificates(): void {
  let files: Certificates;
  let server: TestServer | undefined;
  before(async function () {
    this.timeout(40_000);
    files = makeCertificates();
    const { caFile, certFile, keyFile } = files.client;
    const flags = [`--nodeagent-certificate-authority=${caFile}`, `--nodeagent-client-certificate=${certFile}`, `--nodeagent-client-key=${keyFile}`]; // prettier-ignore
    server = await TestServer.start({ store: 'embedded', flags });
  });
  after(async () => {
    await server?.close();
    files.remove();
  });

  it("prove the server to the nodes' agents, and them to the server", async () => {
    const { client } = server!;
    await withTarget(await httpTarget({ files: files.server }), async (agent) => {
      const { node, path } = await podOnNode(client, agent);
      ok(await client.get(`${path}/log`));
      ok(await client.get(`/api/v1/nodes/${node}/proxy/`));
      assert.deepEqual(agent.seen.map(({ subject }) => subject), ['client', 'client']); // prettier-ignore
    });
    await withTarget(await httpTarget({ files: files.stranger }), async (impostor) => {
      const { path } = await podOnNode(client, impostor);
      refused(await client.get(`${path}/log`), 503, 'ServiceUnavailable', /certificate|issuer/);
      assert.deepEqual(impostor.seen, []);
      ok(await client.get(`${path}/log?insecureSkipTLSVerifyBackend=true`));
    });
  });

  it('have to be for the address of the node', async () => {
    const { client } = server!;
    await withTarget(await httpTarget({ files: files.server }), async (agent) => {
      const { node, path } = await podOnNode(client, agent);
      const addresses = [{ type: 'InternalIP', address: ownAddress() }];
      ok(await client.patch(`/api/v1/nodes/${node}/status`, { status: { addresses } }));
      refused(await client.get(`${path}/log`), 503, 'ServiceUnavailable', /does not match|altnames/);
    });
  });
}

onServer('the proxy', { store: 'embedded', flags: FLAGS }, proxying);
onServer('a connection that is passed on', { store: 'embedded', flags: FLAGS }, streaming);
onServer('a client that goes away', { store: 'embedded' }, leaving);
onServer('services behind the proxy', { store: 'embedded', flags: FLAGS }, services);
onServer('another protocol', { store: 'embedded', flags: FLAGS }, upgrading);
onServer('nodes', { store: 'embedded', flags: FLAGS }, nodes);
describe('certificates of nodes', function () {
  this.timeout(40_000);
  certificates();
});
