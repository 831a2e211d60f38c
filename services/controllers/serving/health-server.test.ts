import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { PeerCertificate } from 'node:tls';
import { Counter, Registry } from 'prom-client';
import { TestAuthority } from '../../client/testing/certificates.js';
import type { Access } from './authorize-metrics.js';
import { openHealthServer, type HealthServer } from './health-server.js';

describe('the port for health and metrics', () => {
  const authority = new TestAuthority('ca');
  const pair = authority.issue('first', 'DNS:localhost');
  after(() => authority.remove());
  let server: HealthServer;
  let why: string | undefined;
  let access: Access;
  let asked: (readonly [string | undefined, string])[];
  const registry = new Registry();
  new Counter({ name: 'things_total', help: 'Things', registers: [registry] }).inc(3);
  beforeEach(async () => {
    [why, access, asked] = [undefined, 'allowed', []];
    server = await openHealthServer({
      address: '127.0.0.1',
      port: 0,
      pair,
      unready: () => why,
      access: {
        of: (authorization, path) => {
          asked.push([authorization, path]);
          return Promise.resolve(access);
        },
      },
      registry,
    });
  });
  afterEach(() => server.close());

  interface Answered {
    readonly status: number | undefined;
    readonly type: string | undefined;
    readonly body: string;
    /** Common name of the certificate that the server showed. */
    readonly shown: string;
  }
  const ask = async (
    path: string,
    o: { method?: string; headers?: Record<string, string> } = {},
  ): Promise<Answered> => {
    let shown = '';
    const checkServerIdentity = (_: string, { subject }: PeerCertificate): undefined => {
      shown = String(subject.CN);
      return undefined;
    };
    const req = request({ host: 'localhost', port: server.port, path, ca: authority.cert, agent: false, checkServerIdentity, ...o }); // prettier-ignore
    req.end();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    let body = '';
    for await (const piece of res) body += String(piece);
    return { status: res.statusCode, type: res.headers['content-type'], body, shown };
  };
  const statusOf = async (path: string, o?: Parameters<typeof ask>[1]): Promise<number | undefined> =>
    (await ask(path, o)).status;

  it('says that the process lives, and whether it is ready', async () => {
    why = 'informers are not filled yet';
    for (const path of ['/healthz', '/livez', '/healthz?verbose']) {
      const { status, body } = await ask(path);
      assert.deepEqual([status, body], [200, 'ok']);
    }
    assert.deepEqual((await ask('/readyz')).body, 'not ready: informers are not filled yet');
    assert.equal(await statusOf('/readyz'), 503);
    why = undefined;
    assert.equal(await statusOf('/readyz'), 200);
    assert.deepEqual(asked, []);
  });

  it('shows metrics to those who may read them', async () => {
    const { status, type, body } = await ask('/metrics', { headers: { authorization: 'Bearer t' } });
    assert.deepEqual([status, type], [200, registry.contentType]);
    assert.match(body, /^things_total 3$/m);
    assert.deepEqual(asked, [['Bearer t', '/metrics']]);
    for (const [next, code] of [
      ['unauthenticated', 401],
      ['forbidden', 403],
      ['unknown', 503],
    ] as const) {
      // prettier-ignore
      access = next;
      const refused = await ask('/metrics');
      assert.equal(refused.status, code);
      assert.doesNotMatch(refused.body, /things_total/);
    }
  });

  it('answers nothing else', async () => {
    assert.equal(await statusOf('/'), 404);
    assert.equal(await statusOf('/metrics/'), 404);
    assert.equal(await statusOf('/__proto__'), 404);
    for (const method of ['POST', 'PUT', 'DELETE']) assert.equal(await statusOf('/metrics', { method }), 405);
    assert.deepEqual(asked, []);
    const { status, body } = await ask('/healthz', { method: 'HEAD' });
    assert.deepEqual([status, body], [200, '']);
  });

  it('says so when metrics cannot be told', async () => {
    const broken = { get: (): never => assert.fail('secret') };
    registry.registerMetric(Object.assign(new Counter({ name: 'broken', help: 'x', registers: [] }), broken));
    try {
      const { status, body } = await ask('/metrics');
      assert.deepEqual([status, body], [500, 'Internal error']);
    } finally {
      registry.removeSingleMetric('broken');
    }
  });

  it('shows new connections the certificate that it is given', async () => {
    assert.equal((await ask('/healthz')).shown, 'first');
    const second = authority.issue('second', 'DNS:localhost');
    assert.throws(() => server.use({ cert: second.cert, key: pair.key }));
    assert.equal((await ask('/healthz')).shown, 'first');
    server.use(second);
    assert.equal((await ask('/healthz')).shown, 'second');
  });
});
