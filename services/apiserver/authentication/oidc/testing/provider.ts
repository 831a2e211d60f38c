import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { freePorts } from '../../../../machinery/testing/free-port.js';
import type { KeyPair } from '../../../../client/testing/certificates.js';
import type { TestKey } from '../../service-accounts/testing/tokens.js';

/** How a provider shows a key. @param more Members to add or to change. */
export const jwkOf = (key: TestKey, more: object = {}): object => ({
  ...createPublicKey(key.publicPem).export({ format: 'jwk' }),
  kid: key.verifying.id,
  use: 'sig',
  ...more,
});

/** A provider that does as it is told, over TLS: what a good one never does as well. */
export class TestProvider {
  /** `https://localhost:PORT`, the same when it was away. */
  readonly issuer: string;
  /** Paths, in the order of arrival. */
  readonly asked: string[] = [];
  /** The members of its configuration. */
  configuration: Record<string, unknown>;
  keys: readonly object[] = [];
  headers: Record<string, string> = { 'content-type': 'application/json' };
  /** Answers in its place; undefined: it answers itself. */
  instead: ((path: string, res: ServerResponse) => void) | undefined;
  readonly #pair: KeyPair;
  #server: Server;

  private constructor(pair: KeyPair, server: Server) {
    this.#pair = pair;
    this.#server = server;
    this.issuer = `https://localhost:${(server.address() as AddressInfo).port}`;
    this.configuration = { issuer: this.issuer, jwks_uri: `${this.issuer}/keys` };
    this.#serve();
  }

  static async start(pair: KeyPair): Promise<TestProvider> {
    const [port = 0] = await freePorts(1); // it is needed again when it comes back
    return new TestProvider(pair, await listening(pair, port));
  }

  /** It is gone, and with it the connections. */
  async leave(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async comeBack(): Promise<void> {
    this.#server = await listening(this.#pair, Number(new URL(this.issuer).port));
    this.#serve();
  }

  #serve(): void {
    this.#server.on('request', (req, res) => {
      const path = req.url ?? '';
      this.asked.push(path);
      if (this.instead !== undefined) this.instead(path, res);
      else this.#answer(path, res);
    });
  }

  #answer(path: string, res: ServerResponse): void {
    const bodies: Readonly<Record<string, unknown>> = {
      '/.well-known/openid-configuration': this.configuration,
      '/keys': { keys: this.keys },
    };
    const body = bodies[path];
    res.writeHead(body === undefined ? 404 : 200, this.headers).end(JSON.stringify(body ?? {}));
  }
}

async function listening(pair: KeyPair, port: number): Promise<Server> {
  const server = createServer(pair).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
