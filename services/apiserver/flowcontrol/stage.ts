import type { RefusalReason } from '../metrics/flow-control-metrics.js';
import type { Context, RequestInfo, Stage } from '../request/request.js';
import type { FlowControl, FlowSchema } from './flow-control.js';
import type { Ticket } from './queues/fair-queues.js';
import { tooManyRequests } from './refusal.js';

export interface FairnessDeps {
  readonly control: FlowControl;
  /** How many seats a request takes. */
  readonly widthOf: (info: RequestInfo, query: URLSearchParams) => number;
  /** Longest that a request waits. */
  readonly queueTimeoutMs: number;
  /** Names of the headers with the uids of the schema and the level of a request. */
  readonly headers: { readonly flowSchemaUid: string; readonly priorityLevelUid: string };
}

type Next = () => Promise<unknown>;

/**
 * Lets requests run as the flow schemas and priority levels say, and others wait or refuses them. A request holds its
 * seat until its answer is handed over; a watch or a proxied request until it is open, as from then on it is no load of
 * this server. Requests that fail earlier, for want of a right or of an object, count as any other.
 *
 * Where there is room nothing waits: the request goes on in the same turn.
 */
export const fairness =
  (d: FairnessDeps): Stage =>
  (ctx, next) => {
    const { info, user, query } = ctx.state;
    const schema = d.control.schemaFor(user, info);
    const { level, spec } = schema;
    if (spec.uid !== '') ctx.res.setHeader(d.headers.flowSchemaUid, spec.uid);
    if (level.spec.uid !== '') ctx.res.setHeader(d.headers.priorityLevelUid, level.spec.uid);
    if (level.spec.exempt) return runWith(ctx, next, new Seat(d.control, schema, 0));
    const width = d.widthOf(info, query);
    const seats = level.queues.tryStart(width);
    if (seats === 0) return runInTurn(d, ctx, next, schema, width);
    schema.series.waited.observe(0);
    return runWith(ctx, next, new Seat(d.control, schema, seats));
  };

async function runWith(ctx: Context, next: Next, seat: Seat): Promise<void> {
  ctx.state.onOpen = (): void => seat.free();
  try {
    await next();
  } finally {
    seat.free();
  }
}

async function runInTurn(d: FairnessDeps, ctx: Context, next: Next, schema: FlowSchema, width: number): Promise<void> {
  const { series } = schema;
  const startedMs = performance.now();
  const outcome = await untilItsTurn(d, ctx, schema, width);
  const seconds = (performance.now() - startedMs) / 1_000;
  if (typeof outcome === 'string') {
    series.rejected.set(outcome, (series.rejected.get(outcome) ?? 0) + 1);
    series.waitedInVain.observe(seconds);
    throw tooManyRequests();
  }
  series.waited.observe(seconds);
  await runWith(ctx, next, new Seat(d.control, schema, outcome));
}

/** Resolves with the seats when the request may run, or with the reason of its refusal. */
async function untilItsTurn(
  { control, queueTimeoutMs }: FairnessDeps,
  ctx: Context,
  schema: FlowSchema,
  width: number,
): Promise<Ticket | RefusalReason> {
  const { state } = ctx;
  const { signal } = state;
  const { queues } = schema.level;
  if (signal.aborted) return 'cancelled';
  let itsTurn: () => void = () => undefined;
  const ticket = queues.enqueue(control.flowOf(schema, state.user, state.info), width, () => itsTurn());
  if (typeof ticket === 'string' || ticket.state === 'running') return ticket;
  schema.series.waiting++;
  return new Promise((resolve) => {
    const settle = (outcome: Ticket | RefusalReason): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onOver);
      schema.series.waiting--;
      resolve(outcome);
    };
    const giveUp = (reason: RefusalReason): void => {
      if (queues.leave(ticket)) settle(reason);
    };
    const onOver = (): void => giveUp('cancelled');
    const timer = setTimeout(() => giveUp('time-out'), queueTimeoutMs);
    signal.addEventListener('abort', onOver);
    itsTurn = (): void => settle(ticket);
  });
}

/** Seats of one request while it runs. */
class Seat {
  readonly #control: FlowControl;
  readonly #schema: FlowSchema;
  /** The ticket of a request that has waited, else its seats; 0 at an exempt level. */
  readonly #from: Ticket | number;
  readonly #seats: number;
  readonly #startedMs = performance.now();
  #held = true;

  constructor(control: FlowControl, schema: FlowSchema, from: Ticket | number) {
    this.#control = control;
    this.#schema = schema;
    this.#from = from;
    this.#seats = typeof from === 'number' ? from : from.seats;
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
}
