import assert from 'node:assert/strict';
import { once } from 'node:events';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { Http2Client } from './api/tools/http2-client.js';
import type { Reply } from './api/tools/client.js';
import { configMap, configMapsIn, eventually, newNamespace, ok } from './api/tools/objects.js';
import { TestServer } from './api/tools/server.js';
import type { WatchReader } from './api/tools/watch-reader.js';

/** What a client of two servers needs of its protocol. */
interface Connections {
  /** Whether it is time to ask the other server. */
  readonly away: boolean;
  request(server: TestServer, method: string, path: string, body?: object): Promise<Reply>;
}

/** Keeps connections, and goes to the other server when an answer says that its connection closes. */
class OverHttp1 implements Connections {
  away = false;

  async request({ client }: TestServer, method: string, path: string, body?: object): Promise<Reply> {
    const reply = await client.request(method, path, body === undefined ? {} : { body });
    if (reply.headers.connection === 'close') this.away = true;
    return reply;
  }
}

/**
 * One connection a server; goes to the other one when the server sends it away, or is not ready. What the server has not
 * begun, as the protocol says of a refused stream, is asked there again.
 */
class OverHttp2 implements Connections {
  readonly #sessions: ReadonlyMap<TestServer, Http2Client>;
  ready = true;

  constructor(sessions: ReadonlyMap<TestServer, Http2Client>) {
    this.#sessions = sessions;
  }

  get away(): boolean {
    const [first] = this.#sessions.values();
    return !this.ready || first === undefined || first.session.closed || first.session.destroyed;
  }

  async request(server: TestServer, method: string, path: string, body?: object): Promise<Reply> {
    const ask = (to: Http2Client | undefined): Promise<Reply> => {
      assert.ok(to !== undefined);
      return to.request(method, path, body === undefined ? {} : { body });
    };
    try {
      return await ask(this.#sessions.get(server));
    } catch (err) {
      if (!String(err).includes('NGHTTP2_REFUSED_STREAM')) throw err;
      return ask([...this.#sessions.values()].at(-1));
    }
  }
}

/** As a load balancer does: until the server is not ready. */
async function untilNotReady({ client }: TestServer): Promise<void> {
  while ((await client.get('/readyz')).code === 200) await sleep(50);
}

/** Writes and reads objects of its own, at the first server until that one stops. @returns What it wrote. */
async function work(
  name: string,
  servers: readonly [TestServer, TestServer],
  connections: Connections,
  path: string,
  over: AbortSignal,
): Promise<string[]> {
  const written: string[] = [];
  const ask = async (method: string, to: string, body?: object): Promise<Reply> => {
    const server = servers[connections.away ? 1 : 0];
    const reply = await connections.request(server, method, to, body).catch((err: unknown) => {
      throw new Error(`${method} ${to} at ${server === servers[0] ? 'the one that stops' : 'the other'}`, {
        cause: err,
      });
    });
    assert.ok(reply.code < 300, `${reply.code} ${reply.text}`);
    return reply;
  };
  for (let i = 0; !over.aborted; i++) {
    const object = `${name}-${i}`;
    await ask('POST', path, configMap(object));
    written.push(object);
    const { body } = await ask('GET', `${path}/${object}`);
    assert.equal(body.metadata.name, object);
    await ask('PUT', `${path}/${object}`, { ...body, data: { changed: 'yes' } });
  }
  return written;
}

/** Begins to create an object; the rest of the body goes out when it is asked for. */
async function beginCreate({ client }: TestServer, path: string, name: string): Promise<() => Promise<number>> {
  const body = JSON.stringify(configMap(name));
  const req = https.request(new URL(path, client.url), {
    method: 'POST',
    rejectUnauthorized: false,
    headers: {
      authorization: `Bearer ${client.token}`,
      'content-type': 'application/json',
      'content-length': body.length,
    },
  });
  const response = once(req, 'response') as Promise<[{ statusCode: number; resume(): void }]>;
  await new Promise((resolve) => req.write(body.slice(0, 10), resolve));
  return async () => {
    req.end(body.slice(10));
    const [res] = await response;
    res.resume();
    return res.statusCode;
  };
}

/** Adds the names of what was created to `names`, until the watch ends. */
async function follow(watch: WatchReader, names: Set<string>): Promise<void> {
  for (;;) {
    const event = await watch.nextOrEnd(60_000);
    if (event === undefined) return;
    if (event.type === 'ADDED') names.add(event.object.metadata.name);
  }
}

describe('a server that stops while it is at work', function () {
  this.timeout(90_000);
  let leaving: TestServer;
  let other: TestServer;
  before(async () => {
    const flags = ['--shutdown-delay-duration=1s', '--shutdown-drain-duration=20s'];
    leaving = await TestServer.start({ store: 'etcd', flags });
    other = await TestServer.start({ store: 'etcd', etcdUrl: leaving.etcd?.url ?? '' });
  });
  after(async () => {
    await other.close();
    await leaving.close();
  });

  it('fails no request, over either protocol, and ends watches cleanly', async () => {
    const servers = [leaving, other] as const;
    const namespace = await newNamespace(leaving.client);
    const path = configMapsIn(namespace);
    await eventually(async () => ((await other.client.get(path)).code === 200 ? true : undefined));
    const sessions = new Map<TestServer, Http2Client>();
    for (const server of servers) sessions.set(server, await Http2Client.connect(server.client));
    const watches = [
      await leaving.client.watch(`${path}?watch=1`),
      await (await Http2Client.connect(leaving.client)).watch(`${path}?watch=1`),
      await other.client.watch(`${path}?watch=1`),
    ];
    const seen = watches.map(() => new Set<string>());
    const following = watches.map((watch, i) => follow(watch, seen[i] as Set<string>)); // one each
    const over = new AbortController();
    const http1 = new OverHttp1();
    const http2 = new OverHttp2(sessions);
    const workers = Array.from({ length: 6 }, (_, i) => [
      work(`one-${i}`, servers, http1, path, over.signal),
      work(`two-${i}`, servers, http2, path, over.signal),
    ]).flat();
    const working = Promise.all(workers);
    const notReady = untilNotReady(leaving).then(() => (http2.ready = false));
    working.catch(() => over.abort());
    const created = await beginCreate(leaving, path, 'slow');
    await sleep(300);

    const stopped = leaving.end();
    assert.deepEqual(await Promise.all(watches.slice(0, 2).map(({ ended }) => ended)), ['end', 'end']);
    assert.equal(await created(), 201, 'a request that began before is answered');
    assert.equal(await stopped, 0);
    await notReady;
    assert.ok(http1.away);
    await sleep(200); // on the other server alone
    over.abort();
    const written = [...(await working).flat(), 'slow'].sort();
    assert.ok(written.length > workers.length);

    const { items } = ok(await other.client.get(path));
    assert.deepEqual(items.map(({ metadata }) => metadata.name).sort(), written);
    await eventually(() => Promise.resolve(seen[2]?.size === written.length ? true : undefined));
    watches[2]?.close();
    await Promise.all(following);
    const all = new Set(written);
    for (const names of seen) assert.deepEqual([...names].filter((name) => !all.has(name)), []); // prettier-ignore
    for (const client of sessions.values()) client.close();
  });
});
