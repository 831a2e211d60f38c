import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { makeCertificates, type Certificates } from '../../storage/testing/certificates.js';
import type { Context } from '../request/request.js';
import type { Listener } from './listener.js';
import { ownOrigin } from '../pipeline/exchange-stages.js';
import { connected, listenHere } from './testing/local-listener.js';
import { upgradeOf } from './upgrade.js';

const H2C = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';

/** How a page's wish for another protocol ends where its browser shows a client certificate. */
function guarded(req: IncomingMessage): string {
  Object.assign(req.socket, { getPeerX509Certificate: () => ({}) });
  try {
    void ownOrigin({ req } as Context, () => Promise.resolve());
    return 'let in';
  } catch {
    return 'refused';
  }
}

/** Tells what it was asked, after as many turns as the path says; takes connections that go on in another protocol. */
function answer(req: IncomingMessage, res: ServerResponse): void {
  const upgrade = upgradeOf(req);
  const { method = '', url = '', headers } = req;
  let turns = Number(/\d+$/.exec(url)?.[0] ?? 0);
  const tell = (): void => {
    if (turns-- > 0) setImmediate(tell);
    else if (url === '/guarded') res.end(`<${guarded(req)}>`);
    else if (upgrade?.protocol === 'mine') upgrade.take().end(`taken ${url} ${String(upgrade.head)}`);
    else res.end(`<${method} ${url} ${headers.upgrade ?? '-'} ${headers.expect ?? '-'}>`);
  };
  tell();
}

describe('serveUpgrades()', () => {
  let files: Certificates;
  let listener: Listener;
  let socket: TLSSocket;
  let received: string;

  before(() => {
    files = makeCertificates();
  });
  after(() => files.remove());
  beforeEach(async () => {
    listener = await listenHere(files, answer, { mayUpgrade: ({ headers }) => headers.upgrade === 'mine' });
    socket = await connected(listener);
    received = '';
    socket.on('data', (data: Buffer) => (received += data.toString()));
  });
  afterEach(async () => {
    socket.destroy();
    await listener.close(0);
  });
  const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
  const told = (): string[] => received.match(/<[^>]*>/g) ?? [];
  const closed = (): Promise<unknown> => once(socket, 'close');

  it('answers all of a pipeline in its order, whatever each takes, and ignores wishes that it cannot fulfil', async () => {
    const paths = ['/0', '/9', '/0', '/5', '/1', '/7', '/0', '/3', '/2', '/0', '/1', '/0', '/1'];
    socket.write(
      paths.map((path, i) => get(path, i % 3 === 0 ? '' : H2C)).join('') + get('/last', 'Connection: close\r\n'),
    );
    await closed();
    assert.deepEqual(
      told(),
      [...paths, '/last'].map((path) => `<GET ${path} - ->`),
    );
  });

  it('hands a connection over when what came before is answered', async () => {
    socket.write(`${get('/8')}${get('/9')}${get('/mine', 'Connection: Upgrade\r\nUpgrade: mine\r\n')}more`);
    await closed();
    assert.deepEqual(told(), ['<GET /8 - ->', '<GET /9 - ->']);
    assert.match(received, /taken \/mine more$/);
  });

  it('lives on when the client leaves in between', async () => {
    socket.write(`${get('/9')}${get('/0', H2C)}`);
    socket.destroy();
    await closed();
    const another = await connected(listener);
    another.write(get('/0', 'Connection: close\r\n'));
    let answered = '';
    for await (const part of another) answered += String(part);
    assert.match(answered, /<GET \/0 - ->/);
  });

  it('has CONNECT answered as any request', async () => {
    socket.write(`${get('/9')}CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n`);
    await closed();
    assert.deepEqual(told(), ['<GET /9 - ->', '<CONNECT example.com:443 - ->']);
  });

  it('has a request that expects something answered as any request', async () => {
    socket.write(get('/0', 'Expect: wonders\r\nConnection: close\r\n'));
    await closed();
    assert.deepEqual(told(), ['<GET /0 - wonders>']);
  });

  it('does the same on HTTP/2', async () => {
    const session = http2.connect(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false });
    const text = async (headers: http2.OutgoingHttpHeaders): Promise<string> => {
      const stream = session.request(headers, { endStream: true });
      let body = '';
      for await (const part of stream) body += String(part);
      return body;
    };
    assert.equal(await text({ ':path': '/0', expect: 'wonders' }), '<GET /0 - wonders>');
    assert.match(await text({ ':method': 'CONNECT', ':authority': 'example.com:443' }), /^<CONNECT /);
    session.close();
    await once(session, 'close');
  });

  for (const [headers, ends] of [
    ['Upgrade: mine\r\nOrigin: https://elsewhere.example\r\n', 'refused'],
    ['Upgrade: mine\r\nOrigin: null\r\n', 'refused'],
    ['Upgrade: mine\r\nOrigin: https://x:8443\r\n', 'refused'],
    ['Upgrade: mine\r\nOrigin: http://x\r\n', 'refused'],
    ['Upgrade: mine\r\nOrigin: https://x\r\n', 'let in'],
    ['Upgrade: mine\r\nOrigin: http://x:443\r\n', 'let in'],
    ['Upgrade: mine\r\n', 'let in'],
    ['Upgrade: mine\r\nOrigin: https://elsewhere.example\r\nAuthorization: Bearer t\r\n', 'let in'],
    ['Upgrade: other\r\nOrigin: https://elsewhere.example\r\n', 'let in'],
  ] as const)
    it(`a page with ${JSON.stringify(headers)} is ${ends}`, async () => {
      socket.write(get('/guarded', `Connection: Upgrade, close\r\n${headers}`));
      await closed();
      assert.deepEqual(told(), [`<${ends}>`]);
    });
});
