import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import http2, { type ClientHttp2Session } from 'node:http2';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { makeCertificates, type Certificates } from '../../storage/testing/certificates.js';
import type { Listener, ListenerOptions } from './listener.js';
import { connected, listenHere } from './testing/local-listener.js';

/** Answers at once, and a watch never; `/last` with what the header of that name says. */
const handler = (req: IncomingMessage, res: ServerResponse): void => {
  if (req.url === '/watch') res.flushHeaders();
  else if (req.url === '/last') res.end(req.headers['last'] ?? 'nothing');
  else res.end('done');
};

describe('listen()', () => {
  let files: Certificates;
  let listener: Listener;
  const open = async (o: Partial<ListenerOptions> = {}): Promise<void> => {
    listener = await listenHere(files, handler, o);
  };
  const session = async (): Promise<ClientHttp2Session> => {
    const client = http2.connect(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false });
    await once(client, 'connect');
    return client;
  };
  const tls = (protocol: string): Promise<TLSSocket> => connected(listener, { ALPNProtocols: [protocol] });

  before(() => {
    files = makeCertificates();
  });
  after(() => files.remove());
  afterEach(() => listener.close(0));

  for (const protocol of ['http/1.1', 'h2']) {
    it(`speaks ${protocol} and closes a connection on which nothing is asked any more`, async () => {
      await open({ idleMs: 300 });
      const socket = await tls(protocol);
      assert.equal(socket.alpnProtocol, protocol);
      if (protocol === 'http/1.1') socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      else socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0');
      socket.resume();
      await once(socket, 'close');
    });
  }

  it('leaves out no header of a request, however many come before it', async () => {
    await open();
    const socket = await tls('http/1.1');
    const many = 'a:1\r\n'.repeat(8_000);
    socket.write(`GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${many}Last: here\r\n\r\n`);
    assert.match(await text(socket), /^HTTP\/1\.1 200 OK\r\n[\s\S]*here$/);
  });

  it('sends clients to another connection by chance, and answers what is under way and on its way', async () => {
    await open({ goawayChance: 1 });
    const client = await session();
    const away = once(client, 'goaway');
    const watch = client.request({ ':path': '/watch' });
    const began = once(watch, 'response');
    const answers = Array.from({ length: 50 }, () => text(client.request({ ':path': '/' })));
    assert.deepEqual(new Set(await Promise.all(answers)), new Set(['done']));
    await began;
    const [code, last] = (await away) as [number, number];
    assert.deepEqual([code, last], [0, 2 ** 31 - 1]);
    assert.ok(client.closed && !watch.closed, 'a watch goes on, and nothing else is asked here');
    watch.close();
    await once(client, 'close');
  });

  it('sends nobody away unless it is told to', async () => {
    await open();
    const client = await session();
    client.on('goaway', () => assert.fail('sent away'));
    for (let i = 0; i < 20; i++) assert.equal(await text(client.request({ ':path': '/' })), 'done');
    client.close();
  });

  it('closes an HTTP/2 session whose headers never end', async () => {
    await open({ idleMs: 300 });
    const socket = await tls('h2');
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\0\0\0\0\x01\x82', 'latin1');
    socket.resume();
    await once(socket, 'close');
  });

  it('keeps an HTTP/2 session for a quiet request, and closes it after its last one', async () => {
    await open({ idleMs: 200 });
    const client = await session();
    const quiet = client.request({ ':path': '/watch' });
    await once(quiet, 'response');
    for (let i = 0; i < 3; i++) {
      await once(client.request({ ':path': '/' }).resume(), 'end');
      await new Promise((resolve) => setTimeout(resolve, 300)); // quiet for longer than the time of idle connections
      assert.equal(client.closed || client.destroyed, false);
    }
    quiet.close();
    await once(client, 'close');
  });

  it('gives new connections the new certificate when the files change', async () => {
    const { certFile, keyFile } = files.client;
    await open({ certFile, keyFile, reloadEveryMs: 50 });
    const subject = async (): Promise<string> => {
      const socket = await tls('h2');
      const name = String(socket.getPeerCertificate().subject.CN);
      socket.destroy();
      return name;
    };
    assert.equal(await subject(), 'client');
    copyFileSync(files.server.certFile, certFile);
    copyFileSync(files.server.keyFile, keyFile);
    const deadline = Date.now() + 8_000;
    while ((await subject()) !== 'server') assert.ok(Date.now() < deadline, 'the old one is still shown');
  });
});
