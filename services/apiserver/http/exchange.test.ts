import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type ServerResponse } from 'node:http';
import http2 from 'node:http2';
import { connect, type AddressInfo, type Server } from 'node:net';
import { breakOff, CLIENT_LEFT, exchangeSignal, type Response, type ServerRequest } from './exchange.js';

interface Exchange {
  readonly req: ServerRequest;
  readonly res: Response;
}

/** A server of one protocol, and a client that asks it and can leave. */
interface Protocol {
  readonly name: string;
  readonly serve: (handler: (req: ServerRequest, res: Response) => void) => Server;
  /** Sends a request with a body that does not end. */
  readonly ask: (port: number) => { readonly leave: () => void; readonly answered: Promise<unknown> };
}

const PROTOCOLS: readonly Protocol[] = [
  {
    name: 'HTTP/1.1',
    serve: (handler) => http.createServer(handler),
    ask: (port) => {
      const req = http.request({ port, host: '127.0.0.1', method: 'POST', agent: false });
      req.on('error', () => undefined); // it is ended from here
      req.write('begun');
      const answered = once(req, 'response').then(([res]) => once((res as http.IncomingMessage).resume(), 'end'));
      answered.catch(() => undefined);
      return { leave: () => req.destroy(), answered };
    },
  },
  {
    name: 'HTTP/2',
    serve: (handler) => http2.createServer(handler),
    ask: (port) => {
      const session = http2.connect(`http://127.0.0.1:${port}`);
      const stream = session.request({ ':method': 'POST' });
      stream.on('error', () => undefined);
      stream.write('begun');
      const answered = once(stream.resume(), 'end').finally(() => session.destroy());
      answered.catch(() => undefined);
      return {
        leave: () => {
          stream.close(http2.constants.NGHTTP2_CANCEL);
          stream.once('close', () => session.destroy());
        },
        answered,
      };
    },
  },
];

const fired = async (signal: AbortSignal): Promise<unknown> => {
  if (!signal.aborted) await once(signal, 'abort');
  return signal.reason;
};

for (const { name, serve, ask } of PROTOCOLS) {
  describe(`exchangeSignal() on ${name}`, () => {
    let server: Server;
    let arrived: Exchange[];
    let wake: () => void;

    beforeEach(async () => {
      arrived = [];
      wake = () => undefined;
      server = serve((req, res) => {
        arrived.push({ req, res });
        wake();
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    });
    afterEach(() => server.close());
    const next = async (): Promise<Exchange> => {
      for (;;) {
        const first = arrived.shift();
        if (first !== undefined) return first;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    };
    const open = (): ReturnType<Protocol['ask']> => ask((server.address() as AddressInfo).port);

    it('fires when the client goes away', async () => {
      const client = open();
      const { req, res } = await next();
      const signal = exchangeSignal(req, res);
      assert.equal(signal.aborted, false);
      client.leave();
      assert.equal(await fired(signal), CLIENT_LEFT);
    });

    it('has fired when the client went before anybody asked', async () => {
      const client = open();
      const { req, res } = await next();
      const closed = once('stream' in res ? res.stream : res, 'close');
      client.leave();
      await closed;
      assert.equal(exchangeSignal(req, res).reason, CLIENT_LEFT);
    });

    it('fires when the answer is out', async () => {
      const client = open();
      const { req, res } = await next();
      const signal = exchangeSignal(req, res, 60_000);
      req.resume();
      res.end('done');
      await client.answered;
      client.leave();
      assert.equal(await fired(signal), CLIENT_LEFT);
    });

    it('fires with a Timeout when it takes too long, and leaves the connection as it is', async () => {
      const client = open();
      const { req, res } = await next();
      const reason = await fired(exchangeSignal(req, res, 1));
      assert.match(String(reason), /could not be completed in time/);
      assert.equal('stream' in res ? res.stream.closed : res.closed, false);
      client.leave();
    });

    it('keeps nothing that is called later', async () => {
      const client = open();
      const { req, res } = await next();
      const counts = (): number[] =>
        ('stream' in res ? [res.stream] : [res, req.socket]).map((it) => it.listenerCount('close'));
      const before = counts();
      const signal = exchangeSignal(req, res);
      assert.notDeepEqual(counts(), before);
      client.leave();
      await fired(signal);
      assert.ok(counts().every((count, i) => count <= (before[i] ?? 0)));
    });

    it('can be broken off so that the client does not take it for whole', async () => {
      const client = open();
      const { req, res } = await next();
      const signal = exchangeSignal(req, res);
      (res as ServerResponse).write('a part'); // both write alike
      breakOff(res);
      await fired(signal);
      if (name === 'HTTP/1.1') await assert.rejects(client.answered);
      client.leave();
    });
  });
}

describe('exchangeSignal() of a request behind others on its connection', () => {
  it('fires when the connection closes, before and after it was asked for', async () => {
    const arrived: Exchange[] = [];
    let bothHere = (): void => undefined;
    const both = new Promise<void>((resolve) => (bothHere = resolve));
    const server = http.createServer((req, res) => {
      if (arrived.push({ req, res }) === 2) bothHere();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n');
    await both;
    const [, second] = arrived;
    assert.ok(second !== undefined);
    const early = exchangeSignal(second.req, second.res);
    assert.equal(early.aborted, false);
    socket.destroy();
    assert.equal(await fired(early), CLIENT_LEFT);
    assert.equal(exchangeSignal(second.req, second.res).reason, CLIENT_LEFT);
    server.close();
  });
});
