import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestAuthority, type Pair } from '../testing/authority.js';
import { startScene, type Reply, type Scene } from '../testing/scene.js';
import { Authorities } from './authorities.js';
import { clientCertificates, PeerCertificates } from './client-certificate.js';
import { requestHeaders } from './request-header.js';

const log = { info: () => undefined, warn: () => undefined };

describe('clientCertificates() and requestHeaders()', () => {
  const stop = new AbortController();
  const dir = mkdtempSync(join(tmpdir(), 'certificates-'));
  const clients = TestAuthority.root('/CN=clients');
  const otherClients = TestAuthority.root('/CN=other clients');
  const proxies = TestAuthority.root('/CN=proxies');
  const strangers = TestAuthority.root('/CN=strangers');
  const alice = clients.issue('/O=one/O=two/CN=alice');
  const proxy = proxies.issue('/CN=front-proxy');
  let scene: Scene;

  const peers = (name: string, ...bundle: string[]): PeerCertificates => {
    writeFileSync(join(dir, name), bundle.join(''));
    return new PeerCertificates(new Authorities(join(dir, name), log, stop.signal));
  };

  before(async () => {
    scene = await startScene({
      authenticators: [
        requestHeaders(
          {
            requestHeaderAllowedNames: ['front-proxy'],
            requestHeaderUsernameHeaders: ['X-Remote-User', 'X-Other-User'],
            requestHeaderGroupHeaders: ['X-Remote-Group'],
            requestHeaderExtraHeadersPrefix: ['X-Remote-Extra-'],
          },
          peers('proxies.crt', proxies.cert),
        ),
        clientCertificates(peers('clients.crt', clients.cert, otherClients.cert)),
      ],
      clientAuthorities: [clients.cert + otherClients.cert, proxies.cert],
    });
  });
  after(async () => {
    stop.abort();
    await scene.close();
    [clients, otherClients, proxies, strangers].forEach((authority) => authority.remove());
    rmSync(dir, { recursive: true });
  });

  type Headers = readonly (readonly [string, string])[];
  const ask = (certificate?: Pair, headers: Headers = []): Promise<Reply> =>
    scene.ask({ headers, ...(certificate === undefined ? {} : { certificate }) });
  const userOf = ({ body }: Reply): unknown => body.user;

  const refused: readonly (readonly [what: string, certificate: () => Pair, headers?: Headers])[] = [
    ['the certificate of a stranger', () => strangers.issue('/O=system:masters/CN=alice')],
    ['an expired certificate', () => clients.issue('/CN=alice', { from: '20200101000000Z', to: '20200102000000Z' })],
    ['one that is not valid yet', () => clients.issue('/CN=alice', { from: '20480101000000Z', to: '20480102000000Z' })],
    ['one for servers', () => clients.issue('/CN=alice', { extensions: 'extendedKeyUsage=serverAuth\n' })],
    ['one without a name', () => clients.issue('/O=system:masters')],
    ['one with two names', () => clients.issue('/CN=alice/CN=admin')],
    ['a proxy of another name', () => proxies.issue('/CN=front-proxy2'), [['X-Remote-User', 'bob']]],
    ['a proxy that names nobody', () => proxy],
    ['a proxy that names an empty user', () => proxy, [['X-Remote-User', '']]],
    ['a proxy that names two users', () => proxy, [['X-Remote-User', 'bob'], ['X-Remote-User', 'admin']]], // prettier-ignore
    ['a proxy that names two users in other cases', () => proxy, [['X-Remote-User', 'bob'], ['x-remote-USER', 'admin']]], // prettier-ignore
    ['a proxy whose header is no UTF-8', () => proxy, [['X-Remote-User', '\xff']]],
  ];
  for (const [what, certificate, headers] of refused) {
    it(`refuses ${what}`, async () => {
      const reply = await ask(certificate(), headers);
      assert.ok(reply.code === 401 || reply.code === 400, JSON.stringify(reply));
      if (reply.code === 401) assert.equal(reply.headers['www-authenticate'], 'Bearer');
    });
  }

  it('knows clients of every authority of the bundle', async () => {
    assert.deepEqual(userOf(await ask(alice)), {
      name: 'alice',
      uid: '',
      groups: ['one', 'two', 'system:authenticated'],
      extra: {},
    });
    assert.equal((await ask(otherClients.issue('/CN=bob'))).body.user?.name, 'bob');
  });

  it('knows nobody without a certificate', async () => {
    assert.equal((await ask()).body.user?.name, 'system:anonymous');
  });

  it('does not take forged headers from a client, nor leave them on the request', async () => {
    for (const certificate of [undefined, alice]) {
      const reply = await ask(certificate, [
        ['X-Remote-User', 'admin'],
        ['X-Remote-Group', 'system:masters'],
        ['x-remote-extra-a', 'b'],
      ]);
      assert.equal(reply.body.user?.name, certificate === undefined ? 'system:anonymous' : 'alice');
      assert.equal(reply.body.user.groups.includes('system:masters'), false);
      assert.deepEqual(Object.keys(reply.body.headers ?? {}).filter((name) => name.startsWith('x-')), []); // prettier-ignore
    }
  });

  it('believes the proxy', async () => {
    const reply = await ask(proxy, [
      ['x-remote-user', 'Zoë, 王'].map((text) => Buffer.from(text).toString('latin1')) as [string, string],
      ['X-Remote-Group', 'a, b'],
      ['X-Remote-Group', 'c'],
      ['X-Remote-Extra-Acme%2FProject', 'one'],
      ['X-Remote-Extra-acme%2fproject', 'two'],
      ['X-Remote-Extra-__proto__', 'three'],
      ['Accept', '*/*'],
    ]);
    assert.deepEqual(userOf(reply), {
      name: 'Zoë, 王',
      uid: '',
      groups: ['a, b', 'c', 'system:authenticated'],
      extra: JSON.parse('{"acme/project":["one","two"],"__proto__":["three"]}') as unknown,
    });
    assert.deepEqual(Object.keys(reply.body.headers ?? {}).sort(), ['accept', 'connection', 'host']);
  });

  it('asks the second header when the first has no value', async () => {
    const reply = await ask(proxy, [['X-Remote-User', ''], ['X-Other-User', 'bob']]); // prettier-ignore
    assert.equal(reply.body.user?.name, 'bob');
  });
});

describe('requestHeaders() before clientCertificates() of the same authority', () => {
  const stop = new AbortController();
  const dir = mkdtempSync(join(tmpdir(), 'certificates-one-'));
  const authority = TestAuthority.root('/CN=one for all');
  const proxy = authority.issue('/O=system:masters/CN=front-proxy');
  let scene: Scene;

  before(async () => {
    writeFileSync(join(dir, 'ca.crt'), authority.cert);
    const peers = (): PeerCertificates =>
      new PeerCertificates(new Authorities(join(dir, 'ca.crt'), log, stop.signal, 60_000));
    scene = await startScene({
      authenticators: [
        requestHeaders(
          {
            requestHeaderAllowedNames: ['front-proxy'],
            requestHeaderUsernameHeaders: ['X-Remote-User'],
            requestHeaderGroupHeaders: ['X-Remote-Group'],
            requestHeaderExtraHeadersPrefix: ['X-Remote-Extra-'],
          },
          peers(),
        ),
        clientCertificates(peers()),
      ],
      clientAuthorities: [authority.cert],
    });
  });
  after(async () => {
    stop.abort();
    await scene.close();
    authority.remove();
    rmSync(dir, { recursive: true });
  });

  const refused: readonly (readonly [what: string, headers: readonly (readonly [string, string])[]])[] = [
    ['two users', [['X-Remote-User', 'bob'], ['X-Remote-User', 'admin']]], // prettier-ignore
    ['a user that is no UTF-8', [['X-Remote-User', '\xff']]],
    ['a user without a name', [['X-Remote-User', '']]],
    ['groups and no user', [['X-Remote-Group', 'readers']]],
  ];
  for (const [what, headers] of refused) {
    it(`does not take ${what} for the proxy itself`, async () => {
      assert.equal((await scene.ask({ certificate: proxy, headers })).code, 401);
    });
  }

  it('takes what the proxy asks for itself for its own', async () => {
    assert.equal((await scene.ask({ certificate: proxy })).body.user?.name, 'front-proxy');
  });
});

describe('PeerCertificates', () => {
  const root = TestAuthority.root('/CN=root');
  after(() => root.remove());

  it('judges a connection again when a certificate has ended or the authorities have changed', async () => {
    const { X509Certificate } = await import('node:crypto');
    const leaf = new X509Certificate(root.issue('/CN=a').cert);
    const peer = { authorized: true, getPeerX509Certificate: () => leaf };
    const authorities = { anchors: [new X509Certificate(root.cert)], generation: 0 };
    let nowMs = Date.now();
    let risenMs = 0;
    const read = authorities as unknown as Authorities; // what is read of them
    const certificates = new PeerCertificates(read, () => nowMs, () => risenMs); // prettier-ignore
    assert.equal(certificates.of(peer), leaf);
    nowMs += 3 * 24 * 3_600_000;
    assert.throws(() => certificates.of(peer), /expired/);
    nowMs = Date.now();
    assert.throws(() => certificates.of(peer), /expired/, 'what was refused stays refused for a moment');
    authorities.generation++;
    assert.equal(certificates.of(peer), leaf);
    nowMs -= 3 * 24 * 3_600_000;
    authorities.generation++;
    assert.throws(() => certificates.of(peer), /not valid yet/);
    nowMs = Date.now();
    risenMs += 1_001;
    assert.equal(certificates.of(peer), leaf, 'the clock was set right');
    authorities.anchors = [];
    authorities.generation++;
    assert.throws(() => certificates.of(peer), /no known authority/);
  });
});
