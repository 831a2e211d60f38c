import type { Socket } from 'node:net';
import type { Wanted } from './connection.js';

/** Longest that a connection is kept on which nothing is asked: less than servers do as a rule. */
const KEEP_MS = 30_000;
/** A request that cannot be sent again takes none that was free for longer: its other end may be closing it by now. */
const RECENT_MS = 1_000;
const MOST_OF_A_PLACE = 8;
const MOST = 32;

interface Kept {
  readonly place: string;
  readonly since: number;
  readonly leave: () => void;
}

/** Any of these says that nothing more can be asked there; bytes that nobody asked for do as well. */
const ENDS = ['data', 'end', 'error', 'close', 'timeout'] as const;

/** Free connections, all made with the same proofs on both sides. What comes last is taken first, so that the others end. */
export class KeptSockets {
  readonly #now: () => number;
  /** The oldest first. */
  readonly #free = new Map<Socket, Kept>();
  #isClosed = false;

  /** @param now Milliseconds that only rise. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#free.size;
  }

  /** Nothing is kept any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @param place Where it leads. */
  take(place: string, wanted: Wanted): Socket | undefined {
    if (wanted === 'new') return undefined;
    const [socket, kept] = [...this.#free].findLast(([, it]) => it.place === place) ?? [];
    if (socket === undefined || kept === undefined) return undefined;
    if (wanted === 'recent' && this.#now() - kept.since > RECENT_MS) return undefined;
    this.#forget(socket);
    return socket;
  }

  /** @param ms For how long its other end keeps it. */
  keep(place: string, socket: Socket, ms: number): void {
    const isFull = this.#free.size >= MOST || [...this.#free.values()].filter((it) => it.place === place).length >= MOST_OF_A_PLACE; // prettier-ignore
    if (this.#isClosed || isFull || !socket.readable || !socket.writable) {
      socket.destroy();
      return;
    }
    const leave = (): void => {
      this.#forget(socket);
      socket.on('error', () => undefined);
      socket.destroy();
    };
    for (const end of ENDS) socket.on(end, leave);
    socket.setTimeout(Math.min(ms, KEEP_MS));
    this.#free.set(socket, { place, since: this.#now(), leave });
  }

  /** Closes what is free, and what becomes free later. */
  close(): void {
    this.#isClosed = true;
    for (const { leave } of [...this.#free.values()]) leave();
  }

  #forget(socket: Socket): void {
    const kept = this.#free.get(socket);
    if (kept === undefined) return;
    this.#free.delete(socket);
    for (const end of ENDS) socket.off(end, kept.leave);
    socket.setTimeout(0);
  }
}
