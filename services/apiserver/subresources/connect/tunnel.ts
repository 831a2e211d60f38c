import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { headerPairs } from '../../http/headers.js';

/** Two connections that carry the same bytes. */
export interface Tunnel {
  /** Resolves when both are closed. */
  readonly over: Promise<void>;
  readonly end: () => void;
}

/** The head of an answer as it came. */
export function rawHead({ statusCode = 101, statusMessage = '', rawHeaders }: IncomingMessage): Buffer {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (const [name, value] of headerPairs(rawHeaders)) lines.push(`${name}: ${value}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/**
 * Joins two connections. When one side ends, what it sent is delivered and both are closed: the protocols that are spoken
 * here know no half-closed connection. When nothing moves on one of them for `idleMs`, both are cut.
 */
export function tunnel(a: Socket, b: Socket, idleMs: number): Tunnel {
  const end = (): void => {
    a.destroy();
    b.destroy();
  };
  for (const side of [a, b]) side.setTimeout(idleMs, end);
  return { over: Promise.all([carry(a, b), carry(b, a)]).then(() => undefined), end };
}

/** Resolves when `from` is closed. What it has sent by then is delivered, and `to` closed: that closes `from`, too. */
async function carry(from: Socket, to: Socket): Promise<void> {
  const close = (): void => to.destroySoon();
  return new Promise((settle) => {
    const over = (): void => {
      close();
      settle();
    };
    from.on('error', () => undefined); // closes it, too
    from.once('end', close).once('close', over);
    from.pipe(to);
    if (from.destroyed) over();
  });
}
