import type { Socket } from 'node:net';

/**
 * Which connections a request can do with. `any`: one that another request has used, for it may be sent again if that was
 * closed meanwhile. `recent`: such a one only if that was just now. `new`: none that was used.
 */
export type Wanted = 'any' | 'recent' | 'new';

/** Whether a connection is for one request alone, or the first or a further one of several. */
export type Use = 'only' | 'first' | 'further';

/** A connection while one request has it. */
export class Connection {
  readonly socket: Socket;
  readonly use: Use;
  /** For how long another request may be sent on it; 0: its request is not over, or it was the last one. */
  freeForMs = 0;
  readonly #keep: ((socket: Socket, ms: number) => void) | undefined;

  /** @param keep Takes it when its request has left it free; without, it is for one request. */
  constructor(socket: Socket, keep?: (socket: Socket, ms: number) => void, use: Use = 'first') {
    this.socket = socket;
    this.use = keep === undefined ? 'only' : use;
    this.#keep = keep;
  }

  /** Its request has no more to do with it. */
  release(): void {
    if (this.#keep !== undefined && this.freeForMs > 0 && !this.socket.destroyed)
      this.#keep(this.socket, this.freeForMs);
    else this.socket.destroy();
  }
}
