import type { FlowControl, FlowSchema } from './flow-control.js';
import type { Ticket } from './queues/fair-queues.js';

/** Seats of one request while it runs. */
export class Seat {
  readonly #control: FlowControl;
  readonly #schema: FlowSchema;
  /** How it was come by: by waiting, or so many at once; 0 at a level that has no limits. */
  readonly #from: Ticket | number;
  readonly #startedMs = performance.now();
  #held = true;

  constructor(control: FlowControl, schema: FlowSchema, from: Ticket | number) {
    this.#control = control;
    this.#schema = schema;
    this.#from = from;
    const { series } = schema;
    series.dispatched++;
    series.executing++;
    series.seatsInUse += this.#seats;
  }

  /** Gives it back; the second time does nothing. */
  free(): void {
    if (!this.#held) return;
    this.#held = false;
    const { series, level } = this.#schema;
    series.executing--;
    series.seatsInUse -= this.#seats;
    series.execution.observe((performance.now() - this.#startedMs) / 1_000);
    if (typeof this.#from !== 'number') level.queues.finish(this.#from);
    else if (this.#from > 0) level.queues.release(this.#from);
    if (level.retired) this.#control.left(level);
  }

  get #seats(): number {
    return typeof this.#from === 'number' ? this.#from : this.#from.seats;
  }
}
