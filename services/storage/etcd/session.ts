import { connect, type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from 'node:http2';

import type { Endpoint, TlsMaterial } from './endpoints.js';

export interface SessionTimes {
  /** Longest that connecting may take, TLS and the first frame of the other side included. */
  readonly connectTimeoutMs: number;
  /** A session with open calls that has heard nothing for so long is pinged. etcd takes less than 5 s for abuse. */
  readonly keepAliveMs: number;
  /** A ping that is not answered within this time ends the session. */
  readonly keepAliveTimeoutMs: number;
}

export const SESSION_TIMES: SessionTimes = { connectTimeoutMs: 2000, keepAliveMs: 6000, keepAliveTimeoutMs: 3000 };

/** Flow-control window of one stream; a paused watch holds no more than this. */
const STREAM_WINDOW_BYTES = 4 << 20;
const CONNECTION_WINDOW_BYTES = 64 << 20;
/** In megabytes. The default of 10 ends sessions when large answers come together. */
const SESSION_MEMORY_MB = 512;

export interface SessionEvents {
  /** It takes no more calls. Told once; those under way may still finish. */
  ended(session: Session): void;
  /** It is gone, with all its calls. */
  closed(session: Session): void;
}

/** One HTTP/2 connection to one endpoint. */
export class Session {
  readonly endpoint: Endpoint;
  /** Why the session ended, once it has. */
  ended: Error | undefined;
  readonly #http2: ClientHttp2Session;
  readonly #times: SessionTimes;
  readonly #events: SessionEvents;
  readonly #beat: NodeJS.Timeout;
  #retired = false;
  #streams = 0;
  #heardAt = performance.now();
  #pinging = false;

  constructor(http2: ClientHttp2Session, endpoint: Endpoint, times: SessionTimes, events: SessionEvents) {
    this.#http2 = http2;
    this.endpoint = endpoint;
    this.#times = times;
    this.#events = events;
    this.#beat = setInterval(() => this.#keepAlive(), times.keepAliveMs).unref();
    http2.on('error', (err: Error) => this.#end(err));
    http2.on('goaway', (code) => this.#end(new Error(`the server is going away (code ${code})`)));
    http2.on('close', () => {
      clearInterval(this.#beat);
      this.#end(new Error('the connection was closed'));
      this.#events.closed(this);
    });
  }

  /** Whether a call may be begun. False a little before `ended` is told when the connection breaks. */
  get usable(): boolean {
    return this.ended === undefined && !this.#http2.closed && !this.#http2.destroyed;
  }

  /** When something was last received, on the clock of `performance.now()`. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** To be called whenever something is received. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  /** Begins a call. Throws when nothing can be sent any more; then nothing was. */
  open(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    if (this.ended !== undefined) throw this.ended;
    const stream = this.#http2.request(headers);
    this.#streams++;
    stream.once('close', () => {
      this.#streams--;
    });
    // After a long silence the other side may be gone: ping along with the call.
    if (performance.now() - this.#heardAt > this.#times.keepAliveMs) this.#keepAlive();
    return stream;
  }

  /** Takes no part in new calls any more; those under way may finish. */
  retire(): void {
    if (this.#retired) return;
    this.#retired = true;
    if (this.#streams === 0) this.destroy(new Error('the connection is no longer in use'));
    else this.#http2.close();
  }

  destroy(reason: Error): void {
    this.#end(reason);
    this.#http2.destroy();
  }

  /** A connection without calls is not pinged: etcd ends connections that do so. */
  #keepAlive(): void {
    const silentMs = performance.now() - this.#heardAt;
    if (this.#pinging || this.#streams === 0 || silentMs < this.#times.keepAliveMs || this.#http2.destroyed) return;
    this.#pinging = true;
    const limit = setTimeout(
      () => this.destroy(new Error(`nothing was heard for ${Math.round(performance.now() - this.#heardAt)} ms`)),
      this.#times.keepAliveTimeoutMs,
    );
    this.#http2.ping((err) => {
      clearTimeout(limit);
      this.#pinging = false;
      if (err === null) this.heard();
    });
  }

  #end(reason: Error): void {
    if (this.ended !== undefined) return;
    this.ended = reason;
    this.#events.ended(this);
  }
}

export interface OpenSession {
  readonly endpoint: Endpoint;
  readonly tls: TlsMaterial;
  readonly times: SessionTimes;
  readonly events: SessionEvents;
}

/**
 * Connects, and resolves when the other side has sent its HTTP/2 settings: a connection that was accepted and never
 * answered is none. Rejects after `connectTimeoutMs`, or when `signal` fires.
 */
export function openSession(o: OpenSession, signal: AbortSignal): Promise<Session> {
  return new Promise((resolve, reject) => {
    const http2 = connect(o.endpoint.url, {
      ...(o.endpoint.secure ? o.tls : {}),
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
      maxSessionMemory: SESSION_MEMORY_MB,
    });
    const settled = (): void => {
      clearTimeout(limit);
      signal.removeEventListener('abort', aborted);
      http2.off('close', closed).off('remoteSettings', ready);
    };
    const fail = (err: Error): void => {
      settled();
      reject(err); // the listener stays: a session may tell more than one error
      http2.destroy();
    };
    const aborted = (): void => fail(new Error('given up'));
    const closed = (): void => fail(new Error('the connection was closed'));
    const ready = (): void => {
      settled();
      http2.off('error', fail);
      http2.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
      resolve(new Session(http2, o.endpoint, o.times, o.events));
    };
    const { connectTimeoutMs } = o.times;
    const limit = setTimeout(() => fail(new Error(`no answer within ${connectTimeoutMs} ms`)), connectTimeoutMs);
    signal.addEventListener('abort', aborted);
    http2.on('error', fail).once('close', closed).once('remoteSettings', ready);
    if (signal.aborted) aborted();
  });
}
