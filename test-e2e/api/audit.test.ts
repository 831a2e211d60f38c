import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { runProgram } from '../support/program.js';
import { scratchDirectory } from '../support/scratch.js';
import { eventsIn, flagsFor, place, POLICY, until, type ShownEvent } from './tools/audit.js';
import type { RequestOptions } from './tools/client.js';
import { Http2Client } from './tools/http2-client.js';
import { configMap, configMapsIn, created, newNamespace, ok } from './tools/objects.js';
import { RawConnection, requestHead } from './tools/raw-connection.js';
import { onServer } from './tools/server.js';
import { httpTarget, ownAddress } from './tools/targets.js';

describe('the audit of a server that cannot begin', () => {
  const start = (...flags: string[]): ReturnType<typeof runProgram> =>
    runProgram(['up', '--bind-address=127.0.0.1', '--secure-port=0', `--data-dir=${scratchDirectory()}`, ...flags]);

  const CASES: readonly (readonly [string, () => { flags: string[]; says: string }])[] = [
    [
      'with a policy that is none',
      () => {
        const at = place({ ...POLICY, rules: [{ level: 'All' }] });
        return {
          flags: flagsFor(at),
          says: `Cannot use the audit policy ${at.policy}: rules[0].level: "All" is none of`,
        };
      },
    ],
    [
      'without the policy that is named',
      () => ({
        flags: flagsFor({ ...place(), policy: '/nowhere/p.yaml' }),
        says: 'Cannot use the audit policy /nowhere/p.yaml',
      }),
    ],
    [
      'with a log that cannot be written',
      () => {
        const at = place();
        mkdirSync(at.log, { recursive: true });
        return { flags: flagsFor(at), says: `Cannot write the audit log ${at.log}` };
      },
    ],
    [
      'with a webhook that nothing is known of',
      () => ({
        flags: [`--audit-policy-file=${place().policy}`, '--audit-webhook-config-file=/nowhere/c.yaml'],
        says: '/nowhere/c.yaml',
      }),
    ],
    [
      'with batches that are never full',
      () => ({
        flags: flagsFor(place(), '--audit-log-batch-max-size=10001'),
        says: '--audit-log-batch-max-size is larger than',
      }),
    ],
  ];
  for (const [what, prepare] of CASES) {
    it(`says why, in one line: ${what}`, async function () {
      this.timeout(90_000);
      const { flags, says } = prepare();
      const { code, stderr } = await start(...flags);
      assert.notEqual(code, 0);
      assert.ok(
        stderr.split('\n').some((line) => line.includes(says)),
        stderr,
      );
    });
  }
});

const at = place();
onServer('the audit in a file', { store: 'embedded', flags: flagsFor(at) }, (server) => {
  let requests = 0;
  /** Sends a request and reads what was written about it: in the mode blocking that is there when the answer is. */
  async function told(method: string, path: string, o: RequestOptions = {}): Promise<readonly ShownEvent[]> {
    const id = `request-${++requests}`;
    await server().client.request(method, path, { ...o, headers: { 'audit-id': id, ...o.headers } });
    return about(id);
  }
  const about = (id: string): readonly ShownEvent[] => eventsIn(at.log).filter(({ auditID }) => auditID === id);
  const stages = (events: readonly ShownEvent[]): string[] => events.map(({ stage }) => stage);

  it('is for nobody else to read', () => assert.equal(statSync(at.log).mode & 0o777, 0o600));

  it('tells of a request that is refused for who asks, and of no token', async () => {
    const events = await told('GET', '/api/v1/pods?access_token=hush-hush', {
      headers: { authorization: 'Bearer hush-hush' },
    });
    assert.deepEqual(stages(events), ['ResponseStarted']);
    const [{ user, responseStatus, requestURI } = assert.fail()] = events;
    assert.deepEqual([user, requestURI], [{}, '/api/v1/pods?access_token=REDACTED']);
    assert.deepEqual(responseStatus, {
      metadata: {},
      status: 'Failure',
      message: 'Authentication failed, attempted: bearer, access_token',
      reason: 'Unauthorized',
      code: 401,
    });
    assert.doesNotMatch(readFileSync(at.log, 'utf8'), /hush-hush/);
  });

  it('tells of methods that nobody knows under their names', async () => {
    const h2 = await Http2Client.connect(server().client);
    for (const method of ['constructor', 'toString', '__proto__', 'BREW', 'TRACE']) {
      const id = randomUUID();
      const path = '/api/v1/namespaces/default/configmaps';
      const { code, headers } = await h2.request(method, path, { headers: { 'audit-id': id } });
      assert.deepEqual([code, headers.allow], [501, 'GET, HEAD, POST, DELETE'], method);
      await until(() => about(id).length === 2);
      for (const event of about(id)) {
        assert.deepEqual([event.verb, event.objectRef?.['resource']], [method.toLowerCase(), 'configmaps']);
      }
    }
    h2.close();
  });

  it('tells of a request that is refused for what it asks, and why', async () => {
    const [, complete] = await told('GET', '/api/v1/secrets', { headers: { 'impersonate-user': 'bob' } });
    assert.deepEqual([complete?.user['username'], complete?.impersonatedUser?.['username']], ['tester', 'bob']);
    assert.equal(complete?.responseStatus?.['code'], 403);
    assert.equal(complete.annotations?.['authorization.platform.io/decision'], 'forbid');
  });

  it('tells of an impersonation that is refused', async () => {
    const client = server().client;
    const namespace = await newNamespace(client);
    const secret = created(
      await client.post(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'sa' },
      }),
    );
    assert.equal(secret.metadata.name, 'sa');
    const tokenPath = `/api/v1/namespaces/${namespace}/serviceaccounts/sa/token`;
    const token = created(
      await client.post(tokenPath, { apiVersion: 'authentication.platform.io/v1', kind: 'TokenRequest', spec: {} }),
    );
    const { token: text } = token['status'] as { token: string };
    const [received, complete] = await told('GET', '/api/v1/pods', {
      headers: { authorization: `Bearer ${text}`, 'impersonate-user': 'bob' },
    });
    const name = `system:serviceaccount:${namespace}:sa`;
    assert.deepEqual(
      [received?.user['username'], complete?.user['username'], complete?.impersonatedUser],
      [name, name, undefined],
    );
    assert.equal(complete?.responseStatus?.['code'], 403);
    assert.equal(readFileSync(at.log, 'utf8').includes(text), false); // nor of the request for it
  });

  it('tells of an object that is made, got, changed and removed, with what was sent and answered', async () => {
    const namespace = await newNamespace(server().client);
    const path = configMapsIn(namespace);
    const [received, made] = await told('POST', path, { body: configMap('a', { data: { x: '1' } }) });
    assert.deepEqual(
      [received?.objectRef?.['name'], made?.objectRef?.['name'], made?.responseStatus],
      [undefined, 'a', { metadata: {}, code: 201 }],
    );
    assert.deepEqual(made?.requestObject, configMap('a', { data: { x: '1' } }));
    assert.equal((made.responseObject as { data: { x: string } }).data.x, '1');
    const [, patched] = await told('PATCH', `${path}/a`, {
      body: { data: { x: '2' } },
      type: 'application/merge-patch+json',
    });
    assert.deepEqual(patched?.requestObject, { data: { x: '2' } });
    const apply = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  z: "3"\n';
    const [, applied] = await told('PATCH', `${path}/a?fieldManager=m`, {
      body: apply,
      type: 'application/apply-patch+yaml',
    });
    assert.deepEqual((applied?.requestObject as { data: object }).data, { z: '3' });
    const [, got] = await told('GET', `${path}/a`, { headers: { accept: 'application/vnd.platform.protobuf' } });
    assert.deepEqual((got?.responseObject as { data: object }).data, { x: '2', z: '3' });
    assert.doesNotMatch(JSON.stringify([made, patched, applied, got]), /managedFields/);
    const [, listed] = await told('GET', path, { headers: { accept: 'application/vnd.platform.protobuf' } });
    assert.deepEqual(
      (listed?.responseObject as { items: { data: object }[] }).items.map(({ data }) => data),
      [{ x: '2', z: '3' }],
    );
    const [, removed] = await told('DELETE', `${path}/a`);
    assert.equal(removed?.responseStatus?.['status'], 'Success');
    const [, gone] = await told('GET', `${path}/a`);
    assert.deepEqual([gone?.responseStatus?.['reason'], gone?.responseStatus?.['code']], ['NotFound', 404]);
  });

  it('tells the name that was made for an object', async () => {
    const path = configMapsIn(await newNamespace(server().client));
    const [, complete] = await told('POST', path, {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-' } },
    });
    assert.match(complete?.objectRef?.['name'] ?? '', /^made-.{5}$/);
  });

  it('tells of secrets what they are called and no more', async () => {
    const path = `/api/v1/namespaces/${await newNamespace(server().client)}/secrets`;
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { password: 'hunter2' } };
    const events = [
      ...(await told('POST', path, { body })),
      ...(await told('GET', `${path}/s`)),
      ...(await told('GET', path)),
    ];
    assert.equal(events.length, 6);
    assert.equal(events[1]?.objectRef?.['name'], 's');
    assert.doesNotMatch(readFileSync(at.log, 'utf8'), /hunter2|aHVudGVyMg/);
  });

  it('tells of a watch when it begins and when it ends', async () => {
    const path = configMapsIn(await newNamespace(server().client));
    const watch = await server().client.watch(`${path}?watch=1&who=me`);
    const mine = (): readonly ShownEvent[] =>
      eventsIn(at.log).filter(({ requestURI }) => requestURI.endsWith('who=me'));
    assert.deepEqual(stages(mine()), ['RequestReceived', 'ResponseStarted']);
    created(await server().client.post(path, configMap('seen')));
    watch.close();
    await until(() => mine().length === 3);
    const [, , complete] = mine();
    assert.deepEqual(
      [complete?.stage, complete?.responseStatus, complete?.responseObject],
      ['ResponseComplete', { metadata: {}, code: 200 }, undefined],
    );
  });

  it('tells of a connection that is passed on when it begins and when it ends', async () => {
    const { client } = server();
    const target = await httpTarget();
    const path = `/api/v1/namespaces/${await newNamespace(client)}/pods`;
    const spec = { containers: [{ name: 'main', image: 'i', ports: [{ containerPort: target.port }] }] };
    created(await client.post(path, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }));
    const podIP = ownAddress();
    ok(await client.patch(`${path}/p/status`, { status: { podIP, podIPs: [{ ip: podIP }], phase: 'Running' } }));
    const raw = await RawConnection.open(client);
    const headers = ['Connection: Upgrade', 'Upgrade: websocket', 'Audit-ID: passed-on'];
    raw.send(requestHead(client, 'GET', `${path}/p/proxy/chat`, headers));
    await raw.until(/hello;/);
    await until(() => about('passed-on').length === 2);
    raw.destroy();
    await until(() => about('passed-on').length === 3);
    assert.deepEqual(
      about('passed-on').map(({ stage, responseStatus }) => [stage, responseStatus?.['code']]),
      [
        ['RequestReceived', undefined],
        ['ResponseStarted', 101],
        ['ResponseComplete', 101],
      ],
    );
    await target.close();
  });

  it('tells of CONNECT, and of requests that expect what nobody does', async () => {
    const { client } = server();
    const expects = requestHead(client, 'GET', '/version', [
      'Audit-ID: wonders',
      'Expect: wonders',
      'Connection: close',
    ]);
    const connects = requestHead(client, 'CONNECT', 'example.com:443', ['Audit-ID: connects']);
    for (const [head, id, codes] of [
      [expects, 'wonders', '417'],
      [connects, 'connects', '404|405|501'], // as for any method at a path that is none
    ] as const) {
      const raw = await RawConnection.open(client);
      raw.send(head);
      const answer = new RegExp(`^HTTP/1\\.1 (${codes}) [^]*"kind":"Status"`).exec(await raw.closed);
      await until(() => about(id).length === 2);
      const [, complete] = about(id);
      assert.deepEqual(
        [complete?.stage, complete?.responseStatus?.['code']],
        ['ResponseComplete', Number(answer?.[1])],
      );
    }
  });

  it('tells of paths, and of those that the policy leaves out nothing', async () => {
    assert.deepEqual(stages(await told('GET', '/version')), ['RequestReceived', 'ResponseComplete']);
    assert.deepEqual(await told('GET', '/readyz'), []);
  });

  it('tells that a version is deprecated', async () => {
    const [, complete] = await told('GET', '/apis/policy/v1beta1/poddisruptionbudgets');
    assert.deepEqual(complete?.annotations?.['platform.io/deprecated'], 'true');
  });

  it('leaves out bodies that are too large, and says so', async () => {
    const path = configMapsIn(await newNamespace(server().client));
    const [, complete] = await told('POST', path, { body: configMap('large', { data: { x: 'x'.repeat(200_000) } }) });
    assert.deepEqual([complete?.requestObject, complete?.responseObject], [undefined, undefined]);
    assert.equal(complete?.annotations?.['audit.platform.io/truncated'], 'true');
  });

  it('is counted', async () => {
    const before = await server().metric('apiserver_audit_event_total');
    await told('GET', '/version');
    assert.ok((await server().metric('apiserver_audit_event_total')) >= before + 2);
    assert.ok((await server().metric('apiserver_audit_level_total', { level: 'RequestResponse' })) > 0);
    assert.equal(await server().metric('apiserver_audit_error_total'), 0);
  });
});
