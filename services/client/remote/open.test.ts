import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePorts } from '../../machinery/testing/free-port.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { KeyPair } from '../testing/certificates.js';
import { TestAuthority } from '../testing/certificates.js';
import type { Handler, TlsService } from '../testing/tls-service.js';
import { TestPlugin, execCredential } from '../testing/plugin.js';
import { answerJson, startTlsService } from '../testing/tls-service.js';
import { openRemoteService } from './open-remote-service.js';
import type { RemoteAnswer, RemoteService } from './remote-service.js';
import { RemoteError } from './remote-service.js';

const SECRET = 's3cret-token';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('openRemoteService()', () => {
  let authority: TestAuthority;
  let server: KeyPair;
  let service: TlsService;
  let signal: AbortSignal;
  let opened: RemoteService[] = [];
  const warnings: string[] = [];

  before(async () => {
    authority = new TestAuthority('here');
    server = authority.issue('server');
    service = await startTlsService(server, (_, res) => answerJson(res, { well: true }));
  });
  after(async () => {
    await service.close();
    authority.remove();
  });
  beforeEach(() => {
    signal = AbortSignal.timeout(10_000);
    service.received.length = 0;
    service.answer = (_, res) => answerJson(res, { well: true });
  });
  afterEach(() => {
    for (const it of opened) it.close();
    opened = [];
  });

  interface Given {
    readonly cluster?: object;
    readonly user?: object;
    readonly timeoutMs?: number;
    readonly wants?: 'json' | 'status';
  }
  function open({ cluster, user = { token: SECRET }, timeoutMs = 5000, wants = 'json' }: Given = {}): RemoteService {
    const file = join(authority.directory, 'webhook.yaml');
    const trusted = {
      server: `${service.url}/review?key=${SECRET}`,
      'certificate-authority-data': base64(authority.cert),
    };
    const config = {
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { ...trusted, ...cluster } }],
      users: [{ name: 'u', user }],
    };
    writeFileSync(file, JSON.stringify(config));
    const log = { warn: (message: string) => void warnings.push(message) };
    const remote = openRemoteService(file, { timeoutMs, wants, log, name: 'test', vocabulary: vocabulary('platform') });
    opened.push(remote);
    return remote;
  }
  const ask = (given: Given = {}): Promise<RemoteAnswer> => open(given).post({ question: 1 }, signal);

  async function failure(asked: Promise<RemoteAnswer>): Promise<string> {
    const err: unknown = await asked.then(
      (answer) => assert.fail(`was answered: ${JSON.stringify(answer)}`),
      (e: unknown) => e,
    );
    assert.ok(err instanceof RemoteError, String(err));
    assert.ok(!`${err.stack ?? ''} ${String(err.cause)}`.includes(SECRET), err.stack);
    const [where, why] = [
      err.message.slice(0, err.message.indexOf(': ')),
      err.message.slice(err.message.indexOf(': ') + 2),
    ];
    assert.match(where, /^POST https:\/\/[\w.]+(?::\d+)?\/\w*$/);
    return `${err.failure}: ${why}`;
  }

  it('follows the file, lets questions under way end, and goes on where the file cannot be used', async () => {
    const file = join(authority.directory, 'webhook.yaml');
    const remote = open();
    const before = readFileSync(file, 'utf8');
    const waiting: ServerResponse[] = [];
    service.answer = (_, res) => void waiting.push(res);
    const first = remote.post({ question: 1 }, signal);
    while (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    service.answer = (_, res) => answerJson(res, { next: true });
    writeFileSync(file, before.replace('/review', '/other'));
    assert.deepEqual((await remote.post({ question: 2 }, signal)).body, { next: true });
    const [held] = waiting;
    if (held !== undefined) answerJson(held, { first: true });
    assert.deepEqual((await first).body, { first: true });
    warnings.length = 0;
    writeFileSync(file, before.slice(0, 40));
    for (let i = 0; i < 2; i++) await remote.post({ question: 3 }, signal);
    assert.equal(warnings.length, 1);
    const asked = service.received.map(({ path }) => path.split('?')[0]);
    assert.deepEqual(asked, ['/review', '/other', '/other', '/other']);
    warnings.length = 0;
  });

  it('refuses a server that is not reached over TLS', () => {
    assert.throws(() => open({ cluster: { server: 'http://localhost' }, user: {} }), {
      message: `${authority.directory}/webhook.yaml: clusters: the server must be an https URL`,
    });
  });

  const html: Handler = (_, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<p>{}</p>');
  const typed =
    (text: string, status = 200, more = {}): Handler =>
    (_, res) =>
      void res.writeHead(status, { 'content-type': 'application/json', ...more }).end(text);
  const ANSWERS: readonly (readonly [string, Handler, string])[] = [
    [
      'a redirect',
      (_, res) => void res.writeHead(302, { location: '/other' }).end(),
      'answer: answered with a redirect (302), and none is followed',
    ],
    ['HTML', html, 'answer: the answer is no JSON that can be read'],
    ['nothing', (_, res) => void res.writeHead(200).end(), 'answer: the answer is no JSON that can be read'],
    [
      'something compressed',
      typed('{}', 200, { 'content-encoding': 'gzip' }),
      'answer: the answer is no JSON that can be read',
    ],
    ['broken JSON', typed(`{"a": ${SECRET}}`), 'answer: the answer is no JSON that can be read'],
    [
      'JSON that nests deep',
      typed('['.repeat(5000) + ']'.repeat(5000)),
      'answer: the answer is no JSON that can be read',
    ],
    [
      'more than can be taken',
      typed(`"${'x'.repeat(1024 * 1024)}"`),
      'answer: the answer is longer than 1048576 bytes',
    ],
    [
      'half an answer',
      (_, res) => void res.writeHead(200, { 'content-length': '100' }).write('{', () => res.destroy()),
      'connection: the connection was cut (ECONNRESET)',
    ],
    ['a cut connection', (_, res) => res.destroy(), 'connection: the connection was cut (ECONNRESET)'],
  ];
  for (const [what, answer, message] of ANSWERS) {
    it(`fails when the service answers with ${what}`, async () => {
      service.answer = answer;
      assert.equal(await failure(ask()), message);
    });
  }

  it('takes JSON by any name, and by none', async () => {
    for (const type of ['text/plain; charset=utf-8', 'application/jsonp', undefined]) {
      service.answer = (_, res) =>
        void res.writeHead(200, type === undefined ? {} : { 'content-type': type }).end('{"a":1}');
      assert.deepEqual((await ask()).body, { a: 1 });
    }
  });

  it('follows no redirect', async () => {
    service.answer = (_, res) => void res.writeHead(307, { location: `${service.url}/elsewhere` }).end();
    await failure(ask());
    assert.deepEqual(
      service.received.map((r) => r.path),
      [`/review?key=${SECRET}`],
    );
  });

  it('fails when an authority signed that is not in the file', async () => {
    const stranger = new TestAuthority('stranger');
    try {
      const why = await failure(ask({ cluster: { 'certificate-authority-data': base64(stranger.cert) } }));
      assert.match(why, /^untrusted: its certificate is signed by no authority that is trusted \(\w+\)$/);
      assert.deepEqual(service.received, []);
    } finally {
      stranger.remove();
    }
  });

  it('trusts the machine where the file has no authority, and the machine does not know this one', async () => {
    const why = await failure(ask({ cluster: { 'certificate-authority-data': null } }));
    assert.match(why, /^untrusted: /);
  });

  for (const cluster of [
    (port: number) => ({ server: `https://127.0.0.1:${port}/` }),
    () => ({ 'tls-server-name': 'other' }),
  ]) {
    it(`fails when the certificate is for another host: ${Object.keys(cluster(0)).join()}`, async () => {
      const why = await failure(ask({ cluster: cluster(service.port) }));
      assert.equal(why, 'untrusted: its certificate is for other hosts (ERR_TLS_CERT_ALTNAME_INVALID)');
      assert.deepEqual(service.received, []);
    });
  }

  it('asks a host by another name for the name that it is told', async () => {
    const cluster = { server: `https://127.0.0.1:${service.port}/`, 'tls-server-name': 'localhost' };
    assert.equal((await ask({ cluster })).status, 200);
  });

  it('looks at no certificate when it is told so, and says so', async () => {
    const cluster = { 'certificate-authority-data': null, 'insecure-skip-tls-verify': true };
    assert.equal((await ask({ cluster })).status, 200);
    assert.deepEqual(warnings, ['The certificate of a service is not checked']);
  });

  it('fails when nobody listens', async () => {
    const [port = 0] = await freePorts(1);
    const why = await failure(ask({ cluster: { server: `https://127.0.0.1:${port}` } }));
    assert.equal(why, 'connection: nobody listens there (ECONNREFUSED)');
  });

  it('fails when what listens speaks no TLS', async () => {
    const listener = createServer((socket) => socket.on('error', () => undefined).end('HTTP/1.1 200 OK\r\n\r\n'));
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const why = await failure(ask({ cluster: { server: `https://127.0.0.1:${port}` } }));
    listener.close();
    assert.match(why, /^connection: the connection failed \(\w+\)$/);
  });

  for (const [what, answer] of [
    ['is silent', () => undefined],
    [
      'stops in the middle',
      (_: unknown, res: ServerResponse) => void res.writeHead(200, { 'content-type': 'application/json' }).write('{'),
    ],
  ] as const) {
    it(`fails in time when the service ${what}`, async () => {
      service.answer = answer;
      assert.equal(await failure(ask({ timeoutMs: 100 })), 'timeout: no answer within 100 ms');
    });
  }

  it('ends with the signal of the asker, with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    service.answer = () => controller.abort(reason);
    await assert.rejects(open().post({}, controller.signal), reason);
    await assert.rejects(open().post({}, AbortSignal.abort(reason)), reason);
  });

  it('ends what is asked when it is closed, and is not asked again', async () => {
    const remote = open();
    service.answer = () => remote.close();
    assert.equal(await failure(remote.post({}, signal)), 'connection: the service is closed');
    assert.equal(await failure(remote.post({}, signal)), 'connection: the service is closed');
  });

  it('sends JSON as who the file says, and gives back what came', async () => {
    service.answer = (_, res) =>
      void res.writeHead(201, { 'content-type': 'application/json; charset=utf-8' }).end('{"a": [1]}');
    const user = { token: SECRET, as: 'jane', 'as-groups': ['a', 'b'] };
    assert.deepEqual(await ask({ user }), { status: 201, body: { a: [1] } });
    const [{ method, path, headers, body } = assert.fail()] = service.received;
    assert.deepEqual([method, path, body], ['POST', `/review?key=${SECRET}`, '{"question":1}']);
    assert.equal(headers.authorization, `Bearer ${SECRET}`);
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers.accept, 'application/json');
    assert.equal(headers['content-length'], '14');
    assert.equal(headers['impersonate-user'], 'jane');
    assert.equal(headers['impersonate-group'], 'a, b');
  });

  for (const [text, type, body] of [
    ['{"why": 1}', 'application/json', { why: 1 }],
    ['busy', 'text/plain', undefined],
    ['{', 'application/json', undefined],
  ] as const) {
    it(`takes a status of 400 and more as an answer: ${type} ${text}`, async () => {
      service.answer = (_, res) => void res.writeHead(503, { 'content-type': type, 'retry-after': '7' }).end(text);
      assert.deepEqual(await ask(), { status: 503, body, retryAfterMs: 7000 });
    });
  }

  it('looks at the status only when no more is wanted', async () => {
    service.answer = (_, res) => void res.writeHead(200).end('ok');
    assert.deepEqual(await ask({ wants: 'status' }), { status: 200, body: undefined });
  });

  it('asks once with what cannot change, though it is not known', async () => {
    service.answer = (_, res) => answerJson(res, {}, 401);
    assert.equal((await ask()).status, 401);
    assert.equal(service.received.length, 1);
  });

  it('reads a token file again when its token is not known, and asks once more', async () => {
    const tokenFile = join(authority.directory, 'token');
    writeFileSync(tokenFile, 'old\n');
    const remote = open({ user: { tokenFile } });
    await remote.post({}, signal);
    service.answer = ({ headers }, res) => answerJson(res, {}, headers.authorization === 'Bearer new' ? 200 : 401);
    writeFileSync(tokenFile, 'new\n');
    assert.equal((await remote.post({}, signal)).status, 200);
    writeFileSync(tokenFile, 'third\n');
    service.answer = (_, res) => answerJson(res, {}, 401);
    assert.equal((await remote.post({}, signal)).status, 401);
    assert.deepEqual(
      service.received.map((r) => r.headers.authorization?.slice(7)),
      ['old', 'old', 'new', 'new', 'third'],
    );
  });

  it('keeps connections, and replaces one that was closed meanwhile', async () => {
    const remote = open();
    await remote.post({}, signal);
    await remote.post({}, signal);
    service.closeIdle();
    await remote.post({}, signal);
    const [first, second, third] = service.received.map((r) => r.connection);
    assert.equal(first, second);
    assert.notEqual(second, third);
  });

  it('shows a certificate, and a changed one on new connections only', async () => {
    const [certFile, keyFile] = [join(authority.directory, 'c.crt'), join(authority.directory, 'c.key')];
    const put = ({ cert, key }: KeyPair): void => {
      writeFileSync(certFile, cert);
      writeFileSync(keyFile, key);
    };
    put(authority.issue('first'));
    const remote = open({ user: { 'client-certificate': certFile, 'client-key': keyFile } });
    await remote.post({}, signal);
    await remote.post({}, signal);
    service.answer = ({ client }, res) => answerJson(res, {}, client === 'second' ? 200 : 401);
    put(authority.issue('second'));
    assert.equal((await remote.post({}, signal)).status, 200);
    assert.deepEqual(
      service.received.map((r) => r.client),
      ['first', 'first', 'first', 'second'],
    );
    assert.equal(new Set(service.received.map((r) => r.connection)).size, 2);
  });

  it('lets end what is under way when the certificate changes, and its connection with it', async () => {
    const [certFile, keyFile] = [join(authority.directory, 'd.crt'), join(authority.directory, 'd.key')];
    const put = ({ cert, key }: KeyPair): void => {
      writeFileSync(certFile, cert);
      writeFileSync(keyFile, key);
    };
    put(authority.issue('first'));
    const remote = open({ user: { 'client-certificate': certFile, 'client-key': keyFile } });
    const held = new Promise<ServerResponse>((resolve) => (service.answer = (_, res) => resolve(res)));
    const slow = remote.post({}, signal);
    const res = await held;
    put(authority.issue('second'));
    service.answer = ({ client }, later) => answerJson(later, {}, client === 'second' ? 200 : 401);
    assert.equal((await remote.post({}, signal)).status, 200);
    const closed = once(res.req.socket, 'close', { signal });
    answerJson(res, { slow: true });
    assert.deepEqual(await slow, { status: 200, body: { slow: true } });
    await closed;
  });

  describe('with a credential plugin', () => {
    let plugin: TestPlugin;
    beforeEach(() => (plugin = new TestPlugin('exit 9')));
    afterEach(() => plugin.remove());
    const user = (): object => ({
      exec: { apiVersion: 'client.authentication.platform.io/v1', interactiveMode: 'Never', command: plugin.path },
    });

    it('fails as the plugin does', async () => {
      plugin.becomes(`echo ${SECRET}; echo no network >&2; exit 3`);
      const why = `credentials: credential plugin "${plugin.path}": exited with 3: no network`;
      assert.equal(await failure(ask({ user: user() })), why);
      assert.deepEqual(service.received, []);
    });

    it('fails in its own time when the plugin hangs', async () => {
      plugin.becomes('sleep 60');
      assert.equal(await failure(ask({ user: user(), timeoutMs: 150 })), 'timeout: no answer within 150 ms');
    });

    it('runs it again when the service does not know its token, once', async () => {
      plugin.becomes(`cat "$DIR/output"; sed s/old/new/ "$DIR/output" >"$DIR/next"; mv "$DIR/next" "$DIR/output"`);
      writeFileSync(join(plugin.directory, 'output'), JSON.stringify(execCredential({ token: 'old' })));
      service.answer = ({ headers }, res) => answerJson(res, {}, headers.authorization === 'Bearer new' ? 200 : 401);
      const remote = open({ user: user() });
      assert.equal((await remote.post({}, signal)).status, 200);
      service.answer = (_, res) => answerJson(res, {}, 401);
      assert.equal((await remote.post({}, signal)).status, 401);
      assert.deepEqual(
        service.received.map((r) => r.headers.authorization),
        ['Bearer old', 'Bearer new', 'Bearer new', 'Bearer new'],
      );
      assert.equal(plugin.runs.length, 3);
    });

    it('makes new connections with a changed certificate', async () => {
      const print = ({ cert, key }: KeyPair): void =>
        plugin.prints(execCredential({ clientCertificateData: cert, clientKeyData: key }));
      print(authority.issue('first'));
      const remote = open({ user: user() });
      await remote.post({}, signal);
      print(authority.issue('second'));
      service.answer = ({ client }, res) => answerJson(res, {}, client === 'second' ? 200 : 401);
      assert.equal((await remote.post({}, signal)).status, 200);
      assert.deepEqual(
        service.received.map((r) => r.client),
        ['first', 'first', 'second'],
      );
    });
  });
});
