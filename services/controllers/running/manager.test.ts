import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { builtInTypes } from '../../client/rest/built-in-types.js';
import type { ApiClient, RawAnswer } from '../../client/rest/client.js';
import { FakeServer } from '../../client/testing/fake-server.js';
import type { Lease } from '../../machinery/types/generated/coordination.v1.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Controller, ControllerEntry } from '../controller.js';
import type { IdentityClientOptions } from '../identity/identity.js';
import { Manager, type ManagerOptions } from './manager.js';
import { controllerMetrics } from './metrics.js';

const words = vocabulary('platform');
const { leases } = builtInTypes(words);
const KEY = 'platform-system/the-manager';

describe('a process of controllers', () => {
  let server: FakeServer;
  let status: number;
  let clients: IdentityClientOptions[];
  let closed: number;
  let stop: AbortController;
  let registry: Registry;
  let opened: string[];
  let running: Promise<unknown>;
  beforeEach(() => {
    server = new FakeServer();
    [status, clients, closed, opened] = [200, [], 0, []];
    stop = new AbortController();
    running = Promise.resolve();
  });
  afterEach(async () => {
    stop.abort();
    await running.catch(() => undefined);
  });

  const client = (o: IdentityClientOptions): ApiClient => {
    clients.push(o);
    const raw = (): Promise<RawAnswer> => Promise.resolve({ status, headers: {}, body: Buffer.from('{}') });
    return { ...server.client, raw, close: () => (closed += 1) };
  };
  const election = {
    leaderElect: true,
    leaderElectLeaseDurationMs: 15_000,
    leaderElectRenewDeadlineMs: 10_000,
    leaderElectRetryPeriodMs: 1,
    leaderElectResourceLock: 'leases',
    leaderElectResourceName: '',
    leaderElectResourceNamespace: '',
  };
  const entry = (name: string, controller: Partial<Controller> = {}): ControllerEntry => ({
    name,
    account: '',
    isOnByDefault: true,
    open: () => {
      opened.push(name);
      return { informers: [], workers: 1, reconcile: () => Promise.resolve(undefined), ...controller };
    },
  });
  const manager = (o: Partial<ManagerOptions> = {}): Manager => {
    registry = new Registry();
    return new Manager({
      name: 'the-manager',
      identity: { vocabulary: words, server: new URL('https://server'), authorities: undefined, client, close: () => undefined }, // prettier-ignore
      entries: [entry('a'), entry('b')],
      options: {},
      election,
      useServiceAccountCredentials: false,
      qps: 10,
      burst: 10,
      metrics: controllerMetrics(registry),
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
      ...o,
    });
  };
  const start = (it: Manager): Promise<'stopped' | 'lost'> => {
    const ended = it.run(stop.signal);
    running = ended;
    ended.catch(() => undefined); // looked at below
    return ended;
  };
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const holder = (): string | undefined => (server.get(leases, KEY) as Lease | undefined)?.spec?.holderIdentity;
  const leading = async (): Promise<number | undefined> =>
    (await registry.getSingleMetric('leader_election_master_status')?.get())?.values[0]?.value;

  it('waits for a server that answers and knows it', async () => {
    const it = manager();
    for (status of [503, 401]) {
      const ended = start(it);
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.deepEqual([opened, it.unready, holder()], [[], 'the API server has not answered yet', undefined]);
      stop.abort();
      assert.equal(await ended, 'stopped');
      stop = new AbortController();
    }
    status = 403; // who may not read the path is known
    void start(it);
    await until(() => opened.length === 2);
  });

  it('runs its controllers while it leads, and gives the lease back', async () => {
    const it = manager();
    const ended = start(it);
    await until(() => it.unready === undefined && opened.length === 2);
    assert.notEqual(holder(), '');
    assert.equal(await leading(), 1);
    assert.ok(clients.slice(1).every(({ isHeld }) => isHeld?.() === true));
    stop.abort();
    assert.equal(await ended, 'stopped');
    assert.equal(holder(), '');
    assert.equal(await leading(), 0);
    assert.equal(it.unready, undefined);
    [stop, status] = [new AbortController(), 503];
    void start(it);
    assert.equal(it.unready, 'the API server has not answered yet');
    const before = clients.slice(0, -1); // the last one waits
    assert.equal(closed, before.length);
    assert.ok(before.slice(1).every(({ isHeld }) => isHeld?.() === false));
  });

  it('is ready while it waits for its turn, and opens nothing', async () => {
    const spec = { holderIdentity: 'another', leaseDurationSeconds: 3600, renewTime: new Date().toISOString() };
    server.put<Lease>(leases, { metadata: { namespace: 'platform-system', name: 'the-manager' }, spec });
    const it = manager();
    const ended = start(it);
    await until(() => it.unready === undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual([opened, await leading()], [[], 0]);
    stop.abort();
    assert.equal(await ended, 'stopped');
    assert.equal(holder(), 'another');
  });

  it('elects by the Lease that flags name, or not at all', async () => {
    const named = { ...election, leaderElectResourceName: 'x', leaderElectResourceNamespace: 'y' };
    let ended = start(manager({ election: named }));
    await until(() => opened.length === 2);
    assert.ok(server.get(leases, 'y/x'));
    stop.abort();
    await ended;
    stop = new AbortController();
    const asked = server.asked.length;
    const it = manager({ election: { ...election, leaderElect: false } });
    ended = start(it);
    await until(() => opened.length === 4 && it.unready === undefined);
    stop.abort();
    assert.equal(await ended, 'stopped');
    assert.equal(server.asked.length, asked);
  });

  it('is not ready until all informers of all controllers are filled', async () => {
    const fill: (() => void)[] = [];
    const informer = { synced: () => new Promise<void>((resolve) => fill.push(resolve)) };
    const it = manager({ entries: [entry('a', { informers: [informer] }), entry('b', { informers: [informer] }), entry('c')] }); // prettier-ignore
    void start(it);
    await until(() => fill.length === 2);
    assert.equal(it.unready, 'informers are not filled yet');
    fill[0]?.();
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(it.unready, 'informers are not filled yet');
    fill[1]?.();
    await until(() => it.unready === undefined);
  });

  it('says when leadership is lost, and ends what is under way', async () => {
    let working: AbortSignal | undefined;
    const reconcile = (_: string, signal: AbortSignal): Promise<undefined> =>
      new Promise((resolve) => {
        working = signal;
        signal.addEventListener('abort', () => resolve(undefined), { once: true });
      });
    const open: ControllerEntry['open'] = (_, { queue }) => {
      queue.add('a key');
      return { informers: [], workers: 1, reconcile };
    };
    const ended = start(manager({ entries: [{ ...entry('a'), open }] }));
    await until(() => working !== undefined);
    const { metadata, spec = {} } = server.get(leases, KEY) as Lease;
    server.put<Lease>(leases, { metadata: metadata ?? {}, spec: { ...spec, holderIdentity: 'another', leaseTransitions: 7 } }); // prettier-ignore
    assert.equal(await ended, 'lost');
    assert.equal(working?.aborted, true);
    assert.equal(holder(), 'another');
  });

  it('ends with all when one controller cannot go on', async () => {
    const failing = entry('b', { run: () => Promise.reject(new Error('it cannot')) });
    const ended = start(manager({ entries: [entry('a'), failing] }));
    await assert.rejects(ended, /controller b cannot go on/);
    assert.equal(holder(), '');
    assert.equal(closed, clients.length);
  });
});
