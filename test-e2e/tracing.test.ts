import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestAuthority } from '../services/client/testing/certificates.js';
import { startEtcd, type EtcdServer } from '../services/storage/testing/start-etcd.js';
import { Access, tokenFile, type TestUser } from './api/tools/access.js';
import { Client } from './api/tools/client.js';
import { Configurations, HookServer } from './api/tools/hooks.js';
import { configMap, configMapsIn, eventually, newNamespace, ok } from './api/tools/objects.js';
import { TestServer } from './api/tools/server.js';
import { removeDirectory, scratchDirectory } from './support/scratch.js';
import { grpcForwarder, TraceCollector, type GrpcForwarder, type ReceivedSpan } from './support/trace-collector.js';

const WITHIN_MS = 60_000;
const SAMPLED = '01';
const NOT_SAMPLED = '00';

/** A trace of a client, and the header that tells of it. */
function newTrace(flags: string): { readonly id: string; readonly span: string; readonly header: string } {
  const [id, span] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { id, span, header: `00-${id}-${span}-${flags}` };
}

describe('tracing', function () {
  this.timeout(90_000);
  const collector = new TraceCollector();
  const directory = scratchDirectory();
  const authority = new TestAuthority('hooks');
  let etcd: EtcdServer;
  let wire: GrpcForwarder;
  let hooks: HookServer;
  let server: TestServer;
  let user: TestUser;

  const configure = (samplingRatePerMillion: number): void =>
    writeFileSync(
      join(directory, 'tracing.yaml'),
      `apiVersion: apiserver.config.platform.io/v1beta1
kind: TracingConfiguration
endpoint: 127.0.0.1:${collector.port}
samplingRatePerMillion: ${samplingRatePerMillion}
`,
    );
  const ask = (traceparent: string, method: string, path: string, body?: object, client = server.client) =>
    client.request(method, path, { headers: { traceparent }, ...(body === undefined ? {} : { body }) });
  const spansOf = (trace: string, count: number): Promise<readonly ReceivedSpan[]> =>
    eventually(() => {
      const spans = collector.of(trace);
      return Promise.resolve(spans.length >= count ? spans : undefined);
    }, WITHIN_MS);
  /** Waits until what was asked before has been sent. */
  const settled = async (): Promise<void> => {
    const marker = newTrace(SAMPLED);
    ok(await ask(marker.header, 'GET', '/version'));
    await spansOf(marker.id, 1);
  };

  before(async () => {
    await collector.start();
    configure(1_000_000);
    etcd = await startEtcd();
    wire = await grpcForwarder(etcd.port);
    hooks = await HookServer.start(authority);
    server = await TestServer.start({
      store: 'etcd',
      etcdUrl: `http://127.0.0.1:${wire.port}`,
      flags: [
        `--tracing-config-file=${join(directory, 'tracing.yaml')}`,
        `--token-auth-file=${tokenFile('a-token-for-tests')}`,
      ],
    });
    user = await new Access(() => server, 'platform').newUser();
  });
  after(async () => {
    user.client.close();
    await server.close();
    await hooks.service.close();
    await wire.close();
    await etcd.stop();
    collector.stop();
    authority.remove();
    removeDirectory(directory);
  });

  it('follows a request of a trusted client through the server, and on to the store and to webhooks', async () => {
    const namespace = await newNamespace(server.client);
    const configurations = new Configurations(server.client);
    await configurations.add('Validating', 'traced.example.com', namespace, {
      name: 'traced.example.com',
      clientConfig: hooks.clientConfig('look'),
    });
    const { id, span, header } = newTrace(SAMPLED);
    const reply = await ask(
      header,
      'POST',
      `${configMapsIn(namespace)}?token=hidden`,
      configMap('a', { data: { a: 'hidden' } }),
    );
    assert.equal(reply.code, 201, reply.text);
    const names = [
      'Authentication',
      'Authorization',
      'Admission admit',
      'Admission validate',
      'HTTP POST',
      'Store transaction',
    ];
    const spans = await spansOf(id, names.length + 1);
    const root = spans.find((it) => it.parent === span);
    assert.equal(root?.name, 'POST /api/v1/namespaces/{:namespace}/configmaps');
    assert.equal(root.service, 'apiserver');
    assert.equal(root.attributes['http.response.status_code'], '201');
    assert.equal(root.attributes['url.path'], configMapsIn(namespace));
    for (const name of names) {
      const child = spans.find((it) => it.name === name);
      assert.ok(child !== undefined, `${name}: ${spans.map((it) => it.name).join(', ')}`);
      assert.ok(child.nanoseconds >= 0n && child.nanoseconds <= root.nanoseconds, name);
      const parents = spans.map((it) => it.id);
      assert.ok(parents.includes(child.parent), name);
    }
    assert.equal(spans.find((it) => it.name === 'Authentication')?.parent, root.id);
    const called = hooks.service.received.map(({ headers }) => String(headers['traceparent']));
    const call = spans.find((it) => it.name === 'HTTP POST');
    assert.ok(called.includes(`00-${id}-${call?.id ?? ''}-01`), called.join());
    const transaction = spans.find((it) => it.name === 'Store transaction');
    assert.ok(
      wire.seen.some(
        (headers) =>
          headers[':path'] === '/etcdserverpb.KV/Txn' &&
          headers['traceparent'] === `00-${id}-${transaction?.id ?? ''}-01`,
      ),
    );
    assert.ok(
      !JSON.stringify(spans, (_, value: unknown) => (typeof value === 'bigint' ? 0 : value)).includes('hidden'),
    );
    await configurations.removeAll();
  });

  it('lets a trusted client say that it is not traced, and others only where they come from', async () => {
    const [quiet, foreign] = [newTrace(NOT_SAMPLED), newTrace(SAMPLED)];
    ok(await ask(quiet.header, 'GET', '/api/v1/nodes'));
    const refused = await ask(foreign.header, 'GET', '/api/v1/nodes', undefined, user.client);
    assert.equal(refused.code, 403);
    const from = (): ReceivedSpan | undefined => collector.spans.find(({ links }) => links.includes(foreign.id));
    const root = await eventually(() => Promise.resolve(from()), WITHIN_MS);
    assert.deepEqual(
      [root.parent, root.name, root.attributes['http.response.status_code']],
      ['', 'GET /api/v1/nodes', '403'],
    );
    await settled();
    assert.deepEqual([collector.of(quiet.id), collector.of(foreign.id)], [[], []]);
  });

  it('follows who is not known, and takes no header for granted', async () => {
    const nobody = new Client(server.client.url.href, 'not-a-token');
    const { id, header } = newTrace(SAMPLED);
    assert.equal((await ask(header, 'GET', '/api/v1/pods', undefined, nobody)).code, 401);
    const from = (): ReceivedSpan | undefined => collector.spans.find(({ links }) => links.includes(id));
    const root = await eventually(() => Promise.resolve(from()), WITHIN_MS);
    assert.equal(root.attributes['http.response.status_code'], '401');
    assert.ok(collector.of(root.trace).some((span) => span.name === 'Authentication'));
    for (const wrong of ['', 'x', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`, header.repeat(500)]) {
      ok(await ask(wrong, 'GET', '/version'));
    }
    nobody.close();
  });

  it('serves on without a collector, and says so once', async () => {
    collector.stop();
    for (let i = 0; i < 20; i++) ok(await server.client.get('/api/v1/nodes'));
    await eventually(
      () => Promise.resolve(/The collector takes no traces/.test(server.log) ? true : undefined),
      WITHIN_MS,
    );
    assert.equal(server.log.match(/The collector takes no traces/g)?.length, 1);
    await collector.start();
    await settled();
  });

  it('traces what trusted clients ask for, where nothing else is sampled', async () => {
    configure(0);
    await server.restart();
    const before = collector.spans.length;
    ok(await server.client.get('/api/v1/nodes'));
    const foreign = newTrace(SAMPLED);
    await ask(foreign.header, 'GET', '/api/v1/nodes', undefined, user.client);
    const wanted = newTrace(SAMPLED);
    ok(await ask(wanted.header, 'GET', '/api/v1/nodes'));
    await spansOf(wanted.id, 2);
    assert.deepEqual(new Set(collector.spans.slice(before).map(({ trace }) => trace)), new Set([wanted.id]));
  });
});
