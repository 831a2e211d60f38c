import { constants, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';

import { messageOf, type GrpcStatus, GRPC } from './errors.js';
import { FrameReader, frame, statusOf } from './frames.js';
import type { Session } from './session.js';
import { headersOf } from './unary.js';

const WATCH_PATH = '/etcdserverpb.Watch/Watch';

export interface WatchStreamEvents {
  /** Messages may be taken. */
  readable(): void;
  /** The stream is over. Told once, and not after `close()`. */
  lost(status: GrpcStatus): void;
}

/** One stream of gRPC messages in both directions. What is not taken stays at the other side, save for one window. */
export class WatchStream {
  readonly session: Session;
  readonly #stream: ClientHttp2Stream;
  readonly #events: WatchStreamEvents;
  readonly #frames = new FrameReader();
  #status: GrpcStatus = { code: GRPC.unavailable, message: 'the stream was closed' };
  #over = false;

  /** Throws when the session takes no calls. */
  constructor(session: Session, create: Buffer, events: WatchStreamEvents) {
    this.session = session;
    this.#events = events;
    const stream = session.open(headersOf(WATCH_PATH));
    this.#stream = stream;
    stream.on('error', (err) => (this.#status = { code: GRPC.unavailable, message: messageOf(err) }));
    stream.on('response', (it) => this.#headers(statusOf(it)));
    stream.on('trailers', (it: IncomingHttpHeaders) => this.#headers(statusOf(it)));
    stream.on('data', (chunk: Buffer) => this.#data(chunk));
    stream.on('close', () => this.#lost());
    stream.write(frame(create));
  }

  send(message: Buffer): void {
    if (!this.#over && this.#stream.writable) this.#stream.write(frame(message));
  }

  /** The next message, if it is there. @throws {StoreError} corrupt */
  take(): Buffer | undefined {
    return this.#frames.next();
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    if (!this.#over) this.#stream.resume();
  }

  close(): void {
    this.#over = true;
    this.#stream.resume(); // what still comes is dropped; unread bytes would keep the stream open
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #data(chunk: Buffer): void {
    this.session.heard();
    if (this.#over) return;
    this.#frames.push(chunk);
    this.#events.readable();
  }

  #headers(status: GrpcStatus | undefined): void {
    this.session.heard();
    if (status !== undefined) this.#status = status;
  }

  #lost(): void {
    if (this.#over) return;
    this.#over = true;
    this.#events.lost(this.#status);
  }
}
