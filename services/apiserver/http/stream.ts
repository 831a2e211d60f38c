import type { Context } from '../pipeline/request.js';

/** An answer that goes on: chunks on HTTP/1.1, data frames on HTTP/2. */
export interface AnswerStream {
  /** False: the connection's buffer is full; wait for `onDrain` before more than a little. */
  write(bytes: Buffer): boolean;
  onDrain(listener: () => void): void;
  /** The client went away, or `end` was called. */
  onClose(listener: () => void): void;
  readonly closed: boolean;
  end(): void;
}

/**
 * Takes the answer out of the framework's hands: it is written piece by piece, so nobody else may answer any more. The
 * headers leave at once: a client must see that its watch stands before anything happens.
 */
export function openStream(ctx: Context): AnswerStream {
  const { res } = ctx;
  ctx.respond = false;
  res.statusCode = 200;
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Cache-Control', 'no-cache, private');
  res.flushHeaders();
  return {
    write: (bytes) => !res.destroyed && !res.writableEnded && res.write(bytes),
    onDrain: (listener) => void res.on('drain', listener),
    onClose: (listener) => void res.once('close', listener),
    get closed() {
      return res.destroyed || res.closed;
    },
    end: () => {
      if (!res.writableEnded) res.end();
    },
  };
}
