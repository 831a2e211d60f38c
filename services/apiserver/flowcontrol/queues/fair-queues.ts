import { dealHand, type FlowHash } from './hand.js';
import { Heap, type HeapItem } from './queue-heap.js';

/** How requests wait. */
export interface Queuing {
  readonly queues: number;
  /** Queues that one flow may use. */
  readonly handSize: number;
  /** Most requests that wait in one queue. */
  readonly queueLengthLimit: number;
}

export interface Limits {
  /** Most seats in use, 1 at least; Infinity for no limit. */
  readonly seats: number;
  /** undefined: a request that cannot run at once is refused. */
  readonly queuing: Queuing | undefined;
}

export type Refused = 'queue-full' | 'concurrency-limit';

/** A request that waits, or that has waited and runs. */
export class Ticket {
  readonly width: number;
  readonly run: () => void;
  readonly queue: Queue;
  state: 'waiting' | 'running' | 'gone' = 'waiting';
  /** Set while the request runs. */
  seats = 0;
  startedMs = 0;
  previous: Ticket | undefined;
  next: Ticket | undefined;

  constructor(queue: Queue, width: number, run: () => void) {
    this.queue = queue;
    this.width = width;
    this.run = run;
  }
}

/** Requests of some flows, first come first served. */
class Queue implements HeapItem {
  place = -1;
  head: Ticket | undefined;
  tail: Ticket | undefined;
  length = 0;
  /** Seats that its requests want or have. */
  load = 0;
  /** Seat-milliseconds that were spent on it, on the virtual clock of its busy time. */
  spent = 0;
  /** When it had its last turn; counted, not timed. */
  turn = 0;

  /** When its first request would be done, were all queues served at the same speed. */
  get finish(): number {
    return this.spent + ESTIMATED_MS * (this.head?.width ?? 0);
  }

  add(ticket: Ticket): void {
    ticket.previous = this.tail;
    if (this.tail === undefined) this.head = ticket;
    else this.tail.next = ticket;
    this.tail = ticket;
    this.length++;
  }

  take(ticket: Ticket): void {
    const { previous, next } = ticket;
    if (previous === undefined) this.head = next;
    else previous.next = next;
    if (next === undefined) this.tail = previous;
    else next.previous = previous;
    ticket.previous = ticket.next = undefined;
    this.length--;
  }
}

/** The seat time that a request is taken to need until it is done. */
const ESTIMATED_MS = 3;

const comesBefore = (a: Queue, b: Queue): boolean => {
  const difference = a.finish - b.finish;
  return difference === 0 ? a.turn < b.turn : difference < 0;
};

/**
 * The queues of a busy time, in which at least one request waits. It ends, and its accounts with it, when none does.
 */
class BusyTime {
  readonly queues = new Map<number, Queue>();
  readonly waiting = new Heap<Queue>(comesBefore);
  /** The virtual finish of the last request that began: a queue that was empty starts here, without credit. */
  virtualNow = 0;
  turns = 0;
}

/**
 * Seats, and who gets them next. Fair among queues by self-clocked fair queuing (Golestani, 1994): the request whose
 * virtual finish comes first has its turn. What is charged is seats times the time they were held; it is estimated at
 * the start, and put right at the end.
 *
 * Pure but for its clock: the caller ends a ticket, by `finish` when it has run, by `leave` before.
 * `run` of a ticket is called once, from within another call, and must neither throw nor call back.
 */
export class FairQueues {
  readonly #nowMs: () => number;
  #limits: Limits;
  #inUse = 0;
  #waiting = 0;
  #busy: BusyTime | undefined;

  constructor(limits: Limits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  get limits(): Limits {
    return this.#limits;
  }
  get seatsInUse(): number {
    return this.#inUse;
  }
  get waiting(): number {
    return this.#waiting;
  }
  get idle(): boolean {
    return this.#inUse === 0 && this.#waiting === 0;
  }

  /** Takes seats that no request waits for. @returns How many, to be given back by `release`; 0 when there are none. */
  tryStart(width: number): number {
    const { seats: limit } = this.#limits;
    const seats = Math.min(width, limit);
    if (this.#waiting > 0 || this.#inUse + seats > limit) return 0;
    this.#inUse += seats;
    return seats;
  }

  /** Gives back what `tryStart` took. */
  release(seats: number): void {
    this.#inUse -= seats;
    if (this.#waiting > 0) this.#dispatch();
  }

  /** Puts a request that could not start into a queue. */
  enqueue(hash: FlowHash, width: number, run: () => void): Ticket | Refused {
    const { queuing } = this.#limits;
    if (queuing === undefined) return 'concurrency-limit';
    const busy = (this.#busy ??= new BusyTime());
    const queue = shortest(busy, dealHand(hash, queuing.queues, queuing.handSize));
    if (queue.length >= queuing.queueLengthLimit) return 'queue-full';
    const ticket = new Ticket(queue, width, run);
    if (queue.length === 0) queue.spent = Math.max(queue.spent, busy.virtualNow);
    queue.add(ticket);
    queue.load += width;
    this.#waiting++;
    busy.waiting.settle(queue);
    this.#dispatch(); // its turn may have come: when there was room beside a wide request that is gone
    return ticket;
  }

  /** Takes a ticket out of its queue. @returns False when it does not wait: it has been run already, or has left. */
  leave(ticket: Ticket): boolean {
    if (ticket.state !== 'waiting') return false;
    ticket.state = 'gone';
    ticket.queue.load -= ticket.width;
    this.#remove(ticket);
    this.#dispatch(); // what came behind it may fit where it did not
    return true;
  }

  /** Ends a ticket that has been run. */
  finish(ticket: Ticket): void {
    if (ticket.state !== 'running') return;
    ticket.state = 'gone';
    const { queue, width, seats } = ticket;
    this.#inUse -= seats;
    queue.load -= width;
    queue.spent += (this.#nowMs() - ticket.startedMs - ESTIMATED_MS) * width;
    if (queue.length > 0) this.#busy?.waiting.settle(queue);
    this.#dispatch();
  }

  /** Waiting requests keep their places, and running ones their seats, whatever the new limits are. */
  configure(limits: Limits): void {
    this.#limits = limits;
    this.#dispatch();
  }

  #dispatch(): void {
    const { seats: limit } = this.#limits;
    for (;;) {
      const queue = this.#busy?.waiting.top;
      const ticket = queue?.head;
      if (queue === undefined || ticket === undefined) return;
      const seats = Math.min(ticket.width, limit); // wider than the level: it runs when it is alone
      if (this.#inUse + seats > limit) return;
      this.#start(queue, ticket, seats);
    }
  }

  #start(queue: Queue, ticket: Ticket, seats: number): void {
    const busy = this.#busy;
    if (busy === undefined) return;
    queue.spent = queue.finish;
    queue.turn = ++busy.turns;
    busy.virtualNow = Math.max(busy.virtualNow, queue.spent);
    ticket.state = 'running';
    ticket.seats = seats;
    ticket.startedMs = this.#nowMs();
    this.#inUse += seats;
    this.#remove(ticket);
    ticket.run();
  }

  #remove(ticket: Ticket): void {
    const { queue } = ticket;
    queue.take(ticket);
    this.#waiting--;
    if (queue.length > 0) this.#busy?.waiting.settle(queue);
    else this.#busy?.waiting.remove(queue);
    if (this.#waiting === 0) this.#busy = undefined;
  }
}

/** The queue of a hand with the least work. */
function shortest({ queues }: BusyTime, hand: readonly number[]): Queue {
  let best: Queue | undefined;
  for (const index of hand) {
    const queue = queues.get(index);
    if (queue === undefined) return added(queues, index); // nothing to do at all
    if (best === undefined || queue.load < best.load) best = queue;
  }
  return best ?? added(queues, 0);
}

function added(queues: Map<number, Queue>, index: number): Queue {
  const queue = new Queue();
  queues.set(index, queue);
  return queue;
}
