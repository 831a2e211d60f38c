import { Agent } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Credential } from '../credentials/credential.js';
import type { ServerTrust } from '../kubeconfig/connection.js';

/** Connections at once to one service, and those that are kept when nothing is asked. */
const MAX_SOCKETS = 64;
const MAX_FREE_SOCKETS = 8;
/** A connection that nothing was asked on for so long is closed. */
const IDLE_MS = 90_000;

/** An agent whose connections are made with that certificate, and trust those authorities only. */
export function agentFor(trust: ServerTrust, { cert, key }: Pick<Credential, 'cert' | 'key'>): Agent {
  return new Agent({
    keepAlive: true,
    maxSockets: MAX_SOCKETS,
    maxFreeSockets: MAX_FREE_SOCKETS,
    timeout: IDLE_MS,
    rejectUnauthorized: !trust.insecure,
    ...(trust.serverName === undefined ? {} : { servername: trust.serverName }),
    // Made once: an agent would go through hundreds of certificates for each connection, and name them for each request.
    secureContext: createSecureContext({ ca: trust.authorities, cert, key, minVersion: 'TLSv1.2' }),
  });
}

/**
 * The connections to one service. A changed certificate makes new ones; old ones end with what is under way on them.
 */
export class Agents {
  readonly #trust: ServerTrust;
  #current: { readonly version: number; readonly agent: Agent } | undefined;

  constructor(trust: ServerTrust) {
    this.#trust = trust;
  }

  for(credential: Credential): Agent {
    const { certificateVersion: version } = credential;
    // A lower number is an old credential that was taken before the change: the newer connections serve as well.
    if (this.#current !== undefined && version <= this.#current.version) return this.#current.agent;
    if (this.#current !== undefined) retire(this.#current.agent);
    this.#current = { version, agent: agentFor(this.#trust, credential) };
    return this.#current.agent;
  }

  /** No more is asked here: connections end with what is under way on them. */
  retire(): void {
    if (this.#current !== undefined) retire(this.#current.agent);
  }

  /** Requests under way on older connections are ended by their callers. */
  close(): void {
    this.#current?.agent.destroy();
  }
}

function retire(agent: Agent): void {
  (agent as Agent & { keepAlive: boolean }).keepAlive = false; // what an agent looks at when a request ends
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
