import type { TLSSocket } from 'node:tls';
import { StatusError } from '../../machinery/meta/status.js';
import { isStoreError, storeErrorOf } from '../../storage/store.js';
import { breakOff, exchangeSignal, type Response, type ServerRequest } from '../http/exchange.js';
import { respondStatus } from '../http/respond.js';
import { upgradeOf } from '../http/upgrade.js';
import { isLongRunning, type RequestMetrics } from '../metrics/request-metrics.js';
import type { Stage, RequestInfo, RequestState, UserInfo, Context } from '../request/request.js';

export interface ErrorLog {
  error(message: string, keys?: object): void;
}

/** Whatever is thrown further in becomes a Status body. What we did not expect is logged here, once. */
export const respondToErrors =
  (log: ErrorLog): Stage =>
  async (ctx, next) => {
    try {
      await next();
    } catch (err) {
      const status = asStatus(err);
      if (status.reason === 'InternalError' && !isStoreError(status, 'noSpace'))
        log.error('Request failed', { err, method: ctx.method, path: ctx.path });
      if (ctx.headerSent) breakOff(ctx.res);
      else respondStatus(ctx, status);
    }
  };

/** Foreign errors become ours in this one place; what they say stays in the log. */
export function asStatus(err: unknown): StatusError {
  for (let e = err; e instanceof Error; e = e.cause) {
    if (e instanceof StatusError) return e;
  }
  const away = storeErrorOf(err, 'unavailable') ?? storeErrorOf(err, 'closed');
  if (away?.mayBeDone === true) {
    // Nothing about trying again: clients take that as leave to do so, and the write would be done twice.
    return new StatusError('Timeout', 'Timeout: the store did not answer, and may have done the write', { cause: err });
  }
  if (away !== undefined) {
    return new StatusError('ServiceUnavailable', 'The store is not available', {
      cause: err,
      details: { retryAfterSeconds: 1 },
    });
  }
  const full = storeErrorOf(err, 'noSpace');
  const unencrypted = storeErrorOf(err, 'encryption');
  if (unencrypted !== undefined) {
    return new StatusError('InternalError', `Internal error occurred: ${unencrypted.message}`, { cause: err });
  }
  if (full !== undefined) return new StatusError('InternalError', full.message, { cause: err }); // all may know it
  return new StatusError('InternalError', 'Internal error occurred', { cause: err });
}

/** Gives each request its state, whose signal fires when either side gives up. */
export const bounds =
  (requestTimeoutMs: number): Stage =>
  (ctx, next) => {
    ctx.state = new BoundedState(ctx.req, ctx.res, requestTimeoutMs);
    return next();
  };

const NO_QUERY = new URLSearchParams();

/** Makes the signal when it is first asked for: most reads from the cache are answered without a wait. */
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
    const mayGoOn = isLongRunning(this.info) || upgradeOf(this.#req) !== undefined;
    return mayGoOn ? undefined : this.#startedMs + this.#timeoutMs - performance.now();
  }
}

/** Counts and times each request; failures under the code that they will leave with. */
export const measure =
  (metrics: RequestMetrics): Stage =>
  async (ctx, next) => {
    const done = metrics.started(ctx.state.info);
    try {
      await next();
      done(ctx.status);
    } catch (err) {
      done(asStatus(err).code);
      throw err;
    }
  };

/** The one that there is (RFC 9110, 10.1.1); it is answered where connections are. */
const CONTINUE = /^100-continue$/i;

/** Refuses requests that expect of a server what none does. */
export const expectation: Stage = (ctx, next) => {
  const { expect } = ctx.req.headers;
  if (expect !== undefined && !CONTINUE.test(expect)) {
    throw new StatusError('BadRequest', 'The request expects what this server does not do', { code: 417 });
  }
  return next();
};

/**
 * Refuses connections that a page of another site opens with what the browser adds by itself. Browsers let any page
 * open a web socket to any server and show the user's client certificate for it; they only say whose page it is.
 */
export const ownOrigin: Stage = (ctx, next) => {
  if (upgradeOf(ctx.req) !== undefined && isForeign(ctx)) {
    throw new StatusError(
      'Forbidden',
      'A page of another origin may not open this connection with a client certificate',
    );
  }
  return next();
};

/** No browser lets a page set `Authorization` for a socket: where it is, a program asks. */
function isForeign({ req }: Context): boolean {
  const { origin, host, authorization } = req.headers;
  if (origin === undefined || authorization !== undefined || isSame(origin, host ?? '')) return false;
  return showsCertificate(req.socket as Partial<TLSSocket>);
}

const showsCertificate = (socket: Partial<TLSSocket>): boolean => socket.getPeerX509Certificate?.() !== undefined;

/** Host and port are compared, not the scheme: some programs name a plain one whatever they speak. */
function isSame(origin: string, host: string): boolean {
  const [theirs, ours] = [origin, `https://${host}`].map(placeOf);
  return theirs !== undefined && theirs === ours;
}

function placeOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`;
}
