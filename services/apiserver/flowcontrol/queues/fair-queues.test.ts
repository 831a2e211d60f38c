import assert from 'node:assert/strict';
import { FairQueues, type Limits, type Queuing, type Ticket } from './fair-queues.js';
import type { FlowHash } from './hand.js';

const ONE_QUEUE: Queuing = { queues: 1, handSize: 1, queueLengthLimit: 100 };
const flow = (n: number): FlowHash => ({ high: n, low: n });
const A = flow(1);

/** Queues whose time stands still, and what has run there. */
class Scene {
  readonly ran: string[] = [];
  readonly queues: FairQueues;
  nowMs = 0;

  constructor(limits: Limits) {
    this.queues = new FairQueues(limits, () => this.nowMs);
  }

  wait(name: string, o: { readonly hash?: FlowHash; readonly width?: number } = {}): Ticket {
    const ticket = this.queues.enqueue(o.hash ?? A, o.width ?? 1, () => this.ran.push(name));
    if (typeof ticket === 'string') throw new Error(ticket);
    return ticket;
  }

  refusal(): unknown {
    return this.queues.enqueue(A, 1, () => this.ran.push('refused'));
  }
}

describe('FairQueues', () => {
  it('refuses at once what has no seat where nobody waits', () => {
    const { queues } = new Scene({ seats: 1, queuing: undefined });
    assert.equal(queues.tryStart(1), 1);
    assert.equal(queues.tryStart(1), 0);
    assert.equal(
      queues.enqueue(A, 1, () => undefined),
      'concurrency-limit',
    );
    queues.release(1);
    assert.equal(queues.tryStart(1), 1);
  });

  it('refuses what comes to a queue that is full', () => {
    const scene = new Scene({ seats: 1, queuing: { ...ONE_QUEUE, queueLengthLimit: 2 } });
    scene.queues.tryStart(1);
    const first = scene.wait('a');
    scene.wait('b');
    assert.equal(scene.refusal(), 'queue-full');
    scene.queues.leave(first);
    scene.wait('c');
    assert.equal(scene.refusal(), 'queue-full');
    assert.equal(scene.queues.waiting, 2);
  });

  it('lets nobody pass by those who wait', () => {
    const scene = new Scene({ seats: 2, queuing: ONE_QUEUE });
    scene.queues.tryStart(1);
    scene.wait('wide', { width: 2 });
    assert.equal(scene.queues.tryStart(1), 0, 'there is a seat, and somebody waits for it');
  });

  it('lets those of one queue run in the order in which they came', () => {
    const scene = new Scene({ seats: 1, queuing: ONE_QUEUE });
    scene.queues.tryStart(1);
    const tickets = ['a', 'b', 'c'].map((name) => scene.wait(name));
    assert.deepEqual(scene.ran, []);
    scene.queues.release(1);
    for (const ticket of tickets) scene.queues.finish(ticket);
    assert.deepEqual(scene.ran, ['a', 'b', 'c']);
    assert.ok(scene.queues.idle);
  });

  it('gives queues of the same kind a turn each', () => {
    const scene = new Scene({ seats: 1, queuing: { queues: 128, handSize: 1, queueLengthLimit: 100 } });
    scene.queues.tryStart(1);
    const tickets = new Map<string, Ticket>();
    for (const name of ['a1', 'a2', 'a3']) tickets.set(name, scene.wait(name, { hash: flow(1) }));
    for (const name of ['b1', 'b2', 'b3']) tickets.set(name, scene.wait(name, { hash: flow(2) }));
    scene.queues.release(1);
    for (let i = 0; i < 6; i++) {
      const running = tickets.get(scene.ran[i] ?? '');
      assert.ok(running);
      scene.queues.finish(running);
    }
    assert.deepEqual(scene.ran, ['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
  });

  it('lets a queue wait whose requests take long', () => {
    const scene = new Scene({ seats: 1, queuing: { queues: 128, handSize: 1, queueLengthLimit: 100 } });
    scene.queues.tryStart(1);
    const slow = ['s1', 's2'].map((name) => scene.wait(name, { hash: flow(1) }));
    const quick = ['q1', 'q2', 'q3', 'q4'].map((name) => scene.wait(name, { hash: flow(2) }));
    scene.queues.release(1);
    scene.nowMs += 1_000;
    for (const ticket of [slow[0], ...quick, slow[1]]) {
      assert.ok(ticket);
      scene.queues.finish(ticket);
    }
    assert.deepEqual(scene.ran, ['s1', 'q1', 'q2', 'q3', 'q4', 's2']);
  });

  it('lets a wide request run, though narrow ones keep coming', () => {
    const scene = new Scene({ seats: 4, queuing: { queues: 128, handSize: 1, queueLengthLimit: 100 } });
    const taken = Array.from({ length: 4 }, () => scene.queues.tryStart(1));
    scene.wait('wide', { hash: flow(1), width: 4 });
    const narrow = [2, 3, 4, 5].map((n) => scene.wait(`n${n}`, { hash: flow(n) }));
    for (const seats of taken) scene.queues.release(seats);
    for (let i = 0; i < 100 && !scene.ran.includes('wide'); i++) {
      scene.queues.finish(narrow[i] as Ticket); // there is one more with each round
      narrow.push(scene.wait(`n${6 + i}`, { hash: flow(6 + i) }));
    }
    assert.ok(scene.ran.includes('wide'));
    assert.ok(scene.ran.length < 20, `it came as number ${scene.ran.length}`);
  });

  it('lets a request that is wider than the level run alone', () => {
    const scene = new Scene({ seats: 3, queuing: ONE_QUEUE });
    assert.equal(scene.queues.tryStart(10), 3);
    const ticket = scene.wait('next', { width: 10 });
    assert.deepEqual(scene.ran, []);
    scene.queues.release(3);
    assert.deepEqual(scene.ran, ['next']);
    scene.queues.finish(ticket);
    assert.ok(scene.queues.idle);
  });

  it('lets those behind run when one leaves that they waited for', () => {
    const scene = new Scene({ seats: 2, queuing: ONE_QUEUE });
    scene.queues.tryStart(1);
    const wide = scene.wait('wide', { width: 2 });
    scene.wait('narrow');
    assert.equal(scene.queues.leave(wide), true);
    assert.deepEqual(scene.ran, ['narrow']);
  });

  it('does not take a ticket back twice, or one that runs', () => {
    const scene = new Scene({ seats: 1, queuing: ONE_QUEUE });
    scene.queues.tryStart(1);
    const [runs, left] = [scene.wait('runs'), scene.wait('left')];
    assert.equal(scene.queues.leave(left), true);
    assert.equal(scene.queues.leave(left), false);
    scene.queues.release(1);
    assert.equal(scene.queues.leave(runs), false);
    scene.queues.finish(left);
    assert.equal(scene.queues.seatsInUse, 1);
    scene.queues.finish(runs);
    scene.queues.finish(runs);
    assert.equal(scene.queues.seatsInUse, 0);
  });

  describe('configure()', () => {
    it('lets those who wait run when there are more seats', () => {
      const scene = new Scene({ seats: 1, queuing: ONE_QUEUE });
      scene.queues.tryStart(1);
      for (const name of ['a', 'b', 'c']) scene.wait(name);
      scene.queues.configure({ seats: 3, queuing: ONE_QUEUE });
      assert.deepEqual(scene.ran, ['a', 'b']);
    });

    it('lets nobody run until there is room again when there are fewer', () => {
      const scene = new Scene({ seats: 3, queuing: ONE_QUEUE });
      for (let i = 0; i < 3; i++) scene.queues.tryStart(1);
      scene.wait('a');
      scene.queues.configure({ seats: 1, queuing: ONE_QUEUE });
      scene.queues.release(1);
      scene.queues.release(1);
      assert.deepEqual(scene.ran, []);
      scene.queues.release(1);
      assert.deepEqual(scene.ran, ['a']);
    });

    it('keeps those who wait where nobody may wait any more', () => {
      const scene = new Scene({ seats: 1, queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } });
      scene.queues.tryStart(1);
      for (let i = 0; i < 10; i++) scene.wait(`r${i}`, { hash: flow(i) });
      scene.queues.configure({ seats: 1, queuing: undefined });
      assert.equal(scene.refusal(), 'concurrency-limit');
      scene.queues.configure({ seats: Infinity, queuing: undefined });
      assert.equal(scene.ran.length, 10);
    });
  });
});
