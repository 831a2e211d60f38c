import type { RefusalReason } from '../metrics/flow-control-metrics.js';
import { isPassedOn, type Context, type RequestInfo, type Stage } from '../pipeline/request.js';
import type { FlowControl, FlowSchema } from './flow-control.js';
import type { Ticket } from './queues/fair-queues.js';
import { tooManyRequests } from './refusal.js';
import { Seat } from './seat.js';

export interface FairnessDeps {
  readonly control: FlowControl;
  /** How many seats a request takes. */
  readonly widthOf: (info: RequestInfo, query: URLSearchParams) => number;
  /** Longest that a request waits. */
  readonly queueTimeoutMs: number;
  /** Names of the headers that say where a request was sorted. */
  readonly headers: { readonly flowSchemaUid: string; readonly priorityLevelUid: string };
}

type Next = () => Promise<unknown>;

/**
 * Lets requests run as the flow schemas and priority levels say, and others wait or refuses them. A request holds its seat
 * until its answer is handed over, a watch until it is open. What another server answers is none of our load.
 *
 * Where there is room nothing waits: the request goes on in the same turn.
 */
export const fairness =
  (d: FairnessDeps): Stage =>
  (ctx, next) => {
    const { info, user, query } = ctx.state;
    if (isPassedOn(info)) return next();
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
  if (ctx.state.info.verb === 'watch') ctx.state.onOpen = (): void => seat.free();
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

/** Resolves when the request may run, or with why it may not. */
async function untilItsTurn(
  { control, queueTimeoutMs }: FairnessDeps,
  ctx: Context,
  schema: FlowSchema,
  width: number,
): Promise<Ticket | RefusalReason> {
  const { res, state } = ctx;
  const { queues } = schema.level;
  if (res.destroyed) return 'cancelled';
  let itsTurn: () => void = () => undefined;
  const ticket = queues.enqueue(control.flowOf(schema, state.user, state.info), width, () => itsTurn());
  if (typeof ticket === 'string' || ticket.state === 'running') return ticket;
  schema.series.waiting++;
  return new Promise((resolve) => {
    const settle = (outcome: Ticket | RefusalReason): void => {
      clearTimeout(timer);
      res.off('close', onClose);
      schema.series.waiting--;
      resolve(outcome);
    };
    const giveUp = (reason: RefusalReason): void => {
      if (queues.leave(ticket)) settle(reason);
    };
    const onClose = (): void => giveUp('cancelled');
    const timer = setTimeout(() => giveUp('time-out'), queueTimeoutMs);
    res.once('close', onClose);
    itsTurn = (): void => settle(ticket);
  });
}
