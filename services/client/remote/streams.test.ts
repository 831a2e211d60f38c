import assert from 'node:assert/strict';
import { once } from 'node:events';
import { constants, createSecureServer, type Http2SecureServer, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session } from 'node:http2'; // prettier-ignore
import type { AddressInfo } from 'node:net';
import { TestAuthority } from '../testing/certificates.js';
import { Agents, type Connections } from './agents.js';
import { exchange, openExchange, type Exchange, type Opened } from './exchange.js';

const MB = 1024 * 1024;

/** Ends the connection of an answer. */
function cutOff(res: Http2ServerResponse): void {
  const stream = res.stream as typeof res.stream | undefined; // none over HTTP/1.1
  if (stream === undefined) res.socket.destroy();
  else stream.session?.destroy();
}

describe('answers that go on', () => {
  const authority = new TestAuthority('ca');
  const pair = authority.issue('server', 'DNS:localhost');
  after(() => authority.remove());
  const never = new AbortController().signal;
  let server: Http2SecureServer;
  let sessions: ServerHttp2Session[];
  let asked: string[];
  let answer: (req: Http2ServerRequest, res: Http2ServerResponse) => void;
  let agents: Agents;
  let connections: Connections;
  let port: number;
  beforeEach(async () => {
    sessions = [];
    asked = [];
    answer = (req, res) => void req.resume().on('end', () => res.end('an answer'));
    server = createSecureServer({ ...pair, allowHTTP1: true, maxSessionMemory: 100 });
    server.on('session', (session) => {
      session.on('error', () => undefined);
      sessions.push(session);
    });
    server.on('request', (req, res) => {
      asked.push(`${req.method} ${req.headers['content-length'] ?? ''}`);
      answer(req, res);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
    agents = new Agents(
      { authorities: authority.cert, serverName: undefined, insecure: false },
      { forStreams: { everyMs: 20_000, withinMs: 20_000 } },
    );
    connections = agents.for({ headers: {}, certificateVersion: 0 });
  });
  afterEach(() => {
    agents.close();
    for (const session of sessions) session.destroy();
    server.close();
  });

  const request = (more: Partial<Exchange> = {}): Exchange => ({
    method: 'GET',
    url: new URL(`https://localhost:${port}/`),
    headers: {},
    maxBytes: 100,
    ...connections,
    ...more,
  });
  const PROTOCOLS = new Map<string, object>([
    ['HTTP/2', {}],
    ['HTTP/1.1', { http2: undefined }],
  ]);
  const textOf = async ({ stream }: Opened): Promise<string> => {
    let text = '';
    for await (const piece of stream) text += String(piece);
    return text;
  };

  for (const [protocol, o] of PROTOCOLS) {
    it(`are handed over as they come, whatever their length (${protocol})`, async () => {
      let more = (): void => undefined;
      answer = (_, res) => {
        res.writeHead(201, { 'x-y': 'z' });
        res.write('first ');
        more = () => void res.end('x'.repeat(1_000));
      };
      const opened = await openExchange(request(o), never);
      assert.deepEqual([opened.status, opened.headers['x-y']], [201, 'z']);
      const [first] = (await once(opened.stream, 'data')) as [Buffer];
      assert.equal(first.toString(), 'first ');
      more();
      assert.equal((await textOf(opened)).length, 1_000);
      assert.equal(opened.isWhole(), true);
    });

    it(`are known to be cut (${protocol})`, async () => {
      answer = (_, res) => {
        res.write('first');
        setImmediate(() => cutOff(res));
      };
      const opened = await openExchange(request(o), never);
      await textOf(opened).catch(() => undefined);
      assert.equal(opened.isWhole(), false);
    });

    it(`end with their signal (${protocol})`, async () => {
      answer = (_, res) => void res.write('first');
      const gone = new AbortController();
      const opened = await openExchange(request(o), gone.signal);
      const reading = textOf(opened);
      gone.abort(new Error('enough'));
      await assert.rejects(reading);
      assert.equal(opened.isWhole(), false);
    });

    it(`follow any method, with a body or without (${protocol})`, async () => {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'] as const) {
        await exchange(request({ method, ...o }), never);
        await exchange(request({ method, body: Buffer.from('body'), ...o }), never);
      }
      assert.deepEqual(asked.filter((line) => line.endsWith(' 4')), ['GET 4', 'PUT 4', 'PATCH 4', 'DELETE 4']); // prettier-ignore
      assert.equal(asked.length, 8);
    });

    it(`are not asked for again where that may be wrong (${protocol})`, async () => {
      await exchange(request(o), never);
      answer = (_, res) => cutOff(res);
      await assert.rejects(exchange(request({ ...o, isRepeatable: false }), never), { failure: 'connection', isUnsent: false }); // prettier-ignore
      assert.equal(asked.length, 2);
    });
  }

  it('do not hold up others while nobody reads them', async () => {
    answer = (req, res) => void res.end(req.url === '/' ? Buffer.alloc(2 * MB) : 'short');
    const unread = await Promise.all(Array.from({ length: 8 }, () => openExchange(request(), never)));
    const { body } = await exchange(request({ url: new URL(`https://localhost:${port}/short`) }), never);
    assert.deepEqual([body.toString(), sessions.length], ['short', 1]);
    for (const { stream } of unread) stream.destroy();
  });

  it('say that a request was not sent when none could be', async () => {
    const nowhere = { url: new URL('https://localhost:1/') };
    for (const o of PROTOCOLS.values()) {
      await assert.rejects(exchange(request({ ...o, ...nowhere }), never), { failure: 'connection', isUnsent: true });
    }
    answer = (_, res) => res.stream.close(constants.NGHTTP2_REFUSED_STREAM);
    await assert.rejects(exchange(request({ isRepeatable: false }), never), { isUnsent: true });
  });
});
