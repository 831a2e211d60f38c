import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  createSecureServer,
  type ClientHttp2Session,
  type Http2SecureServer,
  type ServerHttp2Session,
} from 'node:http2';
import { createServer, type Server } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { mock } from 'node:test';
import { tcpProxy } from '../../machinery/testing/tcp-proxy.js';
import { TestAuthority } from '../testing/certificates.js';
import { Agents, type Connections } from './agents.js';
import { exchange, type Exchanged } from './exchange.js';
import { suspect } from './http2-sessions.js';

type Answer = (path: string, body: string) => { readonly status?: number; readonly body: string } | undefined;

describe('requests over HTTP/2', () => {
  const authority = new TestAuthority('ca');
  const pair = authority.issue('server', 'DNS:localhost,IP:127.0.0.1');
  after(() => authority.remove());

  let server: Http2SecureServer;
  let port: number;
  let sessions: ServerHttp2Session[];
  let protocols: string[];
  /** undefined: none comes. */
  let answer: Answer;
  let agents: Agents;
  let connections: Connections;
  const never = new AbortController().signal;

  beforeEach(async () => {
    sessions = [];
    protocols = [];
    answer = (_, body) => ({ body });
    server = createSecureServer({ ...pair, allowHTTP1: true });
    server.on('session', (session) => sessions.push(session));
    server.on('request', (req, res) => {
      protocols.push(req.httpVersion);
      const pieces: Buffer[] = [];
      req.on('data', (piece: Buffer) => pieces.push(piece));
      req.on('end', () => {
        const found = answer(req.url, Buffer.concat(pieces).toString());
        if (found === undefined) return;
        res.writeHead(found.status ?? 200, {
          'content-type': 'text/plain',
          'x-authority': req.headers[':authority'] ?? '',
        });
        res.end(found.body);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
    agents = new Agents({ authorities: authority.cert, serverName: undefined, insecure: false });
    connections = agents.for({ headers: {}, certificateVersion: 0 });
  });
  afterEach(() => {
    agents.close();
    for (const session of sessions) session.destroy();
    server.close();
  });

  const ask = (body: string, more: object = {}, signal = never, host = 'localhost'): Promise<Exchanged> =>
    exchange(
      {
        method: 'POST',
        url: new URL(`https://${host}:${port}/path?a=b`),
        headers: { 'content-type': 'text/plain' },
        body: Buffer.from(body),
        maxBytes: 100_000,
        ...connections,
        ...more,
      },
      signal,
    );

  it('go on one session, with what they say', async () => {
    answer = (path, body) => ({ status: 403, body: `${path} ${body}` });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => ask(`q${i}`, { headers: { host: 'hook.ns.svc' } })),
    );
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.toString()]),
      Array.from({ length: 200 }, (_, i) => [403, `/path?a=b q${i}`]),
    );
    assert.equal(answers[0]?.headers['x-authority'], 'hook.ns.svc');
    assert.deepEqual([sessions.length, new Set(protocols)], [1, new Set(['2.0'])]);
  });

  it('go over HTTP/1.1 where nothing else is offered, found out once', async () => {
    const plain: Server = createServer(pair, (req, res) => {
      protocols.push(req.httpVersion);
      req.resume().on('end', () => res.end('plain'));
    });
    let connected = 0;
    plain.on('connection', () => connected++);
    plain.listen(0, '127.0.0.1');
    await once(plain, 'listening');
    ({ port } = plain.address() as AddressInfo);
    try {
      for (let i = 0; i < 3; i++) assert.equal((await ask('q')).body.toString(), 'plain');
      assert.deepEqual([protocols, connected], [['1.1', '1.1', '1.1'], 2]); // the first one asked what is spoken
    } finally {
      agents.close();
      plain.closeAllConnections();
      plain.close();
    }
  });

  it('go over HTTP/1.1 where HTTP/2 is not asked for', async () => {
    await ask('q', { http2: undefined });
    assert.deepEqual(protocols, ['1.1']);
  });

  it('fail as those over HTTP/1.1 do', async () => {
    const other = new TestAuthority('stranger');
    other.remove();
    const stranger = new Agents({ authorities: other.cert, serverName: undefined, insecure: false });
    const wrongName = new Agents({ authorities: authority.cert, serverName: 'other.svc', insecure: false });
    const credential = { headers: {}, certificateVersion: 0 };
    for (const [asked, failure, why] of [
      [stranger, 'untrusted', /signed by no authority/],
      [wrongName, 'untrusted', /for other hosts/],
    ] as const) {
      await assert.rejects(ask('q', asked.for(credential)), { failure, message: why });
      asked.close();
    }
    server.close();
    const nobody = { url: new URL('https://localhost:1/') };
    await assert.rejects(ask('q', nobody), { failure: 'connection', message: /nobody listens there/ });
  });

  it('are tried again on a new session when the kept one has ended', async () => {
    await ask('one');
    sessions[0]?.destroy();
    assert.equal((await ask('two')).body.toString(), 'two');
    sessions[1]?.goaway();
    assert.equal((await ask('three')).body.toString(), 'three');
    assert.equal(sessions.length, 3);
  });

  it('are not sent again on a connection that is new', async () => {
    let asked = 0;
    answer = () => {
      asked++;
      sessions.at(-1)?.destroy();
      return undefined;
    };
    await assert.rejects(ask('q'), { failure: 'connection' });
    assert.equal(asked, 1);
  });

  it('end with what ends them, and leave a session that lives to others', async () => {
    const gone = new AbortController();
    answer = (_, body) => {
      if (body !== 'slow') return { body };
      gone.abort(new Error('enough'));
      return undefined;
    };
    await assert.rejects(ask('slow', {}, gone.signal), /enough/);
    assert.equal((await ask('next')).body.toString(), 'next');
    assert.equal(sessions.length, 1);
    await assert.rejects(ask('never', {}, AbortSignal.abort(new Error('before'))), /before/);
  });

  it('leave a session whose other side is dead', async () => {
    const wire = await tcpProxy(port);
    ({ port } = wire);
    try {
      await ask('one');
      const session = await connections.http2.of(new URL(`https://localhost:${port}/`));
      wire.pause();
      const gone = new AbortController();
      const hanging = ask('two', {}, gone.signal);
      await new Promise((resolve) => setImmediate(resolve)); // it is on its way
      gone.abort(new Error('enough'));
      await assert.rejects(hanging, /enough/);
      if (session?.destroyed === false) await once(session, 'close');
      wire.resume();
      assert.equal((await ask('three')).body.toString(), 'three');
      assert.equal(wire.accepted, 2);
    } finally {
      await wire.close();
    }
  });

  describe('that are given up', () => {
    const PING_MS = 2_000;
    const kept = async (): Promise<ClientHttp2Session> => {
      await ask('one');
      return (await connections.http2.of(new URL(`https://localhost:${port}/`))) ?? assert.fail();
    };
    /** Resolves when every earlier ping has its answer. */
    const answered = (session: ClientHttp2Session): Promise<unknown> =>
      new Promise((resolve, reject) => session.ping((err) => (err === null ? resolve(true) : reject(err))));
    beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
    afterEach(() => mock.timers.reset());

    it('leave a session that lives, however many they are, with one ping', async () => {
      const session = await kept();
      let pings = 0;
      sessions[0]?.on('ping', () => pings++);
      const before = session.listenerCount('close');
      const gone = new AbortController();
      answer = (_, body) => (body === 'never' ? undefined : { body });
      const given = Array.from({ length: 50 }, () => assert.rejects(ask('never', {}, gone.signal), /enough/));
      await new Promise((resolve) => setImmediate(resolve)); // they are on their way
      gone.abort(new Error('enough'));
      assert.equal(session.listenerCount('close'), before + 1);
      await Promise.all([...given, answered(session)]);
      mock.timers.tick(10 * PING_MS);
      assert.equal((await ask('next')).body.toString(), 'next');
      assert.deepEqual([session.destroyed, sessions.length, pings], [false, 1, 2]); // the other ping is the test's
      assert.equal(session.listenerCount('close'), before);
    });

    it('end a session that is dead in time, though it has answered once', async () => {
      const wire = await tcpProxy(port);
      ({ port } = wire);
      try {
        const session = await kept();
        suspect(session);
        await answered(session);
        wire.pause();
        suspect(session);
        mock.timers.tick(PING_MS - 1);
        suspect(session); // has no say in when it ends
        assert.equal(session.destroyed, false);
        mock.timers.tick(1);
        await new Promise((resolve) => setImmediate(resolve)); // what had come by then would have been read
        assert.equal(session.destroyed, true);
        suspect(session);
      } finally {
        await wire.close();
      }
    });
  });

  it('fail on a session for streams that shows no more that it lives', async () => {
    const wire = await tcpProxy(port);
    ({ port } = wire);
    const alive = { everyMs: 20, withinMs: 2_000 };
    const streams = new Agents({ authorities: authority.cert, serverName: undefined, insecure: false }, { forStreams: alive }); // prettier-ignore
    connections = streams.for({ headers: {}, certificateVersion: 0 });
    try {
      await ask('one');
      const session = (await connections.http2.of(new URL(`https://localhost:${port}/`))) ?? assert.fail();
      for (let pings = 0; pings < 3; pings++) await once(sessions[0] ?? assert.fail(), 'ping');
      assert.equal(session.destroyed, false);
      answer = () => undefined;
      const hanging = ask('two', { isRepeatable: false });
      wire.pause();
      await assert.rejects(hanging, { failure: 'connection' });
    } finally {
      streams.close();
      await wire.close();
    }
  });

  it('take no answer that is too long', async () => {
    answer = () => ({ body: 'x'.repeat(200_000) });
    await assert.rejects(ask('q'), { failure: 'answer', message: /longer than 100000 bytes/ });
    answer = (_, body) => ({ body });
    assert.equal((await ask('next')).body.toString(), 'next');
  });

  it('wait no longer for a connection than they are told', async () => {
    const silent = createTcpServer((socket) => socket.on('error', () => undefined)); // never speaks TLS
    const open = new Set<Socket>();
    silent.on('connection', (socket) => open.add(socket));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    ({ port } = silent.address() as AddressInfo);
    try {
      await assert.rejects(ask('q', { connectMs: 20 }), { failure: 'connection' });
    } finally {
      for (const socket of open) socket.destroy();
      silent.close();
    }
  });

  it('end their sessions when no more is asked of them', async () => {
    await ask('one');
    const [session] = sessions;
    agents.retire();
    if (session?.closed !== true) await once(session ?? assert.fail(), 'close');
  });
});
