import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { StatusError } from '../../machinery/meta/status.js';

export interface BodyLimits {
  readonly maxBytes: number;
  /** Longest that a whole body may take. */
  readonly timeoutMs: number;
}

/**
 * Reads a request's body. A body that is too large is refused before it is read when it says so, else as soon as it is.
 *
 * @throws {StatusError} RequestEntityTooLarge, Timeout; BadRequest when the client goes away in the middle
 */
export async function readBody(req: IncomingMessage | Http2ServerRequest, limits: BodyLimits): Promise<Buffer> {
  const announced = Number(req.headers['content-length'] ?? 0);
  if (announced > limits.maxBytes) throw tooLarge(limits.maxBytes);
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const finish = (outcome: () => void): void => {
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd).off('error', onGone).off('aborted', onGone).off('close', onGone);
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
    const onGone = (cause?: Error): void =>
      finish(() => reject(new StatusError('BadRequest', 'The request body ended before it was complete', { cause })));
    const timer = setTimeout(
      () => finish(() => reject(new StatusError('Timeout', 'The request body did not arrive in time'))),
      limits.timeoutMs,
    );
    req.on('data', onData).on('end', onEnd).on('error', onGone).on('aborted', onGone).on('close', onGone);
  });
}

const tooLarge = (maxBytes: number): StatusError =>
  new StatusError('RequestEntityTooLarge', `Request entity too large: limit is ${maxBytes}`);
