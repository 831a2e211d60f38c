import type { Credential } from '../../../client/credentials/credential.js';
import type { ServerTrust } from '../../../client/kubeconfig/connection.js';
import { Agents, type Connections } from '../../../client/remote/agents.js';
import { digestOf } from '../../webhook-reviews/digest.js';

/** Pools of one server; each keeps some connections for some time. */
const MAX_POOLS = 512;

/** Kept connections to webhooks: those who are trusted alike, and asked as the same user, share them by host and port. */
export class Pools {
  readonly #pools = new Map<string, Agents>();
  readonly #keys = new WeakMap<ServerTrust, string>();

  /** @param identity As whom is asked. */
  connections(trust: ServerTrust, identity: string, credential: Credential): Connections {
    const key = `${this.#keyOf(trust)} ${identity}`;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      pool = new Agents(trust);
      this.#makeRoom();
    } else {
      this.#pools.delete(key);
    }
    this.#pools.set(key, pool); // the last one in the order is the one that was used last
    return pool.for(credential);
  }

  get size(): number {
    return this.#pools.size;
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close();
    this.#pools.clear();
  }

  #makeRoom(): void {
    const [oldest] = this.#pools;
    if (this.#pools.size < MAX_POOLS || oldest === undefined) return;
    this.#pools.delete(oldest[0]);
    oldest[1].retire();
  }

  #keyOf(trust: ServerTrust): string {
    let key = this.#keys.get(trust);
    if (key === undefined) this.#keys.set(trust, (key = digestOf([trust.serverName ?? '', trust.authorities ?? ''])));
    return key;
  }
}
