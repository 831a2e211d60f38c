import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { hasReason } from '../../../machinery/meta/status.js';
import { CLIENT_LEFT } from '../../http/exchange.js';
import type { Context } from '../../request/request.js';
import { withConnection, type ProxyDeps } from './proxy-request.js';
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
      const asked = withConnection(deps, ctx, target(), async (socket) => {
        over.abort(reason);
        if (!socket.destroyed) await once(socket, 'close');
        throw new Error('Cut');
      }).catch((err: unknown) => err);
      assert.equal(await asked, thrown);
      assert.equal(ctx.respond, thrown !== undefined);
    }
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
