import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { hasReason } from '../../../machinery/meta/status.js';
import { CLIENT_LEFT } from '../../http/exchange.js';
import type { Context } from '../../request/request.js';
import { Connection } from './connection.js';
import { wantedFor, withConnection, type ProxyDeps } from './proxy-request.js';
import type { Target } from './target.js';

describe('withConnection()', () => {
  let server: Server;
  let opened: number;
  beforeEach(async () => {
    opened = 0;
    server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => server.close());

  const deps = { limits: { connectMs: 10_000, answerMs: 10_000, idleMs: 10_000 } } as unknown as ProxyDeps;
  const context = (): Context => {
    const { signal } = new AbortController();
    return { state: { signal, onOpen: (): unknown => opened++ } } as unknown as Context;
  };
  const target = (): Target => {
    const { port } = server.address() as AddressInfo;
    return { scheme: 'http', host: '127.0.0.1', port, tls: {}, allows: () => true };
  };

  it('says that the other server has the request when the connection stands, before it answers', async () => {
    let atWork = 0;
    await withConnection(deps, context(), target(), () => {
      atWork = opened;
      return Promise.resolve();
    });
    assert.deepEqual([atWork, opened], [1, 1]);
  });

  it('fails when the time of the request is over, and answers nobody who has left', async () => {
    const tooLong = new Error('Too long');
    for (const [reason, thrown] of [
      [tooLong, tooLong],
      [CLIENT_LEFT, undefined],
    ] as const) {
      const over = new AbortController();
      const res = { statusCode: 0 };
      const ctx = { state: { signal: over.signal }, res, respond: true } as unknown as Context;
      const asked = withConnection(deps, ctx, target(), async ({ socket }) => {
        over.abort(reason);
        if (!socket.destroyed) await once(socket, 'close');
        throw new Error('Cut');
      }).catch((err: unknown) => err);
      assert.equal(await asked, thrown);
      assert.equal(ctx.respond, thrown !== undefined);
    }
  });

  it('leaves nothing on a connection that is kept, which the end of the request does not cut', async () => {
    const kept: Socket[] = [];
    const over = new AbortController();
    const ctx = { state: { signal: over.signal } } as unknown as Context;
    const { port } = target();
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const count = (): number[] => ['error', 'timeout'].map((name) => socket.listenerCount(name));
    const before = count();
    const connection = new Connection(socket, (it) => void kept.push(it));
    await withConnection({ ...deps, connect: () => Promise.resolve(connection) }, ctx, target(), () => {
      connection.freeForMs = 1;
      over.abort(CLIENT_LEFT); // as when an answer is out
      return Promise.resolve();
    });
    assert.deepEqual([kept, socket.destroyed, count()], [[socket], false, before]);
    connection.freeForMs = 0;
    const next = new AbortController();
    await withConnection({ ...deps, connect: () => Promise.resolve(new Connection(socket, () => assert.fail())) }, { state: { signal: next.signal } } as unknown as Context, target(), () => Promise.resolve()); // prettier-ignore
    assert.equal(socket.destroyed, true);
  });

  it('cuts nothing of what comes after it', async () => {
    const gone = new AbortController();
    const socket = connect(target().port, '127.0.0.1');
    await once(socket, 'connect');
    const connection = new Connection(socket, () => undefined);
    const ctx = { state: { signal: gone.signal } } as unknown as Context;
    await withConnection({ ...deps, connect: () => Promise.resolve(connection) }, ctx, target(), () => {
      connection.freeForMs = 1;
      return Promise.resolve();
    });
    connection.freeForMs = 0;
    gone.abort(CLIENT_LEFT);
    assert.equal(socket.destroyed, false);
    socket.destroy();
  });

  it('says nothing when it never stands', async () => {
    const to = target();
    server.close();
    await once(server, 'close');
    await assert.rejects(
      withConnection(deps, context(), to, () => Promise.reject(new Error('Unexpected'))),
      (err) => hasReason(err, 'ServiceUnavailable'),
    );
    assert.equal(opened, 0);
  });
});

describe('wantedFor()', () => {
  for (const [method, hasBody, isUpgrade, wanted] of [
    ['GET', false, false, 'any'],
    ['HEAD', false, false, 'any'],
    ['OPTIONS', false, false, 'any'],
    ['GET', true, false, 'recent'],
    ['POST', false, false, 'recent'],
    ['DELETE', false, false, 'recent'],
    ['PUT', true, false, 'recent'],
    ['GET', false, true, 'new'],
    ['POST', false, true, 'new'],
  ] as const) {
    const what = `${method}${hasBody ? ' with a body' : ''}${isUpgrade ? ' that asks for another protocol' : ''}`;
    it(`${what} takes ${wanted === 'new' ? 'no used connection' : `${wanted} connection`}`, () => {
      assert.equal(wantedFor(method, { hasBody, isUpgrade }), wanted);
    });
  }
});
