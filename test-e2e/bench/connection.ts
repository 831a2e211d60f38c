import { connect, type TLSSocket } from 'node:tls';
import { once } from 'node:events';

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** What one answer was; its body is not kept. */
export interface Answer {
  readonly code: number;
  readonly bytes: number;
}

const HEADERS_END = Buffer.from('\r\n\r\n');

/**
 * One HTTP/1.1 connection that asks and waits, with as little work as can be: a load generator shares the machine with
 * what it measures. Understands answers with a Content-Length only.
 */
export class Connection {
  readonly #socket: TLSSocket;
  #head: Buffer = Buffer.alloc(0);
  #left = 0;
  #code = 0;
  #bytes = 0;
  #waiting: { readonly resolve: (answer: Answer) => void; readonly reject: (err: Error) => void } | undefined;
  #first: Buffer | undefined;

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on('data', (part: Buffer) => this.#take(part));
    const fail = (err?: Error): void => this.#waiting?.reject(err ?? new Error('The server closed the connection'));
    socket.on('error', fail).on('close', () => fail());
  }

  static async open({ host, port, cert, key }: Target): Promise<Connection> {
    const identity = cert === undefined || key === undefined ? {} : { cert, key };
    const socket = connect({ host, port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...identity });
    await once(socket, 'secureConnect');
    socket.setNoDelay(true);
    return new Connection(socket);
  }

  /** Sends a whole request, headers and body, and waits for the end of its answer. */
  ask(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  /** The first body bytes of the newest answer: enough for names and versions at its start. */
  get firstBytes(): string {
    return this.#first?.toString() ?? '';
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(part: Buffer): void {
    let rest = part;
    if (this.#left === 0) {
      this.#head = this.#head.length === 0 ? part : Buffer.concat([this.#head, part]);
      const end = this.#head.indexOf(HEADERS_END);
      if (end < 0) return;
      const head = this.#head.toString('latin1', 0, end);
      this.#code = Number(head.slice(9, 12));
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? NaN);
      if (Number.isNaN(length)) throw new Error(`An answer without a length: ${head}`);
      rest = this.#head.subarray(end + 4);
      this.#head = Buffer.alloc(0);
      this.#left = length;
      this.#bytes = length;
      this.#first = rest;
    }
    this.#left -= rest.length;
    if (this.#left > 0) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ code: this.#code, bytes: this.#bytes });
  }
}

/** A request as bytes. */
export function request(
  method: string,
  path: string,
  o: { body?: string; type?: string; accept?: string; headers?: string } = {},
): Buffer {
  const body = o.body ?? '';
  const entity =
    body === ''
      ? ''
      : `Content-Type: ${o.type ?? 'application/json'}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAccept: ${o.accept ?? 'application/json'}\r\n${o.headers ?? ''}${entity}\r\n${body}`,
  );
}
