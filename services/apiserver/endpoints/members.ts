import { parseJson } from '../../machinery/codec/json.js';
import { isJsonObject } from '../../machinery/meta/own.js';
import { isStoreError, type KeyValueStore, type LeaseId } from '../../storage/store.js';
import { parseIp } from '../registry/addresses/ip.js';

/** Where a living server is reached. */
export interface Member {
  readonly address: string;
  readonly port: number;
}

/** A server that says nothing for this long is taken for dead. */
const TTL_SECONDS = 15;
/** More are not looked at. */
const MAX_MEMBERS = 1_000;

/** The living servers: each has a key with a lease, which it renews for as long as it lives. */
export class Members {
  readonly #store: KeyValueStore;
  /** Prefix of all keys of members. */
  readonly #prefix: string;
  #lease: LeaseId | undefined;

  constructor(store: KeyValueStore, prefix: string) {
    this.#store = store;
    this.#prefix = prefix;
  }

  /** Says that this server lives. Has to be called again well within the time of the lease. @throws {StoreError} */
  async join(self: Member, signal: AbortSignal): Promise<void> {
    if (this.#lease !== undefined && (await this.#renewed(this.#lease, signal))) return;
    const lease = await this.#store.grantLease(TTL_SECONDS, signal);
    const key = this.#keyOf(self);
    const value = Buffer.from(JSON.stringify(self));
    await this.#store.transact({ conditions: [], operations: [{ type: 'put', key, value, lease }] }, signal);
    this.#lease = lease;
  }

  /** Says that it does not any more; the key is gone when this resolves. @throws {StoreError} */
  async leave(signal: AbortSignal): Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    if (lease === undefined) return;
    try {
      await this.#store.revokeLease(lease, signal);
    } catch (err) {
      if (!isStoreError(err, 'leaseNotFound')) throw err; // its time was over: the key is gone as well
    }
  }

  /** In the order of their keys. @throws {StoreError} */
  async list(signal: AbortSignal): Promise<Member[]> {
    const { kvs } = await this.#store.range(this.#prefix, { limit: MAX_MEMBERS }, signal);
    return kvs.flatMap(({ value }) => memberOf(value) ?? []);
  }

  /** Takes another lease the next time: the key of this one was removed. */
  forget(): void {
    this.#lease = undefined;
  }

  #keyOf({ address, port }: Member): string {
    return `${this.#prefix}${address.includes(':') ? `[${address}]` : address}:${port}`;
  }

  async #renewed(lease: LeaseId, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#store.renewLease(lease, signal);
      return true;
    } catch (err) {
      if (!isStoreError(err, 'leaseNotFound')) throw err;
      return false;
    }
  }
}

/** undefined for what no server wrote. */
function memberOf(value: Buffer): Member | undefined {
  let parsed: unknown;
  try {
    parsed = parseJson(value);
  } catch {
    return undefined;
  }
  if (!isJsonObject(parsed)) return undefined;
  const { address, port } = parsed;
  if (typeof address !== 'string' || parseIp(address) === undefined || !Number.isInteger(port)) return undefined;
  return { address, port: port as number };
}
