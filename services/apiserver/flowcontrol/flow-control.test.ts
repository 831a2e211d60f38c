import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMetrics } from '../metrics/metrics.js';
import { FlowControl, type PriorityLevel } from './flow-control.js';
import type { Ticket } from './queues/fair-queues.js';
import { allOf, ask, askPath, aUser, FlowScene, level, schema, user } from './testing/flow-scene.js';

const alice = user('alice', 'system:authenticated');
const admin = user('admin', 'system:masters', 'system:authenticated');
const get = ask('get', 'pods', 'n');
const QUEUING = { queues: 8, handSize: 2, queueLengthLimit: 10 };
const forAlice = (levelName: string) => schema('mine', levelName, { by: 'ByUser', rules: [allOf(aUser('alice'))] });

const levelOf = (scene: FlowScene, who = alice): PriorityLevel => scene.control.schemaFor(who, get).level;

describe('FlowControl', () => {
  describe('before anything is known', () => {
    it('lets administrators pass and gives everybody else what there is', () => {
      const scene = new FlowScene(7);
      assert.equal(levelOf(scene, admin).spec.exempt, true);
      assert.equal(scene.schemaOf(admin, askPath('get', '/healthz')), 'exempt');
      for (const who of [alice, user('', 'system:unauthenticated'), user('nobody')]) {
        const { queues, spec } = levelOf(scene, who);
        assert.deepEqual([spec.name, queues.limits], ['catch-all', { seats: 7, queuing: undefined }]);
      }
    });
  });

  it('leaves a schema out whose level is missing, and takes it once the level is there', () => {
    const scene = new FlowScene(100);
    scene.put(forAlice('l'));
    assert.equal(scene.schemaOf(alice, get), 'catch-all');
    scene.put(level('l'));
    assert.equal(scene.schemaOf(alice, get), 'mine');
    scene.remove(level('l'));
    assert.equal(scene.schemaOf(alice, get), 'catch-all');
  });

  it('keeps what is mandatory as the specification has it, whatever is stored', () => {
    const scene = new FlowScene(100);
    scene.put(
      level('exempt', { shares: 1 }),
      level('catch-all', { shares: 1_000 }),
      schema('exempt', 'nowhere', { rules: [] }),
      schema('catch-all', 'nowhere', { precedence: 1, rules: [allOf(aUser('*'))] }),
    );
    assert.equal(scene.schemaOf(admin, get), 'exempt');
    const { spec, level: its } = scene.control.schemaFor(alice, get);
    assert.deepEqual([spec.precedence, spec.uid, its.spec.shares, its.spec.uid], [10_000, 'uid-of-catch-all', 5, 'uid-of-catch-all']); // prettier-ignore
    assert.equal(levelOf(scene, admin).spec.exempt, true);
  });

  it('shares the seats of the server out, anew with each change', () => {
    const scene = new FlowScene(100);
    scene.put(level('l', { shares: 15, queuing: QUEUING }), forAlice('l'));
    assert.deepEqual(levelOf(scene).queues.limits, { seats: 75, queuing: QUEUING });
    scene.put(level('m', { shares: 30 }));
    assert.equal(levelOf(scene).queues.limits.seats, 30);
    scene.put(level('l', { shares: 65 }));
    assert.deepEqual(levelOf(scene).queues.limits, { seats: 65, queuing: undefined });
    scene.remove(level('m'));
    assert.equal(levelOf(scene).queues.limits.seats, 93);
  });

  it('has no limits where the server has none', () => {
    assert.equal(levelOf(new FlowScene(0)).queues.limits.seats, Infinity);
  });

  it('lets those who wait have new seats without another request', async () => {
    const scene = new FlowScene(2);
    scene.put(level('l', { shares: 5, queuing: QUEUING }), forAlice('l'));
    const { queues } = levelOf(scene);
    queues.tryStart(1);
    let ran = false;
    queues.enqueue({ high: 1, low: 1 }, 1, () => (ran = true));
    scene.put(level('l', { shares: 1_000, queuing: QUEUING }));
    await nextTurn();
    assert.ok(ran);
  });

  describe('a level that is removed', () => {
    const inUse = (): { scene: FlowScene; gone: PriorityLevel; ticket: Ticket } => {
      const scene = new FlowScene(10);
      scene.put(level('l', { shares: 5, queuing: QUEUING }), forAlice('l'));
      const gone = levelOf(scene);
      gone.queues.tryStart(5);
      const ticket = gone.queues.enqueue({ high: 1, low: 1 }, 1, () => undefined);
      assert.ok(typeof ticket !== 'string');
      scene.remove(level('l'));
      return { scene, gone, ticket };
    };

    it('keeps its seats until nobody is there any more', () => {
      const { scene, gone, ticket } = inUse();
      assert.equal(levelOf(scene).queues.limits.seats, 5);
      assert.equal(gone.retired, true);
      gone.queues.release(5);
      scene.control.left(gone);
      assert.equal(levelOf(scene).queues.limits.seats, 5);
      gone.queues.finish(ticket);
      scene.control.left(gone);
      assert.equal(levelOf(scene).queues.limits.seats, 10);
    });

    it('is the same one when it comes back', () => {
      const { scene, gone } = inUse();
      assert.equal(scene.schemaOf(alice, get), 'catch-all');
      scene.put(level('l', { shares: 15, queuing: QUEUING }));
      assert.equal(levelOf(scene), gone);
      assert.deepEqual([gone.retired, gone.queues.seatsInUse], [false, 6]);
    });
  });

  describe('flows', () => {
    const flowOf = (scene: FlowScene, who: string, namespace: string): string => {
      const [person, info] = [user(who, 'g'), ask('get', 'pods', namespace)];
      return JSON.stringify(scene.control.flowOf(scene.control.schemaFor(person, info), person, info));
    };
    for (const [by, users, namespaces] of [
      ['ByUser', 2, 1],
      ['ByNamespace', 1, 2],
      [undefined, 1, 1],
    ] as const) {
      it(`are told apart as the schema says: ${by ?? 'not at all'}`, () => {
        const scene = new FlowScene(10);
        scene.put(level('l'), schema('s', 'l', { ...(by === undefined ? {} : { by }), rules: [allOf(aUser('*'))] }));
        assert.equal(new Set(['a', 'b', 'a'].map((name) => flowOf(scene, name, 'n'))).size, users);
        assert.equal(new Set(['n', 'm', 'n'].map((namespace) => flowOf(scene, 'a', namespace))).size, namespaces);
      });
    }
  });

  it('does without what it cannot read', () => {
    const scene = new FlowScene(10);
    const broken: readonly unknown[] = [null, 'x', [], { rules: 'x' }, { priorityLevelConfiguration: { name: 'l' }, rules: [null, { subjects: [null, { kind: 'User' }, { kind: 'Pod' }], resourceRules: [{ verbs: 1 }, null], nonResourceRules: [{ nonResourceURLs: [1] }] }] }]; // prettier-ignore
    scene.put(level('l'));
    broken.forEach((spec, i) => scene.put({ ...forAlice('l'), metadata: { name: `b${i}` }, spec }));
    [null, 'x', { type: 'Limited' }, { type: 'Limited', limited: 1 }].forEach((spec, i) =>
      scene.put({ ...level('l'), metadata: { name: `b${i}` }, spec }),
    );
    assert.equal(scene.schemaOf(alice, get), 'catch-all');
    scene.put(forAlice('l'));
    assert.equal(scene.schemaOf(alice, get), 'mine');
  });

  it('tells the seats of each level that has limits', async () => {
    const metrics = createMetrics();
    const control = new FlowControl({ serverSeats: 9, metrics: metrics.flowControl, nowMs: () => 0 });
    control.schemaFor(alice, get).series.rejected.set('queue-full', 3);
    const { body } = await metrics.render();
    assert.match(body, /^apiserver_flowcontrol_request_concurrency_limit\{priority_level="catch-all"\} 9$/m);
    assert.doesNotMatch(body, /concurrency_limit\{priority_level="exempt"/);
    assert.match(
      body,
      /^apiserver_flowcontrol_rejected_requests_total\{.*flow_schema="catch-all",reason="queue-full"\} 3$/m,
    );
  });
});
