import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRemoteService } from '../../../client/remote/open-remote-service.js';
import { TestAuthority } from '../../../client/testing/certificates.js';
import { startTlsService, type Handler, type TlsService } from '../../../client/testing/tls-service.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { Webhook } from './webhook.js';

const NEVER = new AbortController().signal;

describe('Webhook', () => {
  let authority: TestAuthority;
  let service: TlsService;
  let hook: Webhook;
  let lost: readonly (readonly [plugin: string, events: number])[];
  before(() => (authority = new TestAuthority('hooks')));
  after(() => authority.remove());
  beforeEach(async () => {
    service = await startTlsService(authority.issue('hook'), (_, res) => void res.writeHead(200).end('thank you'));
    hook = open(authority.cert);
    lost = [];
  });
  afterEach(async () => {
    await hook.close();
    await service.close();
  });

  function open(trusted: string, initialBackoffMs = 1): Webhook {
    const file = join(authority.directory, 'hook.yaml');
    const cluster = {
      server: `${service.url}/audit`,
      'certificate-authority-data': Buffer.from(trusted).toString('base64'),
    };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token: 'hush' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    writeFileSync(file, JSON.stringify(config));
    const log = { warn: () => undefined };
    return new Webhook({
      service: openRemoteService(file, {
        timeoutMs: 10_000,
        name: 'audit webhook',
        log,
        vocabulary: vocabulary('kubernetes'),
        wants: 'status',
      }),
      apiVersion: 'audit.k8s.io/v1',
      initialBackoffMs,
      onLost: (plugin, events) => (lost = [...lost, [plugin, events]]),
    });
  }

  const answers =
    (...codes: number[]): Handler =>
    (_, res) =>
      void res.writeHead(codes.length > 1 ? (codes.shift() ?? 200) : (codes[0] ?? 200)).end();

  const LOST: readonly (readonly [what: string, codes: number[], attempts: number])[] = [
    ['what the service does not want', [400], 1],
    ['what the service does not let in', [403], 1],
    ['what the service does not know how to take', [404], 1],
    ['what a broken service does not take in four attempts', [500], 4],
    ['what a busy service does not take in four attempts', [429], 4],
    ['what a service first cannot and then will not take', [503, 422], 2],
  ];
  for (const [what, codes, attempts] of LOST) {
    it(`loses ${what}`, async () => {
      service.answer = answers(...codes);
      const message = `The service answered ${codes.at(-1) ?? 0}`;
      await assert.rejects(hook.write(['{}'], NEVER), { message });
      assert.equal(service.received.length, attempts);
    });
  }

  it('shows a service that it does not trust nothing, and only once', async () => {
    const other = new TestAuthority('others');
    await hook.close();
    hook = open(other.cert, 60_000);
    await assert.rejects(hook.write(['{"a":1}'], NEVER), { failure: 'untrusted' });
    assert.equal(service.received.length, 0);
    other.remove();
  });

  it('sends a list, with who it is', async () => {
    await hook.write(['{"stage":"RequestReceived"}', '{"stage":"Panic"}'], NEVER);
    const [received] = service.received;
    assert.deepEqual(
      [received?.method, received?.path, received?.headers.authorization],
      ['POST', '/audit', 'Bearer hush'],
    );
    assert.deepEqual(JSON.parse(received?.body ?? ''), {
      kind: 'EventList',
      apiVersion: 'audit.k8s.io/v1',
      metadata: {},
      items: [{ stage: 'RequestReceived' }, { stage: 'Panic' }],
    });
  });

  it('loses an event that is no JSON, and no other', async () => {
    await hook.write(['{"a":1}', '{"verb":function () {}}', '{"b":2}', ''], NEVER);
    assert.deepEqual((JSON.parse(service.received[0]?.body ?? '') as { items: unknown }).items, [{ a: 1 }, { b: 2 }]);
    assert.deepEqual(lost, [
      ['webhook', 1],
      ['webhook', 1],
    ]);
  });

  it('sends nothing where nothing is left', async () => {
    await hook.write(['{'], NEVER);
    assert.deepEqual([service.received.length, lost.length], [0, 1]);
  });

  for (const [what, handler] of [
    ['a 500', answers(500, 200)],
    ['a 429', answers(429, 503, 500, 200)],
    ['a connection that is cut', cutOnce()],
  ] as const) {
    it(`sends again after ${what}`, async () => {
      service.answer = handler;
      await hook.write(['{"a":1}'], NEVER);
      assert.ok(service.received.length > 1);
      assert.deepEqual(new Set(service.received.map(({ body }) => body)).size, 1);
    });
  }

  it('stops waiting for a better time when there is none left', async () => {
    await hook.close();
    hook = open(authority.cert, 600_000);
    const over = new AbortController();
    service.answer = (_, res) => {
      res.writeHead(503).end();
      setImmediate(() => over.abort(new Error('over')));
    };
    await assert.rejects(hook.write(['{}'], over.signal), { message: /503|over/ });
    assert.equal(service.received.length, 1);
  });
});

function cutOnce(): Handler {
  let cut = false;
  return (_, res) => {
    if (cut) res.writeHead(200).end();
    else res.destroy();
    cut = true;
  };
}
