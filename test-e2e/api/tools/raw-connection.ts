import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Client } from './client.js';

const WITHIN_MS = 15_000;

/** A connection on which a test says whatever it likes. */
export class RawConnection {
  /** Resolves, with everything that came, when the server has closed the connection. */
  readonly closed: Promise<string>;
  readonly #socket: Socket;
  #received = '';
  #wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
      this.#wake();
    });
    socket.on('error', () => undefined); // a reset is a way of closing
    this.closed = new Promise((resolve) => socket.once('close', () => resolve(this.#received)));
  }

  /** TLS, with this protocol agreed on. */
  static async open({ url }: Client, protocol: 'http/1.1' | 'h2' = 'http/1.1'): Promise<RawConnection> {
    const o = { host: url.hostname, port: Number(url.port), rejectUnauthorized: false, ALPNProtocols: [protocol] };
    const socket = connectTls(o);
    await once(socket, 'secureConnect');
    return new RawConnection(socket);
  }

  /** Bare TCP. */
  static async openTcp({ url }: Client): Promise<RawConnection> {
    const socket = connectTcp(Number(url.port), url.hostname);
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  get received(): string {
    return this.#received;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  send(data: string | Buffer): void {
    if (this.#socket.writable) this.#socket.write(data);
  }

  /** Waits until what came matches. @throws {Error} when the connection closes before, or it does not come in time */
  async until(pattern: RegExp): Promise<void> {
    const deadline = Date.now() + WITHIN_MS;
    while (!pattern.test(this.#received)) {
      if (this.#socket.destroyed || Date.now() > deadline) {
        throw new Error(`Nothing like ${String(pattern)} came, but: ${this.#received.slice(0, 500)}`);
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        void this.closed.then(() => resolve());
        setTimeout(resolve, 100);
      });
    }
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

/** The head of a request as text, ending where its body begins. */
export function requestHead(
  { url, token }: Client,
  method: string,
  path: string,
  headers: readonly string[] = [],
): string {
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${url.host}`, `Authorization: Bearer ${token}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
