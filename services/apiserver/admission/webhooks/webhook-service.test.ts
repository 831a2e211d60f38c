import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { UNOBSERVED } from '../../../machinery/breaker/breaker.js';
import { TestAuthority } from '../../../client/testing/certificates.js';
import { answerJson, startTlsService, type TlsService } from '../../../client/testing/tls-service.js';
import { freePorts } from '../../../machinery/testing/free-port.js';
import { RemoteError } from '../../../client/remote/remote-service.js';
import { ANONYMOUS, type WebhookUsers } from './credentials.js';
import { Callers } from './callers.js';
import { compileWebhooks, type CompiledWebhook } from './compiled.js';
import { CallError } from './errors.js';
import { Pools } from './pools.js';
import { placesOf } from './service-places.js';
import { cached } from './testing/webhook-scene.js';
import { WebhookService } from './webhook-service.js';

const { signal } = new AbortController();

type Parts = Readonly<Record<string, object>>;
const objectsOf = (parts: Parts): Parameters<typeof placesOf>[0] => {
  const held = new Map(Object.entries(parts).map(([key, object]) => [key, cached(object)]));
  return { cached: ({ resource }, namespace, name) => held.get(`${resource} ${namespace}/${name}`) };
};

describe('placesOf()', () => {
  const service = (spec: object): Parts => ({ 'services n/s': { spec } });
  const endpoints = (...subsets: object[]): Parts => ({ 'endpoints n/s': { subsets } });
  const of = (parts: Parts, port = 443): readonly string[] =>
    placesOf(objectsOf(parts), 'n', 's', port).map(({ host, port: at }) => `${host}:${at}`);
  const plain = service({ clusterIP: '10.0.0.1', ports: [{ port: 443 }] });
  const ready = { addresses: [{ ip: '10.1.0.1' }, { ip: '10.1.0.2' }], notReadyAddresses: [{ ip: '10.1.0.9' }], ports: [{ port: 8443 }] }; // prettier-ignore

  const ROWS: readonly (readonly [string, Parts, readonly string[]])[] = [
    ['the ready servers', { ...plain, ...endpoints(ready) }, ['10.1.0.1:8443', '10.1.0.2:8443']],
    ['the cluster IP where none is known', plain, ['10.0.0.1:443']],
    ['the cluster IP where none is ready', { ...plain, ...endpoints({ ...ready, addresses: [] }) }, ['10.0.0.1:443']],
    ['the port of the same name', { ...service({ ports: [{ port: 443, name: 'b' }] }), ...endpoints({ ...ready, ports: [{ name: 'a', port: 1 }, { name: 'b', port: 2 }] }) }, ['10.1.0.1:2', '10.1.0.2:2']], // prettier-ignore
    ['servers of all subsets', { ...plain, ...endpoints(ready, { addresses: [{ ip: '10.1.0.3' }], ports: [{ port: 9 }] }) }, ['10.1.0.1:8443', '10.1.0.2:8443', '10.1.0.3:9']], // prettier-ignore
    ['the name of another host', service({ type: 'ExternalName', externalName: 'a.example' }), ['a.example:443']],
  ];
  for (const [what, parts, expected] of ROWS) it(`finds ${what}`, () => assert.deepEqual(of(parts), expected));

  const REFUSED: readonly (readonly [string, Parts, RegExp])[] = [
    ['a service that is not there', {}, /^Error: service "s" not found$/],
    ['a port that it has not', service({ ports: [{ port: 80 }] }), /no service port 443 found for service "s"/],
    [
      'one without servers',
      service({ clusterIP: 'None', ports: [{ port: 443 }] }),
      /no endpoints available for service "s"/,
    ],
  ];
  for (const [what, parts, why] of REFUSED) it(`refuses ${what}`, () => assert.throws(() => of(parts), why));
});

describe('WebhookService', () => {
  const authority = new TestAuthority('hooks');
  let service: TlsService;
  let pools: Pools;
  const pair = authority.issue('hook', 'DNS:localhost,DNS:s.n.svc');
  before(async () => (service = await startTlsService(pair, (_, res) => answerJson(res, {}))));
  beforeEach(() => {
    pools = new Pools();
    service.received.splice(0);
    service.answer = (_, res): void => answerJson(res, {});
  });
  afterEach(() => pools.close());
  after(async () => {
    await service.close();
    authority.remove();
  });

  const caBundle = Buffer.from(authority.cert).toString('base64');
  const open = (config: object, parts: Parts = {}, users: WebhookUsers = ANONYMOUS): WebhookService =>
    new WebhookService({ caBundle, ...config }, 10, { objects: objectsOf(parts), users, pools, userAgent: 'test' });
  const behind = (...ports: number[]): WebhookService =>
    open(
      { service: { namespace: 'n', name: 's', path: '/p' } },
      {
        'services n/s': { spec: { ports: [{ port: 443 }] } },
        'endpoints n/s': { subsets: ports.map((port) => ({ addresses: [{ ip: '127.0.0.1' }], ports: [{ port }] })) },
      },
    );
  const failure = async (asked: Promise<unknown>): Promise<string> => {
    const err: unknown = await asked.catch((reason: unknown) => reason);
    assert.ok(err instanceof RemoteError, String(err));
    return err.message;
  };
  const closedPort = async (): Promise<number> => (await freePorts(1))[0] ?? 0;

  it('asks a URL, and keeps the connection', async () => {
    const hook = open({ url: `${service.url}/a/b` });
    for (let i = 0; i < 2; i++) assert.equal((await hook.post(Buffer.from('{"x":1}'), signal)).status, 200);
    const [first, second] = service.received;
    assert.deepEqual(
      [first?.path, first?.body, first?.connection],
      ['/a/b?timeout=10s', '{"x":1}', second?.connection],
    );
  });

  it('asks for paths without empty parts, and never elsewhere', async () => {
    await open({ url: `${service.url}//elsewhere.example/a` }).post({}, signal);
    const parts = {
      'services n/s': { spec: { ports: [{ port: 443 }] } },
      'endpoints n/s': { subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port: service.port }] }] },
    };
    for (const path of ['//elsewhere.example/b/', 'c']) {
      await open({ service: { namespace: 'n', name: 's', path } }, parts).post({}, signal);
    }
    assert.deepEqual(
      service.received.map(({ path, headers }) => `${headers.host} ${path}`),
      [
        `localhost:${service.port} /elsewhere.example/a?timeout=10s`,
        's.n.svc /elsewhere.example/b?timeout=10s',
        's.n.svc /c?timeout=10s',
      ],
    );
  });

  it('trusts each certificate of the bundle, also the own one of the server', async () => {
    const own = Buffer.from(pair.cert).toString('base64');
    assert.equal((await open({ url: service.url, caBundle: own }).post({}, signal)).status, 200);
  });

  it('shares connections with another webhook of the same server', async () => {
    await open({ url: `${service.url}/a` }).post({}, signal);
    await open({ url: `${service.url}/b` }).post({}, signal);
    assert.equal(new Set(service.received.map(({ connection }) => connection)).size, 1);
    assert.equal(pools.size, 1);
  });

  it('uses no connection of another user', async () => {
    const { credentials } = await ANONYMOUS.of('');
    const as = (id: string): WebhookUsers => ({ ...ANONYMOUS, of: () => ({ credentials, id }) });
    await open({ url: service.url }, {}, as('a')).post({}, signal);
    await open({ url: service.url }, {}, as('b')).post({}, signal);
    assert.equal(new Set(service.received.map(({ connection }) => connection)).size, 2);
  });

  it('asks a service by its name, over the address of a server', async () => {
    await behind(service.port).post({}, signal);
    assert.equal(service.received[0]?.headers.host, 's.n.svc');
    assert.match(behind().shown, /^Post "https:\/\/s\.n\.svc:443\/p\?timeout=10s"$/);
  });

  it('asks the servers in turn', async () => {
    const second = await startTlsService(authority.issue('hook', 'DNS:s.n.svc'), (_, res) => answerJson(res, {}));
    const hook = behind(service.port, second.port);
    for (let i = 0; i < 4; i++) await hook.post({}, signal);
    assert.deepEqual([service.received.length, second.received.length], [2, 2]);
    await second.close();
  });

  it('asks past a dead one, which comes last from then on', async () => {
    const hook = behind(await closedPort(), service.port);
    for (let i = 0; i < 4; i++) assert.equal((await hook.post({}, signal)).status, 200);
    assert.equal(service.received.length, 4);
    assert.match(
      await failure(behind(await closedPort(), await closedPort()).post({}, signal)),
      /nobody listens there/,
    );
  });

  it('asks past one that accepts no connection in time', async () => {
    const silent: Server = createServer((socket) => void socket.on('error', () => undefined));
    silent.listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    assert.equal((await behind((silent.address() as AddressInfo).port, service.port).post({}, signal)).status, 200);
    silent.close();
  });

  it('asks no other one when a server answers that it cannot', async () => {
    service.answer = (_, res): void => answerJson(res, {}, 500);
    assert.equal((await behind(service.port, await closedPort()).post({}, signal)).status, 500);
    assert.equal(service.received.length, 1);
  });

  it('trusts the bundle of the webhook and no other', async () => {
    const stranger = new TestAuthority('stranger');
    const other = Buffer.from(stranger.cert).toString('base64');
    assert.match(await failure(open({ url: service.url, caBundle: other }).post({}, signal)), /signed by no authority/);
    assert.match(
      await failure(open({ url: service.url, caBundle: undefined }).post({}, signal)),
      /signed by no authority/,
    );
    stranger.remove();
    assert.throws(() => open({ url: service.url, caBundle: 'QQ==' }), /caBundle: holds no certificate in PEM/);
  });

  describe('Callers', () => {
    const callers = (): Callers =>
      new Callers({
        objects: objectsOf({}),
        users: ANONYMOUS,
        pools,
        userAgent: 'test',
        log: { warn: () => undefined },
        metrics: { breaker: () => UNOBSERVED },
      });
    const compiled = (webhook: object): CompiledWebhook =>
      compileWebhooks([cached({ metadata: { name: 'c' }, webhooks: [{ name: 'w', clientConfig: { url: service.url, caBundle }, ...webhook }] })])[0]!; // prettier-ignore

    it('keep the breaker of a webhook that stays as it is', () => {
      const all = callers();
      const first = all.of(compiled({}));
      all.keep([compiled({ failurePolicy: 'Ignore' })]);
      assert.equal(all.of(compiled({})), first);
      assert.notEqual(all.of(compiled({ timeoutSeconds: 3 })), first);
      all.keep([]);
      assert.notEqual(all.of(compiled({})), first);
    });

    it('fail in time', async () => {
      service.answer = (): void => undefined;
      const { service: hook } = callers().of(compiled({ timeoutSeconds: 1 }));
      const err: unknown = await hook.post({}, signal).catch((reason: unknown) => reason);
      assert.ok(err instanceof RemoteError && err.failure === 'timeout');
    });

    it('cannot ask a webhook whose authorities cannot be read', () => {
      assert.throws(() => callers().of(compiled({ clientConfig: { url: 'https://a', caBundle: 'QQ==' } })), CallError);
    });
  });
});
