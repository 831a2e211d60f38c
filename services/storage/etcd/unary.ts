import { constants, type ClientHttp2Stream, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';

import { traceHeaders } from '../../machinery/tracing/trace.js';
import { StoreError } from '../store.js';
import type { Channel } from './channel.js';
import { joinSignal, leaveSignal, type Abortable } from './aborts.js';
import type { DeadlineEntry, Deadlines, Waiting } from './deadlines.js';
import { GRPC, closedError, errorOf, messageOf, ruleOf, unavailable, underWay, type GrpcStatus } from './errors.js';
import { FrameReader, frame, statusOf } from './frames.js';
import type { Session } from './session.js';

/** A call with one request and one answer. */
export interface Method {
  /** As in `/etcdserverpb.KV/Txn`. */
  readonly path: string;
  /** For messages. */
  readonly name: string;
  /** Whether it may be sent again when its answer was lost. */
  readonly repeatable: boolean;
}

/** Carries calls to the store, so that the store need not know how. */
export interface UnaryTransport {
  /**
   * Resolves with the bytes of the answer. A read may be sent several times, to several endpoints; anything else is
   * sent again only when it provably never reached one.
   *
   * @param silenceMs Longest that nothing may arrive: a large answer on a slow wire takes its time, up to
   * LONGEST_SILENCES of these. An answer of which nothing has come is given up after the first.
   * @throws {StoreError} by the table of errors.ts, or `signal.reason`
   */
  call(method: Method, request: Buffer, silenceMs: number, signal: AbortSignal): Promise<Buffer>;
}

/** More calls than this at once are a fault of the caller, and would be a fault of memory. */
const MAX_PENDING = 8192;

/** Longest that one call takes though its answer keeps coming, in times of the silence that ends it. */
const LONGEST_SILENCES = 24;

/** Sends each call as one stream of an HTTP/2 connection: about half of what a gRPC library costs. */
export class Http2Unary implements UnaryTransport {
  readonly channel: Channel;
  readonly deadlines: Deadlines;
  readonly #pending = new Set<Call>();

  constructor(channel: Channel, deadlines: Deadlines) {
    this.channel = channel;
    this.deadlines = deadlines;
  }

  call(method: Method, request: Buffer, silenceMs: number, signal: AbortSignal): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.channel.closed) throw closedError();
      if (this.#pending.size >= MAX_PENDING)
        throw unavailable(`${method.name} refused: ${MAX_PENDING} calls wait already`);
      const done = (call: Call): void => void this.#pending.delete(call);
      const call = new Call({
        transport: this,
        method,
        frame: frame(request),
        silenceMs,
        signal,
        resolve,
        reject,
        done,
      });
      this.#pending.add(call);
      call.start();
    });
  }

  /** Ends every call that is under way with `closed`. */
  close(): void {
    for (const call of this.#pending) call.abort(closedError());
    this.channel.close();
  }
}

interface CallOptions {
  readonly transport: Http2Unary;
  readonly method: Method;
  readonly frame: Buffer;
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  readonly resolve: (answer: Buffer) => void;
  readonly reject: (err: unknown) => void;
  readonly done: (call: Call) => void;
}

const HEADERS = new Map<string, OutgoingHttpHeaders>();

/** Made once for each path. `hasleader`: a member that has lost the others says so at once. */
export function headersOf(path: string): OutgoingHttpHeaders {
  let headers = HEADERS.get(path);
  if (headers === undefined) {
    const fixed = { te: 'trailers', 'content-type': 'application/grpc', hasleader: 'true' };
    headers = { ':method': 'POST', ':path': path, ...fixed };
    HEADERS.set(path, headers);
  }
  return headers;
}

/** With what tells the store which trace a call belongs to. */
function traced(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const trace = traceHeaders();
  return 'traceparent' in trace ? { ...headers, ...trace } : headers;
}

class Call implements Waiting, Abortable {
  readonly #o: CallOptions;
  readonly #startedAt = performance.now();
  /** When a part of an answer came last; at first the start. */
  #heardAt = this.#startedAt;
  #deadline: DeadlineEntry;
  #attempts = 0;
  #settled = false;
  #attempt: Attempt | undefined;

  constructor(o: CallOptions) {
    this.#o = o;
    this.#deadline = o.transport.deadlines.add(this, o.silenceMs);
    joinSignal(o.signal, this);
  }

  start(): void {
    const { channel } = this.#o.transport;
    this.#attempts++;
    if (channel.ready !== undefined) this.#send(channel.ready);
    else
      channel.connect().then(
        (session) => this.#send(session),
        (err: unknown) => this.#fail(err),
      );
  }

  expire(): void {
    const attempt = this.#attempt;
    const { silenceMs, method, transport } = this.#o;
    const now = performance.now();
    const silentMs = now - this.#heardAt;
    const leftMs = Math.min(silenceMs - silentMs, silenceMs * LONGEST_SILENCES - (now - this.#startedAt));
    if (leftMs > 0) {
      this.#deadline = transport.deadlines.add(this, leftMs);
      return;
    }
    // Nothing at all was heard since the request left: the connection or the member is not well. Others may be.
    if (attempt !== undefined && attempt.session.heardAt < attempt.startedAt) {
      transport.channel.retire(attempt.session, 'no answer within the deadline');
    }
    const took = Math.round(now - this.#startedAt);
    this.#fail(
      unavailable(`${method.name} was not answered in ${took} ms, the last ${Math.round(silentMs)} ms in silence`),
    );
  }

  abort(reason: unknown): void {
    this.#fail(reason);
  }

  /** A part of the answer has come. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  answered(answer: Buffer): void {
    if (!this.#settle()) return;
    this.#o.resolve(answer);
  }

  /** The member answered with an error. */
  refused(session: Session, status: GrpcStatus): void {
    const rule = ruleOf(status);
    if (rule.failover === true) this.#o.transport.channel.retire(session, status.message);
    const again = rule.code === 'unavailable' && (rule.untouched === true || this.#o.method.repeatable);
    this.#failOrRetry(errorOf(this.#o.method.name, status, { isWrite: !this.#o.method.repeatable }), again);
  }

  /** The connection failed. */
  lost(reason: string, sent: boolean): void {
    const again = !sent || this.#o.method.repeatable;
    const err = unavailable(`${this.#o.method.name} got no answer: ${reason}`);
    this.#failOrRetry(again ? err : underWay(err), again);
  }

  #send(session: Session): void {
    if (this.#settled) return;
    try {
      this.#attempt = new Attempt(this, session, traced(headersOf(this.#o.method.path)), this.#o.frame);
    } catch (err) {
      this.lost(messageOf(err), false);
    }
  }

  #failOrRetry(err: Error, again: boolean): void {
    if (this.#settled) return;
    this.#attempt = undefined;
    if (again && this.#attempts <= this.#o.transport.channel.endpoints.length) this.start();
    else this.#fail(err);
  }

  #fail(err: unknown): void {
    const attempt = this.#attempt;
    if (!this.#settle()) return;
    attempt?.cancel();
    const isUnderWay = attempt !== undefined && !this.#o.method.repeatable;
    this.#o.reject(isUnderWay && err instanceof StoreError ? underWay(err) : err);
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#attempt = undefined;
    this.#o.transport.deadlines.remove(this.#deadline);
    leaveSignal(this.#o.signal, this);
    this.#o.done(this);
    return true;
  }
}

/** One stream of one call. Tells its call one thing, once. */
class Attempt {
  readonly session: Session;
  readonly startedAt = performance.now();
  readonly #call: Call;
  readonly #stream: ClientHttp2Stream;
  readonly #frames = new FrameReader();
  #answer: Buffer | undefined;
  #ok = false;
  #over = false;

  constructor(call: Call, session: Session, headers: OutgoingHttpHeaders, request: Buffer) {
    this.session = session;
    this.#call = call;
    const stream = session.open(headers);
    this.#stream = stream;
    stream.on('error', (err) => this.#lost(messageOf(err)));
    stream.on('response', (it) => this.#headers(statusOf(it)));
    stream.on('data', (chunk: Buffer) => this.#data(chunk));
    stream.on('trailers', (it: IncomingHttpHeaders) => this.#headers(statusOf(it)));
    stream.on('close', () => this.#lost('the stream was closed'));
    stream.end(request);
  }

  cancel(): void {
    this.#over = true;
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #data(chunk: Buffer): void {
    if (this.#over) return;
    this.session.heard();
    this.#call.heard();
    try {
      this.#frames.push(chunk);
      this.#answer ??= this.#frames.next();
    } catch (err) {
      this.#over = true;
      this.#call.abort(err);
      return;
    }
    this.#answerWhenWhole();
  }

  #headers(status: GrpcStatus | undefined): void {
    if (this.#over) return;
    this.session.heard();
    if (status === undefined) return;
    if (status.code === GRPC.ok) {
      this.#ok = true;
      this.#answerWhenWhole();
    } else {
      this.#over = true;
      this.#call.refused(this.session, status);
    }
  }

  /** The status usually comes last, but the bytes before it may be told after it. */
  #answerWhenWhole(): void {
    if (!this.#ok || this.#answer === undefined) return;
    this.#over = true;
    this.#call.answered(this.#answer);
  }

  #lost(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#call.lost(reason, this.#stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM);
  }
}
