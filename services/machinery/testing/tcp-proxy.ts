import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePorts } from './free-port.js';

/** A wire that can be cut: forwards TCP connections to a port of this machine. */
export interface TcpProxy {
  readonly port: number;
  /** How many connections it has taken so far. */
  readonly accepted: number;
  /** How many bytes of answers it has let through. */
  readonly answeredBytes: number;
  /** Ends every connection that there is. New ones are forwarded. */
  cut(): void;
  /** Lets nothing through, in neither direction; connections stay, and new ones are taken. */
  pause(): void;
  /** Lets requests through and no answers. */
  holdAnswers(): void;
  /** Lets answers through and no requests. */
  holdRequests(): void;
  /** Lets answers through in pieces of this many bytes, one every 20 ms on each connection; until `resume`. */
  slow(pieceBytes: number): void;
  /** Ends `pause`, `holdAnswers`, `holdRequests` and `slow`; what was held back goes its way. */
  resume(): void;
  /** Ends every connection, and refuses new ones until `admit()`. */
  refuse(): Promise<void>;
  admit(): Promise<void>;
  close(): Promise<void>;
}

const PIECE_EVERY_MS = 20;

class Proxy implements TcpProxy {
  readonly port: number;
  accepted = 0;
  answeredBytes = 0;
  readonly #targetPort: number;
  readonly #from: string;
  readonly #clients = new Set<Socket>();
  readonly #servers = new Set<Socket>();
  /** Of which a part waits to be written. */
  readonly #dripping = new Set<Socket>();
  #server: Server | undefined;
  #requestsHeld = false;
  #answersHeld = false;
  #pieceBytes = Infinity;

  constructor(port: number, targetPort: number, from: string) {
    this.port = port;
    this.#targetPort = targetPort;
    this.#from = from;
  }

  admit(): Promise<void> {
    if (this.#server !== undefined) return Promise.resolve();
    const server = createServer({ pauseOnConnect: true }, (client) => this.#forward(client));
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.port, '127.0.0.1', resolve);
    });
  }

  cut(): void {
    for (const it of [...this.#clients, ...this.#servers]) it.destroy();
  }

  pause(): void {
    this.#hold(true, true);
  }

  holdAnswers(): void {
    this.#hold(false, true);
  }

  holdRequests(): void {
    this.#hold(true, false);
  }

  slow(pieceBytes: number): void {
    this.#pieceBytes = pieceBytes;
  }

  resume(): void {
    this.#pieceBytes = Infinity;
    this.#hold(false, false);
  }

  async refuse(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    this.cut();
    await closed;
  }

  close(): Promise<void> {
    return this.refuse();
  }

  #hold(requests: boolean, answers: boolean): void {
    this.#requestsHeld = requests;
    this.#answersHeld = answers;
    for (const it of this.#clients) this.#flow(it);
    for (const it of this.#servers) this.#flow(it);
  }

  #flow(from: Socket): void {
    if (this.#dripping.has(from)) return; // what comes next goes behind what is left
    if (this.#clients.has(from) ? this.#requestsHeld : this.#answersHeld) from.pause();
    else from.resume();
  }

  #forward(client: Socket): void {
    this.accepted++;
    const server = connect({ port: this.#targetPort, host: '127.0.0.1', localAddress: this.#from });
    this.#clients.add(client);
    this.#servers.add(server);
    this.#join(client, server);
    this.#join(server, client);
  }

  /** A piece now, the rest later; more is read when all of it has gone. */
  #drip(chunk: Buffer, from: Socket, to: Socket): void {
    this.#dripping.add(from);
    from.pause();
    const piece = this.#answersHeld ? chunk.subarray(0, 0) : chunk.subarray(0, this.#pieceBytes);
    this.answeredBytes += piece.length;
    to.write(piece);
    setTimeout(() => {
      this.#dripping.delete(from);
      if (to.destroyed) return;
      if (piece.length < chunk.length) this.#drip(chunk.subarray(piece.length), from, to);
      else this.#flow(from);
    }, PIECE_EVERY_MS);
  }

  #join(from: Socket, to: Socket): void {
    from.on('data', (chunk) => {
      const answer = this.#servers.has(from);
      if (answer && this.#pieceBytes < Infinity) {
        this.#drip(chunk, from, to);
        return;
      }
      if (answer) this.answeredBytes += chunk.length;
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => this.#flow(from));
    from.on('error', () => undefined); // a cut wire: told to the other side by the close below
    from.on('close', () => {
      this.#clients.delete(from);
      this.#servers.delete(from);
      to.destroy();
    });
    this.#flow(from);
  }
}

/** @param from The address of this machine that the target sees, e.g. `127.0.0.2`: tells one client from another. */
export async function tcpProxy(targetPort: number, from = '127.0.0.1'): Promise<TcpProxy> {
  const [port = 0] = await freePorts(1);
  const proxy = new Proxy(port, targetPort, from);
  await proxy.admit();
  return proxy;
}
