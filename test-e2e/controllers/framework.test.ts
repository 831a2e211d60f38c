import assert from 'node:assert/strict';
import { eventsIn, flagsFor, place, type ShownEvent } from '../api/tools/audit.js';
import { eventually } from '../api/tools/objects.js';
import { TestServer } from '../api/tools/server.js';
import { runProgram } from '../support/program.js';
import { stopped } from '../support/platform.js';
import { startControllers, type ControllerProcess } from './tools/controller-process.js';

const POLICY = {
  apiVersion: 'audit.platform.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete'] }],
};
const LEASE = '/apis/coordination.platform.io/v1/namespaces/platform-system/leases/platform-controller-manager';
const FLAGS = [
  '--controllers=root-ca-cert-publisher',
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=250ms',
];
const PATIENCE_MS = 60_000;

describe('the framework of controllers', function () {
  this.timeout(120_000);
  const audit = place(POLICY);
  const running = new Map<string, ControllerProcess>();
  let server: TestServer;
  let namespaces = 0;

  before(async () => {
    server = await TestServer.start({ store: 'embedded', flags: flagsFor(audit) });
  });
  after(async () => {
    for (const process of running.values()) await stopped(process);
    await server.close();
  });

  const start = async (user: string, flags: readonly string[] = FLAGS): Promise<ControllerProcess> => {
    const process = await startControllers(server, { user, flags });
    running.set(user, process);
    void process.exited.then(() => running.delete(user));
    return process;
  };
  const leader = async (): Promise<string> => {
    const writes = eventsIn(audit.log).filter(isElection);
    const { code, body } = await server.client.get(LEASE);
    const { holderIdentity = '' } = code === 200 ? (body as { spec: { holderIdentity?: string } }).spec : {};
    return holderIdentity === '' ? '' : writerOf(writes.at(-1));
  };
  const leads = (user: string): Promise<true> =>
    eventually(async () => ((await leader()) === user ? true : undefined), PATIENCE_MS);
  /** A namespace, and who published the authorities in it. */
  const served = async (): Promise<string> => {
    const name = `framework-${namespaces++}`;
    assert.equal((await server.client.post('/api/v1/namespaces', { metadata: { name } })).code, 201);
    return eventually(() => {
      const made = eventsIn(audit.log).find((it) => isPublication(it) && it.objectRef?.['namespace'] === name);
      return Promise.resolve(made === undefined ? undefined : writerOf(made));
    }, PATIENCE_MS);
  };
  const isReady = (process: ControllerProcess): Promise<true> =>
    eventually(async () => ((await process.ask('/readyz')).status === 200 ? true : undefined), PATIENCE_MS);

  describe('of two processes', () => {
    it('lets one work, while the other is ready to', async () => {
      const a = await start('a');
      await leads('a');
      const b = await start('b');
      await Promise.all([isReady(a), isReady(b)]);
      assert.equal(await served(), 'a');
    });

    it('has the other one take over from one that is stopped, at once', async () => {
      const a = running.get('a') ?? assert.fail();
      assert.equal((await stopped(a)).code, 0);
      await leads('b');
      assert.equal(await served(), 'b');
    });

    it('has the other one take over from one that is killed', async () => {
      await start('c');
      running.get('b')?.kill('SIGKILL');
      await leads('c');
      assert.equal(await served(), 'c');
    });

    it('lets one that was held up past its lease write no more: it ends', async () => {
      await start('d');
      const c = running.get('c') ?? assert.fail();
      c.kill('SIGSTOP');
      await leads('d');
      assert.equal(await served(), 'd'); // which c will see, too
      c.kill('SIGCONT');
      assert.equal((await c.exited).code, 1);
      assert.match(c.stderr(), /Leadership is lost/);
      assert.equal(await served(), 'd');
    });

    it('never had two of them write in turns', () => {
      const writers = eventsIn(audit.log)
        .filter((it) => isPublication(it) || isElection(it))
        .sort((one, other) => (one.requestReceivedTimestamp < other.requestReceivedTimestamp ? -1 : 1))
        .map(writerOf);
      assert.deepEqual(writers.filter((writer, i) => writer !== writers[i - 1]), ['a', 'b', 'c', 'd']); // prettier-ignore
    });
  });

  describe('its port', () => {
    it('says how it is to anybody, and its metrics to those who may read them', async () => {
      const d = running.get('d') ?? assert.fail();
      for (const path of ['/healthz', '/livez', '/readyz']) assert.deepEqual(await d.ask(path), { status: 200, body: 'ok' }); // prettier-ignore
      assert.equal((await d.ask('/metrics')).status, 401);
      assert.equal((await d.ask('/metrics', { authorization: 'Bearer wrong' })).status, 401);
      assert.equal((await d.ask('/anything')).status, 404);
      assert.equal((await d.ask('/metrics', { authorization: await bearerOf('nobody') })).status, 403);
      const { status, body } = await d.ask('/metrics', { authorization: `Bearer ${server.client.token}` });
      assert.equal(status, 200);
      assert.match(body, /^leader_election_master_status\{name="platform-controller-manager"\} 1$/m);
      assert.match(body, /^workqueue_adds_total\{name="root-ca-cert-publisher"\} [1-9]/m);
      assert.match(
        body,
        /^controller_runtime_reconcile_total\{controller="root-ca-cert-publisher",result="success"\} /m,
      );
    });

    const bearerOf = async (name: string): Promise<string> => {
      const accounts = '/api/v1/namespaces/default/serviceaccounts';
      await server.client.post(accounts, { metadata: { name } });
      const { body } = await server.client.post(`${accounts}/${name}/token`, { spec: {} });
      return `Bearer ${(body as { status: { token: string } }).status.token}`;
    };
  });

  describe('of one process', () => {
    it('gives each controller its own service account', async () => {
      await stopped(running.get('d') ?? assert.fail());
      await start('e', [...FLAGS, '--use-service-account-credentials']);
      assert.equal(await served(), 'system:serviceaccount:platform-system:root-ca-cert-publisher');
    });

    it('waits for a server that is not there yet', async () => {
      await stopped(running.get('e') ?? assert.fail());
      await server.end();
      const f = await start('f');
      assert.equal((await f.ask('/readyz')).status, 503);
      assert.equal((await f.ask('/healthz')).status, 200);
      await server.run();
      await isReady(f);
      assert.equal(await served(), 'f');
    });
  });

  describe('its flags', () => {
    for (const [flags, says] of [
      [[], '--kubeconfig is needed'],
      [['--kubeconfig=x', '--controllers=nothing'], '--controllers: there is no controller "nothing"'],
      [['--kubeconfig=x', '--leader-elect-lease-duration=5s'], '--leader-elect-renew-deadline must be below'],
      [['--kubeconfig=x', '--leader-elect-resource-lock=configmaps'], '--leader-elect-resource-lock'],
      [['--kubeconfig=x', '--tls-cert-file=y'], 'go together'],
    ] as const) {
      it(`are refused: ${flags.join(' ') || 'none'}`, async () => {
        const { code, stderr } = await runProgram(['controller-manager', ...flags]);
        assert.equal(code, 2);
        assert.ok(stderr.includes(says), stderr);
      });
    }
  });
});

const isElection = ({ objectRef, responseStatus }: ShownEvent): boolean =>
  objectRef?.['resource'] === 'leases' && Number(responseStatus?.['code']) < 300;

const isPublication = ({ objectRef, verb, responseStatus }: ShownEvent): boolean =>
  objectRef?.['resource'] === 'configmaps' && verb === 'create' && responseStatus?.['code'] === 201;

const writerOf = (event: ShownEvent | undefined): string =>
  (event?.impersonatedUser?.['username'] ?? event?.user['username'] ?? '') as string;
