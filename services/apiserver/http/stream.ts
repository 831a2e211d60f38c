import type { Context } from '../request/request.js';
import type { Upgrade } from './upgrade.js';
import { openWatchSocket, socketServer, type Messages } from './watch-socket.js';

export const SWITCHING_PROTOCOLS = 101;

/** An answer that goes on: chunks on HTTP/1.1, data frames on HTTP/2. */
export interface AnswerStream {
  /** False: the connection's buffer is full; wait for `onDrain` before more than a little. */
  write(bytes: Buffer): boolean;
  onDrain(listener: () => void): void;
  /** The client went away, or `end` was called. */
  onClose(listener: () => void): void;
  readonly closed: boolean;
  /** @param why The server is stopping; else the answer is complete. */
  end(why?: 'stopping'): void;
}

/** Every answer that is under way, so that a server which stops can end them in good order. */
export class OpenStreams {
  readonly #open = new Set<Pick<AnswerStream, 'end'>>();
  #closing = false;

  /**
   * Takes the answer out of the framework's hands: it is written piece by piece, and no other code may answer. The
   * headers leave at once: a client must see that its watch stands before anything happens.
   */
  open(ctx: Context, type: string): AnswerStream {
    const { res } = ctx;
    const { signal } = ctx.state;
    ctx.respond = false;
    res.statusCode = 200;
    res.setHeader('Content-Type', type);
    res.setHeader('Cache-Control', 'no-cache, private');
    res.flushHeaders();
    ctx.state.onOpen?.();
    const stream: AnswerStream = {
      write: (bytes) => !stream.closed && res.write(bytes),
      onDrain: (listener) => void res.on('drain', listener),
      onClose: (listener) => {
        if (signal.aborted) listener();
        else signal.addEventListener('abort', listener, { once: true });
      },
      get closed() {
        return signal.aborted || res.writableEnded;
      },
      end: () => {
        if (!res.writableEnded) res.end();
      },
    };
    return this.#keep(stream);
  }

  /** The same for a watch that goes on as a web socket. */
  async openSocket(ctx: Context, upgrade: Upgrade, messages: Messages): Promise<AnswerStream> {
    const server = await socketServer();
    ctx.state.signal.throwIfAborted(); // a connection that is gone cannot be taken
    ctx.respond = false;
    ctx.res.statusCode = SWITCHING_PROTOCOLS; // for those who count
    const stream = openWatchSocket(server, ctx, { upgrade, messages });
    ctx.state.onOpen?.();
    return this.#keep(stream);
  }

  /** Has a connection that was handed over ended with the rest. @returns Is called when it has ended by itself. */
  hold(end: () => void): () => void {
    const held = { end };
    this.#open.add(held);
    if (this.#closing) end();
    return () => this.#open.delete(held);
  }

  /** Ends all of them, and those that are opened from now on. */
  endAll(): void {
    this.#closing = true;
    for (const stream of this.#open) stream.end('stopping');
  }

  #keep(stream: AnswerStream): AnswerStream {
    this.#open.add(stream);
    stream.onClose(() => this.#open.delete(stream));
    if (this.#closing) stream.end('stopping');
    return stream;
  }
}
