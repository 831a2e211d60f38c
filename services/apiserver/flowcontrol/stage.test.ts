import assert from 'node:assert/strict';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { FlowSeries } from '../metrics/flow-control-metrics.js';
import { fairness } from './stage.js';
import type { PriorityLevel } from './flow-control.js';
import { aGroup, allOf, ask, FlowScene, level, schema, user, type LevelParts } from './testing/flow-scene.js';
import { StageScene, type Reply } from './testing/stage-scene.js';

const QUEUE = { queues: 8, handSize: 2, queueLengthLimit: 2 };

describe('fairness()', () => {
  let flows: FlowScene;
  let scene: StageScene;

  /** One seat for people, of which everybody is but the administrator. */
  const start = async (
    parts: LevelParts,
    o: { queueTimeoutMs?: number; width?: number; serverSeats?: number } = {},
  ): Promise<void> => {
    flows = new FlowScene(o.serverSeats ?? 1);
    flows.put(
      level('l', { shares: 1, ...parts }),
      schema('s', 'l', { by: 'ByUser', rules: [allOf(aGroup('people'))] }),
    );
    scene = await StageScene.open(
      fairness({
        control: flows.control,
        widthOf: () => o.width ?? 1,
        queueTimeoutMs: o.queueTimeoutMs ?? 60_000,
        headers: vocabulary('kubernetes').headers,
      }),
    );
  };
  const series = (): FlowSeries => flows.metrics.series('l', 's');
  /** Resolves when so many requests wait. */
  const whenWaiting = async (count: number): Promise<void> => {
    while (series().waiting !== count) await new Promise((resolve) => setImmediate(resolve));
  };
  const refused = ({ code, headers, body }: Reply): void => {
    assert.equal(code, 429, body);
    assert.equal(headers['retry-after'], '1');
    assert.deepEqual(JSON.parse(body), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Too many requests, please try again later.',
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 1 },
      code: 429,
    });
  };
  const counted = (): unknown => ({
    executing: series().executing,
    seats: series().seatsInUse,
    waiting: series().waiting,
    rejected: Object.fromEntries(series().rejected),
  });
  const NOTHING_LEFT = { executing: 0, seats: 0, waiting: 0 };

  const levelNow = (): PriorityLevel => flows.control.schemaFor(user('alice', 'people'), ask('get', 'pods', 'n')).level;

  afterEach(async () => {
    await scene.close();
    assert.ok(levelNow().queues.idle, 'a seat or a place is lost');
  });

  it('refuses at once where nobody may wait, and says where the request was sorted', async () => {
    await start({});
    const first = scene.ask('/alice/get/pods');
    const inside = await scene.next();
    const reply = await scene.ask('/bob/get/pods');
    refused(reply);
    assert.equal(reply.headers['x-kubernetes-pf-flowschema-uid'], 'uid-of-s');
    assert.equal(reply.headers['x-kubernetes-pf-prioritylevel-uid'], 'uid-of-l');
    inside.answer();
    const { code, headers } = await first;
    assert.deepEqual([code, headers['x-kubernetes-pf-flowschema-uid']], [200, 'uid-of-s']);
    assert.deepEqual(counted(), { ...NOTHING_LEFT, rejected: { 'concurrency-limit': 1 } });
  });

  it('refuses what comes to a full queue', async () => {
    await start({ queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } });
    const first = scene.ask('/alice/get/pods');
    const inside = await scene.next();
    const second = scene.ask('/alice/get/pods');
    await whenWaiting(1);
    refused(await scene.ask('/alice/get/pods'));
    inside.answer();
    (await scene.next()).answer();
    assert.deepEqual([(await first).code, (await second).code], [200, 200]);
    assert.deepEqual(counted(), { ...NOTHING_LEFT, rejected: { 'queue-full': 1 } });
  });

  it('refuses who has waited too long', async () => {
    await start({ queuing: QUEUE }, { queueTimeoutMs: 20 });
    const first = scene.ask('/alice/get/pods');
    const inside = await scene.next();
    refused(await scene.ask('/bob/get/pods'));
    inside.answer();
    await first;
    assert.equal(scene.inside, 0);
    assert.deepEqual(counted(), { ...NOTHING_LEFT, rejected: { 'time-out': 1 } });
  });

  it('forgets who goes away while he waits', async () => {
    await start({ queuing: QUEUE });
    const first = scene.ask('/alice/get/pods');
    const inside = await scene.next();
    const leaves = new AbortController();
    const left = scene.ask('/bob/get/pods', leaves.signal);
    await whenWaiting(1);
    leaves.abort();
    await assert.rejects(left);
    await whenWaiting(0);
    const third = scene.ask('/carol/get/pods');
    await whenWaiting(1);
    inside.answer();
    const next = await scene.next();
    assert.equal(next.who, 'carol');
    next.answer();
    await Promise.all([first, third]);
    assert.deepEqual(counted(), { ...NOTHING_LEFT, rejected: { cancelled: 1 } });
  });

  it('gives the seat of a request that has failed to the next', async () => {
    await start({ queuing: QUEUE });
    const first = scene.ask('/alice/get/pods');
    const inside = await scene.next();
    const second = scene.ask('/bob/get/pods');
    await whenWaiting(1);
    inside.fail();
    assert.equal((await first).code, 500);
    (await scene.next()).answer();
    assert.equal((await second).code, 200);
    assert.deepEqual(counted(), { ...NOTHING_LEFT, rejected: {} });
  });

  it('lets administrators pass by all who wait', async () => {
    await start({ queuing: QUEUE });
    const first = scene.ask('/alice/get/pods');
    const inside = await scene.next();
    const waiting = scene.ask('/alice/get/pods');
    await whenWaiting(1);
    const admin = scene.ask('/admin/get/pods');
    const passed = await scene.next();
    assert.equal(passed.who, 'admin');
    passed.answer();
    assert.equal((await admin).code, 200);
    inside.answer();
    (await scene.next()).answer();
    await Promise.all([first, waiting]);
  });

  it('takes the seat of a watch back when the watch is open', async () => {
    await start({});
    const watch = scene.ask('/alice/watch/pods');
    const watching = await scene.next();
    refused(await scene.ask('/bob/get/pods'));
    watching.open();
    const second = scene.ask('/bob/get/pods');
    (await scene.next()).answer();
    assert.equal((await second).code, 200);
    assert.equal(series().seatsInUse, 0);
    watching.answer();
    await watch;
    assert.deepEqual(counted(), { ...NOTHING_LEFT, rejected: { 'concurrency-limit': 1 } });
  });

  for (const part of ['exec', 'attach', 'portforward', 'proxy', 'log'])
    it(`counts ${part} until another server has it`, async () => {
      await start({});
      const passedOn = scene.ask(`/alice/get/pods%2F${part}`);
      const inside = await scene.next();
      refused(await scene.ask('/bob/get/pods'));
      inside.open();
      const second = scene.ask('/bob/get/pods');
      (await scene.next()).answer();
      assert.equal((await second).code, 200);
      inside.answer();
      assert.equal((await passedOn).headers['x-kubernetes-pf-flowschema-uid'], 'uid-of-s');
      assert.deepEqual(counted(), { ...NOTHING_LEFT, rejected: { 'concurrency-limit': 1 } });
    });

  it('counts exec that ends in a refusal like any request', async () => {
    await start({});
    const refusal = scene.ask('/alice/create/pods%2Fexec');
    const inside = await scene.next();
    refused(await scene.ask('/bob/create/pods%2Fexec'));
    inside.fail();
    assert.equal((await refusal).code, 500);
    assert.equal(series().dispatched, 1);
  });

  it('runs what is wider than the level when it is alone', async () => {
    await start({ queuing: QUEUE }, { width: 10 });
    const replies = [scene.ask('/alice/list/pods'), scene.ask('/bob/list/pods')];
    const inside = await scene.next();
    await whenWaiting(1);
    assert.equal(series().seatsInUse, 1);
    inside.answer();
    (await scene.next()).answer();
    for (const { code } of await Promise.all(replies)) assert.equal(code, 200);
    assert.deepEqual(counted(), { ...NOTHING_LEFT, rejected: {} });
  });

  it('runs all who wait, though their level is removed meanwhile', async () => {
    await start({ queuing: QUEUE }, { serverSeats: 6 });
    const replies = [scene.ask('/alice/get/pods'), scene.ask('/bob/get/pods')];
    const inside = await scene.next();
    await whenWaiting(1);
    const gone = levelNow();
    flows.remove(level('l'));
    const other = scene.ask('/carol/get/pods');
    const caughtAll = await scene.next();
    assert.equal(caughtAll.who, 'carol');
    caughtAll.answer();
    assert.equal((await other).code, 200);
    assert.equal(levelNow().queues.limits.seats, 5);
    inside.answer();
    (await scene.next()).answer();
    for (const { code } of await Promise.all(replies)) assert.equal(code, 200);
    assert.ok(gone.queues.idle);
    assert.equal(levelNow().queues.limits.seats, 6); // nobody else has a share any more
    assert.deepEqual(counted(), { ...NOTHING_LEFT, rejected: {} });
  });
});
