import { StatusError } from '../../machinery/meta/status.js';
import type { Context } from '../request/request.js';
import { turns, weigh } from './turns.js';

export interface BodyLimits {
  readonly maxBytes: number;
  /** Longest that a whole body may take. */
  readonly timeoutMs: number;
}

/**
 * Reads a request's body. A body that is too large is refused before it is read when it says so, else as soon as it is.
 *
 * @throws {StatusError} RequestEntityTooLarge, Timeout; BadRequest for a body that breaks off
 * @throws `ctx.state.signal.reason` if it fires first: the client has gone away, also before this began
 */
export async function readBody(ctx: Context, limits: BodyLimits): Promise<Buffer> {
  const body = await received(ctx, limits);
  weigh(ctx.state, body.length);
  if (ctx.state.heavy === true) await turns.alone();
  return body;
}

function received({ req, state: { signal } }: Context, limits: BodyLimits): Promise<Buffer> {
  const announced = Number(req.headers['content-length'] ?? 0);
  if (announced > limits.maxBytes) throw tooLarge(limits.maxBytes);
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const finish = (outcome: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onOver);
      req.off('data', onData).off('end', onEnd).off('error', onBroken).off('aborted', onBroken);
      outcome();
    };
    const onData = (part: Buffer): void => {
      size += part.length;
      if (size <= limits.maxBytes) parts.push(part);
      else finish(() => reject(tooLarge(limits.maxBytes)));
    };
    const onEnd = (): void => {
      const [only] = parts;
      finish(() => resolve(parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, size)));
    };
    const onOver = (): void => finish(() => reject(signal.reason as Error));
    const onBroken = (cause?: Error): void =>
      finish(() => reject(new StatusError('BadRequest', 'The request body ended before it was complete', { cause })));
    const timer = setTimeout(
      () => finish(() => reject(new StatusError('Timeout', 'The request body did not arrive in time'))),
      limits.timeoutMs,
    );
    signal.addEventListener('abort', onOver);
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('aborted', onBroken);
  });
}

const tooLarge = (maxBytes: number): StatusError =>
  new StatusError('RequestEntityTooLarge', `Request entity too large: limit is ${maxBytes}`);
