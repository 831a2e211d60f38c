import { Agent } from 'node:https';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Credential } from '../credentials/credential.js';
import type { ServerTrust } from '../kubeconfig/connection.js';
import { Http2Sessions, type Liveness } from './http2-sessions.js';

/** Connections at once to one service, and those that are kept when nothing is asked. */
const MAX_SOCKETS = 64;
const MAX_FREE_SOCKETS = 8;
/** A connection that nothing was asked on for so long is closed. */
const IDLE_MS = 90_000;

/** An agent whose connections are made with that certificate, and trust those authorities only. */
export function agentFor(trust: ServerTrust, credential: Pick<Credential, 'cert' | 'key'>): Agent {
  return agentWith(trust, contextFor(trust, credential));
}

/**
 * Made once: an agent would go through hundreds of certificates for each connection, and name them for each request. Each
 * certificate of a bundle is trusted, also that of an intermediate authority, or the server's own.
 */
const contextFor = ({ authorities }: ServerTrust, { cert, key }: Pick<Credential, 'cert' | 'key'>): SecureContext =>
  createSecureContext({ ca: authorities, allowPartialTrustChain: true, cert, key, minVersion: 'TLSv1.2' });

function agentWith(trust: ServerTrust, secureContext: SecureContext, maxSockets = MAX_SOCKETS): Agent {
  return new Agent({
    keepAlive: true,
    maxSockets,
    maxFreeSockets: MAX_FREE_SOCKETS,
    timeout: IDLE_MS,
    rejectUnauthorized: !trust.insecure,
    ...(trust.serverName === undefined ? {} : { servername: trust.serverName }),
    secureContext,
  });
}

/** Kept connections, of both protocols. */
export interface Connections {
  readonly agent: Agent;
  readonly http2: Http2Sessions;
}

export interface AgentsOptions {
  /** Connections of HTTP/1.1 at once. @default 64 */
  readonly maxSockets?: number;
  /** Sessions of HTTP/2 are used for long answers, many at once. @default For short ones. */
  readonly forStreams?: Liveness;
}

/**
 * The connections to one service. A changed certificate makes new ones; old ones end with what is under way on them.
 */
export class Agents {
  readonly #trust: ServerTrust;
  readonly #o: AgentsOptions;
  #current: (Connections & { readonly version: number }) | undefined;

  constructor(trust: ServerTrust, o: AgentsOptions = {}) {
    this.#trust = trust;
    this.#o = o;
  }

  for(credential: Credential): Connections {
    const { certificateVersion: version } = credential;
    // A lower number is an old credential that was taken before the change: the newer connections serve as well.
    if (this.#current !== undefined && version <= this.#current.version) return this.#current;
    this.retire();
    const secureContext = contextFor(this.#trust, credential);
    const { serverName, insecure } = this.#trust;
    const http2 = new Http2Sessions({ secureContext, serverName, rejectUnauthorized: !insecure, ...this.#o });
    this.#current = { version, agent: agentWith(this.#trust, secureContext, this.#o.maxSockets), http2 };
    return this.#current;
  }

  /** No more is asked here: connections end with what is under way on them. */
  retire(): void {
    if (this.#current === undefined) return;
    retire(this.#current.agent);
    this.#current.http2.retire();
  }

  /** Requests under way on older connections are ended by their callers. */
  close(): void {
    this.#current?.agent.destroy();
    this.#current?.http2.close();
  }
}

function retire(agent: Agent): void {
  (agent as Agent & { keepAlive: boolean }).keepAlive = false; // what an agent looks at when a request ends
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
