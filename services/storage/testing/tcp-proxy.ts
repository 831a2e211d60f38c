import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A wire that can be cut: forwards TCP connections to a port of this machine. */
export interface TcpProxy {
  readonly port: number;
  /** How many connections it has taken so far. */
  readonly accepted: number;
  /** Ends every connection that there is. New ones are forwarded. */
  cut(): void;
  /** Lets nothing through, in neither direction; connections stay, and new ones are taken. */
  pause(): void;
  resume(): void;
  /** Ends every connection, and refuses new ones until `admit()`. */
  refuse(): Promise<void>;
  admit(): Promise<void>;
  close(): Promise<void>;
}

class Proxy implements TcpProxy {
  port = 0;
  accepted = 0;
  readonly #targetPort: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #paused = false;

  constructor(targetPort: number) {
    this.#targetPort = targetPort;
  }

  admit(): Promise<void> {
    if (this.#server !== undefined) return Promise.resolve();
    const server = createServer({ pauseOnConnect: true }, (client) => this.#forward(client));
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.port, '127.0.0.1', () => {
        this.port = (server.address() as AddressInfo).port; // it listens on TCP
        resolve();
      });
    });
  }

  cut(): void {
    for (const it of this.#sockets) it.destroy();
  }

  pause(): void {
    this.#paused = true;
    for (const it of this.#sockets) it.pause();
  }

  resume(): void {
    this.#paused = false;
    for (const it of this.#sockets) it.resume();
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

  #forward(client: Socket): void {
    this.accepted++;
    const server = connect(this.#targetPort, '127.0.0.1');
    const pair = [client, server] as const;
    for (const [from, to] of [pair, [server, client]] as const) {
      this.#sockets.add(from);
      from.on('data', (chunk) => {
        if (!to.write(chunk)) from.pause();
      });
      to.on('drain', () => {
        if (!this.#paused) from.resume();
      });
      from.on('error', () => undefined); // a cut wire: told to the other side by the close below
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#paused) from.pause();
      else from.resume();
    }
  }
}

export async function tcpProxy(targetPort: number): Promise<TcpProxy> {
  const proxy = new Proxy(targetPort);
  await proxy.admit();
  return proxy;
}
