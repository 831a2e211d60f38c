import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FairQueues, type Limits, type Ticket } from './fair-queues.js';
import { flowHash } from './hand.js';

const SEED = { high: 77, low: 99 };
const hashOf = (flow: number) => flowHash(SEED, 'schema', `user-${flow}`);

const limits = fc.record<Limits>({
  seats: fc.integer({ min: 1, max: 8 }),
  queuing: fc.option(
    fc.record({
      queues: fc.integer({ min: 1, max: 6 }),
      handSize: fc.integer({ min: 1, max: 3 }),
      queueLengthLimit: fc.integer({ min: 1, max: 5 }),
    }),
    { nil: undefined, freq: 6 },
  ),
});
type Step =
  | { readonly do: 'arrive'; readonly flow: number; readonly width: number }
  | { readonly do: 'finish' | 'leave'; readonly which: number }
  | { readonly do: 'configure'; readonly limits: Limits }
  | { readonly do: 'pass'; readonly ms: number };
const is = <T extends string>(what: T): fc.Arbitrary<T> => fc.constant(what);
const step = (maxWidth: number): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: is('arrive'),
        flow: fc.nat({ max: 5 }),
        width: fc.integer({ min: 1, max: maxWidth }),
      }),
    },
    { weight: 5, arbitrary: fc.record({ do: is('finish'), which: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ do: is('leave'), which: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: is('configure'), limits }) },
    { weight: 2, arbitrary: fc.record({ do: is('pass'), ms: fc.nat({ max: 1_000 }) }) },
  );

interface Request {
  readonly width: number;
  /** How often it was run. */
  runs: number;
  end: () => void;
  leave: () => boolean;
}

/** Plays steps, and holds what happens against what must. */
class Play {
  readonly #queues: FairQueues;
  #nowMs = 0;
  readonly waiting = new Set<Request>();
  readonly running = new Set<Request>();
  ended = 0;
  arrived = 0;

  constructor(start: Limits) {
    this.#queues = new FairQueues(start, () => this.#nowMs);
  }

  play(steps: readonly Step[]): void {
    for (const one of steps) {
      this.#step(one);
      this.#check();
    }
  }

  /** Ends everything that runs until nothing waits. */
  drain(): void {
    for (let i = 0; this.running.size > 0; i++) {
      assert.ok(i < 10_000, 'somebody waits for ever');
      this.#end(first(this.running));
      this.#check();
    }
    assert.equal(this.waiting.size, 0, 'nothing runs, and somebody waits');
    assert.ok(this.#queues.idle, 'a seat is lost');
    assert.equal(this.ended, this.arrived);
  }

  #step(one: Step): void {
    if (one.do === 'arrive') this.#arrive(one.flow, one.width);
    else if (one.do === 'configure') this.#queues.configure(one.limits);
    else if (one.do === 'pass') this.#nowMs += one.ms;
    else if (one.do === 'finish' && this.running.size > 0) this.#end(nth(this.running, one.which));
    else if (one.do === 'leave' && this.waiting.size > 0) {
      const request = nth(this.waiting, one.which);
      this.waiting.delete(request);
      assert.equal(request.leave(), true);
      this.ended++;
    }
  }

  #arrive(flow: number, width: number): void {
    this.arrived++;
    const request: Request = { width, runs: 0, end: () => undefined, leave: () => false };
    const seats = this.#queues.tryStart(width);
    if (seats > 0) {
      request.runs++;
      request.end = (): void => this.#queues.release(seats);
      this.running.add(request);
      return;
    }
    const room = this.#queues.limits.seats;
    const ticket: Ticket | string = this.#queues.enqueue(hashOf(flow), width, () => {
      request.runs++;
      this.waiting.delete(request);
      this.running.add(request);
      assert.ok(this.#queues.seatsInUse <= room || this.#queues.seatsInUse <= this.#queues.limits.seats);
    });
    if (typeof ticket === 'string') {
      this.ended++;
      return;
    }
    if (request.runs === 0) this.waiting.add(request);
    request.leave = (): boolean => this.#queues.leave(ticket);
    request.end = (): void => this.#queues.finish(ticket);
  }

  #end(request: Request): void {
    this.running.delete(request);
    this.ended++;
    request.end();
  }

  #check(): void {
    const { seatsInUse, waiting, limits: now } = this.#queues;
    for (const { runs } of this.running) assert.equal(runs, 1);
    for (const { runs } of this.waiting) assert.equal(runs, 0);
    assert.equal(waiting, this.waiting.size);
    assert.equal(seatsInUse === 0, this.running.size === 0);
    if (waiting === 0) return;
    const widest = Math.max(...[...this.waiting].map(({ width }) => Math.min(width, now.seats)));
    assert.ok(seatsInUse + widest > now.seats, 'there is room for all who wait, and they wait');
  }
}

const first = <T>(set: ReadonlySet<T>): T => nth(set, 0);
const nth = <T>(set: ReadonlySet<T>, n: number): T => [...set][n % set.size] as T; // asked of sets that are not empty

describe('FairQueues, whatever comes', () => {
  for (const [what, maxWidth] of [
    ['of one seat each', 1],
    ['of several seats', 10],
  ] as const) {
    it(`runs each request once or not at all, loses no seat and leaves none empty (requests ${what})`, () => {
      fc.assert(
        fc.property(limits, fc.array(step(maxWidth), { maxLength: 80 }), (start, steps) => {
          const play = new Play(start);
          play.play(steps);
          play.drain();
        }),
        { numRuns: 300 },
      );
    });
  }

  it('has no more seats in use than there are while their number stays', () => {
    const steps = fc.array(
      step(4).filter((s) => s.do !== 'configure'),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(limits, steps, (start, all) => {
        const queues = new FairQueues(start, () => 0);
        const ends: (() => void)[] = [];
        for (const one of all) {
          if (one.do === 'arrive') {
            const seats = queues.tryStart(one.width);
            if (seats > 0) ends.push(() => queues.release(seats));
            else {
              const ticket = queues.enqueue(hashOf(one.flow), one.width, () => ends.push(() => queues.finish(ticket as Ticket))); // prettier-ignore
            }
          } else if (one.do === 'finish') ends.shift()?.();
          assert.ok(queues.seatsInUse <= start.seats);
        }
      }),
    );
  });
});

/** A level under load: flows that always have `backlog` requests waiting or running, each of which takes a time of its own. */
function serve(
  flows: readonly {
    readonly name: number;
    readonly backlog: number;
    readonly serviceMs: number;
    readonly width: number;
  }[],
  o: { readonly limits: Limits; readonly untilMs: number },
): Map<number, { seatMs: number; done: number }> {
  let nowMs = 0;
  const queues = new FairQueues(o.limits, () => nowMs);
  const served = new Map(flows.map(({ name }) => [name, { seatMs: 0, done: 0 }]));
  const ends: { readonly atMs: number; readonly end: () => void }[] = [];
  const send = (flow: (typeof flows)[number]): void => {
    const ticket = queues.enqueue(hashOf(flow.name), flow.width, () =>
      ends.push({
        atMs: nowMs + flow.serviceMs,
        end: () => {
          const counted = served.get(flow.name) ?? { seatMs: 0, done: 0 };
          counted.seatMs += flow.serviceMs * flow.width;
          counted.done++;
          if (typeof ticket !== 'string') queues.finish(ticket);
          send(flow);
        },
      }),
    );
    assert.notEqual(typeof ticket, 'string');
  };
  for (const flow of flows) for (let i = 0; i < flow.backlog; i++) send(flow);
  while (nowMs < o.untilMs) {
    ends.sort((a, b) => a.atMs - b.atMs);
    const next = ends.shift();
    assert.ok(next, 'nothing runs');
    nowMs = next.atMs;
    next.end();
  }
  return served;
}

describe('FairQueues under load', () => {
  const apart = { queues: 128, handSize: 1, queueLengthLimit: 10_000 };

  it('serves two flows the same, whatever their requests take and however many they send', () => {
    const flow = (name: number): fc.Arbitrary<Parameters<typeof serve>[0][number]> =>
      fc.record({
        name: fc.constant(name),
        backlog: fc.integer({ min: 10, max: 60 }),
        serviceMs: fc.integer({ min: 1, max: 200 }),
        width: fc.integer({ min: 1, max: 3 }),
      });
    fc.assert(
      fc.property(flow(1), flow(2), fc.integer({ min: 3, max: 6 }), (a, b, seats) => {
        const served = serve([a, b], { limits: { seats, queuing: apart }, untilMs: 60_000 });
        const [one, other] = [served.get(1)?.seatMs ?? 0, served.get(2)?.seatMs ?? 0];
        const ratio = one / other;
        assert.ok(ratio > 0.8 && ratio < 1.25, `${one} and ${other} seat-milliseconds`);
      }),
      { numRuns: 40 },
    );
  });

  it('serves a flow with few requests all of them while another has thousands', () => {
    const elephant = { name: 1, backlog: 300, serviceMs: 100, width: 1 };
    const mouse = { name: 2, backlog: 1, serviceMs: 100, width: 1 };
    const dealt = { queues: 64, handSize: 6, queueLengthLimit: 10_000 };
    const served = serve([elephant, mouse], { limits: { seats: 8, queuing: dealt }, untilMs: 60_000 });
    const most = 60_000 / 100; // one after the other, without any wait
    assert.ok((served.get(2)?.done ?? 0) > most / 4, `${served.get(2)?.done} of at most ${most}`);
  });

  it('has one who comes late run before those of whom many wait', () => {
    const order: string[] = [];
    const queues = new FairQueues({ seats: 2, queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } }, () => 0);
    const tickets = new Map<string, Ticket>();
    const wait = (flow: number, name: string): void => {
      const ticket = queues.enqueue(hashOf(flow), 1, () => order.push(name));
      assert.ok(typeof ticket !== 'string');
      tickets.set(name, ticket);
    };
    for (let i = 0; i < 2; i++) queues.tryStart(1);
    for (let i = 0; i < 250; i++) wait(1, `elephant ${i}`);
    wait(2, 'mouse');
    queues.release(1);
    for (let at = 0; !order.includes('mouse'); at++) queues.finish(tickets.get(order[at] ?? '') as Ticket); // it runs
    assert.ok(order.length <= 8, `the mouse came as number ${order.length}`);
  });
});
