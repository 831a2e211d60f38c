import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestAuthority } from '../../services/client/testing/certificates.js';
import { startTlsService, type TlsService } from '../../services/client/testing/tls-service.js';
import { eventsIn, flagsFor, place, POLICY, until, type ShownEvent } from './tools/audit.js';
import { configMap, configMapsIn, newNamespace, ok, refused } from './tools/objects.js';
import { TestServer } from './tools/server.js';

describe('the backends of the audit', function () {
  this.timeout(90_000);
  let server: TestServer | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  it('costs nobody anything without a policy', async () => {
    const { log } = place();
    server = await TestServer.start({ store: 'embedded', flags: [`--audit-log-path=${log}`] });
    const reply = await server.client.get('/version');
    assert.equal(reply.headers['audit-id'], undefined);
    assert.match(server.log, /there is no policy/);
    assert.equal(existsSync(log), false);
  });

  it('loses no event of a request that was answered, when the process is killed among hundreds', async () => {
    const where = place({ ...POLICY, rules: [{ level: 'Metadata' }] });
    server = await TestServer.start({ store: 'embedded', flags: flagsFor(where, '--audit-log-maxsize=1') });
    const { client, pid } = server;
    const path = configMapsIn(await newNamespace(client));
    const answered: string[] = [];
    const attempts = Array.from({ length: 500 }, async (_, i) => {
      const reply = await client.request('POST', path, {
        body: configMap(`c-${i}`),
        headers: { 'audit-id': `create-${i}` },
      });
      if (reply.code === 201) answered.push(`create-${i}`);
      if (answered.length === 200) process.kill(pid, 'SIGKILL');
    });
    const ends = await Promise.allSettled(attempts);
    assert.ok(answered.length >= 200, String(answered.length));
    assert.ok(
      ends.some(({ status }) => status === 'rejected'),
      'all were answered before the end',
    );
    const lines = readdirSync(join(where.dir, 'log')).flatMap((name) =>
      readFileSync(join(where.dir, 'log', name), 'utf8').split('\n'),
    );
    const complete = new Set(
      lines
        .filter((line) => line.includes('"stage":"ResponseComplete"') && line.endsWith('}'))
        .map((line) => (JSON.parse(line) as ShownEvent).auditID),
    );
    assert.deepEqual(
      answered.filter((id) => !complete.has(id)),
      [],
    );
    await server.restart(); // and goes on in the same file
    ok(await server.client.get('/version'));
    assert.equal(eventsIn(where.log).at(-1)?.requestURI, '/version');
  });

  it('writes what waits in a batching log before it stops', async () => {
    const where = place({ ...POLICY, rules: [{ level: 'Metadata', omitStages: ['RequestReceived'] }] });
    const batch = [
      '--audit-log-mode=batch',
      '--audit-log-batch-buffer-size=20',
      '--audit-log-batch-max-size=20',
      '--audit-log-batch-max-wait=1h',
    ];
    server = await TestServer.start({ store: 'embedded', flags: flagsFor(where, ...batch) });
    for (let i = 0; i < 5; i++) ok(await server.client.get(`/version?i=${i}`));
    assert.deepEqual(eventsIn(where.log), []);
    await server.end();
    assert.deepEqual(
      eventsIn(where.log)
        .map(({ requestURI }) => requestURI)
        .filter((uri) => uri.startsWith('/version?')),
      [0, 1, 2, 3, 4].map((i) => `/version?i=${i}`),
    );
  });

  describe('on a disk that is full', () => {
    const full = (): ReturnType<typeof place> => {
      const where = place();
      mkdirSync(join(where.dir, 'log'));
      symlinkSync('/dev/full', where.log);
      return where;
    };

    it('loses and counts events, and requests go on', async () => {
      server = await TestServer.start({ store: 'embedded', flags: flagsFor(full()) });
      ok(await server.client.get('/version'));
      assert.ok((await server.metric('apiserver_audit_error_total', { plugin: 'log' })) >= 2);
      assert.match(server.log, /Audit events are lost.*/);
    });

    it('lets no request go on of which nothing can be told, where that is wanted', async () => {
      server = await TestServer.start({
        store: 'embedded',
        flags: flagsFor(full(), '--audit-log-mode=blocking-strict'),
      });
      refused(await server.client.get('/version'), 500, 'InternalError', /failed to store audit event/);
      const path = configMapsIn('default');
      refused(await server.client.post(path, configMap('a')), 500, 'InternalError', /failed to store audit event/);
      ok(await server.client.get('/readyz')); // the policy tells nothing of it
    });
  });

  describe('in a service', () => {
    let authority: TestAuthority;
    let service: TlsService;
    before(() => (authority = new TestAuthority('hooks')));
    after(() => authority.remove());
    beforeEach(async () => {
      service = await startTlsService(authority.issue('hook'), (_, res) => void res.writeHead(200).end());
    });
    afterEach(() => service.close());
    const sent = (): ShownEvent[] =>
      service.received.flatMap(({ body }) => (JSON.parse(body) as { items: ShownEvent[] }).items);

    function flags(...more: string[]): string[] {
      const where = place();
      const config = join(where.dir, 'hook.yaml');
      const cluster = {
        server: `${service.url}/audit`,
        'certificate-authority-data': Buffer.from(authority.cert).toString('base64'),
      };
      const contexts = [{ name: 'x', context: { cluster: 'c', user: 'u' } }];
      const users = [{ name: 'u', user: { token: 'for-the-hook' } }];
      writeFileSync(
        config,
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Config',
          clusters: [{ name: 'c', cluster }],
          users,
          contexts,
          'current-context': 'x',
        }),
      );
      return [`--audit-policy-file=${where.policy}`, `--audit-webhook-config-file=${config}`, ...more];
    }

    it('arrives in batches, the last one before the server stops', async () => {
      server = await TestServer.start({
        store: 'embedded',
        flags: flags('--audit-webhook-batch-max-wait=1h', '--audit-webhook-batch-max-size=10'),
      });
      for (let i = 0; i < 8; i++) ok(await server.client.get(`/version?i=${i}`));
      await until(() => service.received.length > 0);
      await server.end();
      const [first] = service.received;
      const { kind, apiVersion, items } = JSON.parse(first?.body ?? '') as {
        kind: string;
        apiVersion: string;
        items: object[];
      };
      assert.deepEqual(
        [kind, apiVersion, items.length, first?.headers.authorization],
        ['EventList', 'audit.platform.io/v1', 10, 'Bearer for-the-hook'],
      );
      assert.equal(sent().filter(({ requestURI }) => requestURI.startsWith('/version?')).length, 16);
    });

    it('has arrived before the answer does, in the mode blocking, and is sent again when that may help', async () => {
      server = await TestServer.start({
        store: 'embedded',
        flags: flags('--audit-webhook-mode=blocking', '--audit-webhook-initial-backoff=10ms'),
      });
      service.answer = (_, res) => void res.writeHead(service.received.length % 2 === 0 ? 200 : 503).end();
      ok(await server.client.get('/version?me'));
      const stages = sent()
        .filter(({ requestURI }) => requestURI === '/version?me')
        .map(({ stage }) => stage);
      assert.ok(stages.includes('ResponseComplete'));
      assert.equal(await server.metric('apiserver_audit_error_total'), 0);
    });
  });
});
