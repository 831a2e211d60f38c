import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2, { type Http2SecureServer } from 'node:http2';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { makeCertificates, type Certificates } from '../../storage/testing/certificates.js';
import { Http1Connections } from './connections.js';
import type { Listener } from './listener.js';
import { connected, listenHere } from './testing/local-listener.js';

/** A client of HTTP/1.1 that keeps its connection. */
class Kept {
  received = '';
  readonly socket: TLSSocket;
  readonly ended: Promise<unknown>;

  constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.on('data', (data: Buffer) => (this.received += data.toString()));
    this.ended = once(socket, 'end');
  }

  ask(path: string): void {
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  }

  async heard(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.received)) await once(this.socket, 'data');
  }
}

describe('a connection with large answers', () => {
  /** More than the buffers of a connection hold. */
  const ANSWER = 32 << 20;
  const REQUEST = 1 << 20;
  let files: Certificates;
  let listener: Listener;
  before(async () => {
    files = makeCertificates();
    listener = await listenHere(files, (req: IncomingMessage, res: ServerResponse) => {
      let bytes = 0;
      req.on('data', (part: Buffer) => (bytes += part.length));
      req.on('end', () => res.end(req.method === 'GET' ? Buffer.alloc(ANSWER) : `<${bytes}>`));
    });
  });
  after(async () => {
    await listener.close(0);
    files.remove();
  });

  it('takes a large request while an answer is not out', async () => {
    const socket = await connected(listener, { ALPNProtocols: ['http/1.1'] });
    let end = '';
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'readable');
    // At once, before anything of the answer is taken: what the server has read of the body already is what counts.
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${REQUEST}\r\n\r\n${'y'.repeat(REQUEST)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    for await (const part of socket as AsyncIterable<Buffer>) {
      end = (end + part.subarray(-100).toString('latin1')).slice(-100);
      if (end.endsWith('>')) break;
    }
    assert.match(end, new RegExp(`<${REQUEST}>$`));
  });
});

describe('connections of a listener that stops', () => {
  let files: Certificates;
  let listener: Listener;
  /** Answers that wait for the test, by path; others are given at once. */
  let waiting: Map<string, ServerResponse>;
  let asked: string[];
  const clients: Kept[] = [];

  const handler = (req: IncomingMessage, res: ServerResponse): void => {
    const { url = '' } = req;
    asked.push(url);
    if (url.startsWith('/wait')) waiting.set(url, res);
    else if (url === '/watch') res.write('began');
    else res.end(`<${url}>`);
    if (url === '/watch') waiting.set(url, res);
  };
  const open = async (): Promise<Kept> => {
    const client = new Kept(await connected(listener, { ALPNProtocols: ['http/1.1'] }));
    clients.push(client);
    return client;
  };
  const waitingAt = async (path: string): Promise<ServerResponse> => {
    for (;;) {
      const res = waiting.get(path);
      if (res !== undefined) return res;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  before(() => {
    files = makeCertificates();
  });
  after(() => files.remove());
  beforeEach(async () => {
    waiting = new Map();
    asked = [];
    listener = await listenHere(files, handler);
  });
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    await listener.close(0);
  });

  it('say in each answer that it is the last, and end after it, while new ones are taken', async () => {
    const [idle, busy] = [await open(), await open()];
    idle.ask('/before');
    await idle.heard(/<\/before>/);
    assert.doesNotMatch(idle.received, /^connection: close/im);
    busy.ask('/wait');
    const res = await waitingAt('/wait');
    listener.leave();
    res.end('<waited>');
    idle.ask('/after');
    await Promise.all([idle.ended, busy.ended]);
    for (const { received } of [idle, busy]) assert.equal(received.match(/^connection: close/gim)?.length, 1);
    assert.match(busy.received, /<waited>/);

    const late = await open();
    late.ask('/late');
    await late.ended;
    assert.match(late.received, /connection: close[^]*<\/late>/i);
  });

  it('answer what arrives after the listener has closed, and end when nothing comes', async () => {
    const [idle, asks] = [await open(), await open()];
    const closed = listener.close(60_000);
    asks.ask('/on-its-way');
    await Promise.all([idle.ended, asks.ended]);
    assert.equal(idle.received, '');
    assert.match(asks.received, /^HTTP\/1\.1 200[^]*connection: close[^]*<\/on-its-way>/i);
    await closed;
  });

  it('wait for a request of which a part is there, and for what is under way', async () => {
    const [slow, busy, watch] = [await open(), await open(), await open()];
    busy.ask('/wait');
    watch.ask('/watch');
    const [res, stream] = [await waitingAt('/wait'), await waitingAt('/watch')];
    const closed = listener.close(60_000);
    for (const part of ['GET', ' /slow', ' HTTP/1.1\r\n', 'Host: x\r\n']) {
      slow.socket.write(part);
      await new Promise((resolve) => setTimeout(resolve, 100)); // longer in all than a quiet connection is kept
    }
    slow.socket.write('\r\n');
    await slow.ended;
    assert.match(slow.received, /<\/slow>/);
    stream.end();
    await watch.ended;
    assert.match(watch.received, /\r\n0\r\n\r\n$/, 'a clean end');
    res.end('<waited>');
    await busy.ended;
    assert.match(busy.received, /<waited>/);
    await closed;
  });

  it('send those of HTTP/2 away that are begun while it closes', async () => {
    const client = http2.connect(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false });
    client.on('error', () => undefined);
    const away = once(client, 'goaway');
    await once(client, 'connect');
    const closed = listener.close(60_000);
    assert.deepEqual((await away).slice(0, 1), [0]);
    await closed;
  });
});

describe('Http1Connections', () => {
  it('refuse what is asked too late, and carry nothing of it out', async () => {
    const server = createServer();
    server.on('connection', (socket) => server.emit('secureConnection', socket));
    const connections = new Http1Connections(server as unknown as Http2SecureServer);
    server.on(
      'request',
      connections.inTime((_, res) => res.end('done')),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const ask = (): Promise<Response> => fetch(`http://127.0.0.1:${port}/`);
    assert.equal(await (await ask()).text(), 'done');
    connections.leave();
    connections.refuseLate();
    const late = await ask();
    const said = [late.status, late.headers.get('retry-after'), late.headers.get('connection')];
    assert.deepEqual(said, [503, '1', 'close']);
    assert.match(await late.text(), /"kind":"Status".*"reason":"ServiceUnavailable"/);
    await new Promise((resolve) => server.close(resolve));
  });
});
