import { exchangeSignal, type Response, type ServerRequest } from '../http/exchange.js';
import { isLongRunning } from '../metrics/request-labels.js';
import type { RequestInfo, RequestState, Stage, UserInfo } from '../request/request.js';

/** Gives each request its state, whose signal fires when either side gives up. */
export const bounds =
  (requestTimeoutMs: number): Stage =>
  (ctx, next) => {
    ctx.state = new BoundedState(ctx.req, ctx.res, requestTimeoutMs);
    return next();
  };

const NO_QUERY = new URLSearchParams();

/** Makes the signal when it is first asked for: most reads from the cache are answered before anybody has to wait. */
class BoundedState implements RequestState {
  // Set by the stages.
  declare info: RequestInfo;
  declare user: UserInfo;
  query = NO_QUERY;
  readonly #req: ServerRequest;
  readonly #res: Response;
  readonly #timeoutMs: number;
  readonly #startedMs = performance.now();
  #signal: AbortSignal | undefined;

  constructor(req: ServerRequest, res: Response, timeoutMs: number) {
    this.#req = req;
    this.#res = res;
    this.#timeoutMs = timeoutMs;
  }

  get signal(): AbortSignal {
    return (this.#signal ??= exchangeSignal(this.#req, this.#res, this.#leftMs()));
  }

  #leftMs(): number | undefined {
    return isLongRunning(this.info) ? undefined : this.#startedMs + this.#timeoutMs - performance.now();
  }
}
