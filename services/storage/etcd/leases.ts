import type { Etcd3, IOptions } from 'etcd3';

import { StoreError, isStoreError, type LeaseId } from '../store.js';
import { readTls, type Endpoint, type TlsFiles } from './endpoints.js';
import { GRPC, closedError, errorOf, messageOf, unavailable } from './errors.js';
import { leaseNumber } from './messages.js';

export interface LeasesOptions {
  readonly endpoints: readonly Endpoint[];
  readonly tls: TlsFiles;
  /** For a call with all its attempts. */
  readonly timeoutMs: number;
}

type LeaseCall<T> = (client: Etcd3, deadline: number) => Promise<T>;

/**
 * Leases, which are made about once a minute: by etcd3, which is loaded when the first is asked for. It has one client
 * for each endpoint and this class chooses among them, for by itself etcd3 spends a whole deadline on a member that
 * takes connections and does not answer. A lease that was granted and not heard of ends by itself.
 */
export class Leases {
  readonly #o: LeasesOptions;
  readonly #closing = new AbortController();
  readonly #clients = new Map<Endpoint, Promise<Etcd3>>();
  /** Counts the endpoints that were left. */
  #left = 0;

  constructor(o: LeasesOptions) {
    this.#o = o;
  }

  async grant(ttlSeconds: number, signal: AbortSignal): Promise<LeaseId> {
    return this.#call('LeaseGrant', signal, async (client, deadline) => {
      const { ID } = await client.leaseClient.leaseGrant({ TTL: Math.ceil(ttlSeconds), ID: 0 }, { deadline });
      return ID as LeaseId;
    });
  }

  async renew(lease: LeaseId, signal: AbortSignal): Promise<void> {
    const id = leaseNumber(lease).toString();
    return this.#call('LeaseKeepAlive', signal, async (client, deadline) => {
      const ttl = await keepAliveOnce(client, id, deadline);
      if (ttl <= 0) throw new StoreError('leaseNotFound', `Lease ${lease} has ended`);
    });
  }

  async revoke(lease: LeaseId, signal: AbortSignal): Promise<void> {
    const id = leaseNumber(lease).toString();
    return this.#call('LeaseRevoke', signal, async (client, deadline) => {
      await client.leaseClient.leaseRevoke({ ID: id }, { deadline });
    });
  }

  close(): void {
    this.#closing.abort(closedError());
    for (const endpoint of [...this.#clients.keys()]) this.#drop(endpoint);
  }

  async #call<T>(name: string, signal: AbortSignal, call: LeaseCall<T>): Promise<T> {
    const { endpoints } = this.#o;
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      this.#closing.signal.throwIfAborted();
      const endpoint = endpoints[this.#left % endpoints.length] as Endpoint; // there is at least one
      try {
        return await this.#try(name, endpoint, signal, call);
      } catch (err) {
        if (signal.aborted) throw signal.reason;
        const error = storeError(name, err);
        if (!isStoreError(error, 'unavailable')) throw error;
        this.#left++;
        this.#drop(endpoint);
        if (attempt === endpoints.length) throw error;
      }
    }
  }

  /** Bounds what etcd3 does: it has waits of its own, in which it sees neither deadlines nor signals. */
  async #try<T>(name: string, endpoint: Endpoint, signal: AbortSignal, call: LeaseCall<T>): Promise<T> {
    const limitMs = this.#o.timeoutMs / this.#o.endpoints.length;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(unavailable(`${name} was not answered within ${limitMs} ms`)), limitMs);
    try {
      const done = this.#client(endpoint).then((it) => call(it, Date.now() + limitMs));
      return await firstOf(done, AbortSignal.any([signal, this.#closing.signal, late.signal]));
    } finally {
      clearTimeout(timer);
    }
  }

  #client(endpoint: Endpoint): Promise<Etcd3> {
    let client = this.#clients.get(endpoint);
    if (client === undefined) {
      client = connect(endpoint, this.#o.tls);
      this.#clients.set(endpoint, client);
    }
    return client;
  }

  #drop(endpoint: Endpoint): void {
    const client = this.#clients.get(endpoint);
    this.#clients.delete(endpoint);
    client?.then(
      (it) => it.close(),
      () => undefined, // it never came to be
    );
  }
}

async function connect(endpoint: Endpoint, files: TlsFiles): Promise<Etcd3> {
  const [{ Etcd3 }, { ca, cert, key }] = await Promise.all([import('etcd3'), readTls(files)]);
  const options = { hosts: endpoint.url, faultHandling: { host: () => ONCE, global: ONCE } };
  if (ca === undefined) return new Etcd3(options);
  const pair = cert === undefined || key === undefined ? {} : { certChain: cert, privateKey: key };
  return new Etcd3({ ...options, credentials: { rootCertificate: ca, ...pair } });
}

type FaultPolicy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>;

const unheard = () => ({ dispose: () => undefined });

/** Tries once: retries live in this class. */
const once: Omit<FaultPolicy, '_altReturn'> = {
  onSuccess: unheard,
  onFailure: unheard,
  execute: async (work, signal) => work({ signal: signal ?? new AbortController().signal }),
};
const ONCE = once as FaultPolicy; // what is left out exists for the compiler only

/**
 * Sends one renewal and resolves with the seconds the lease has from now; 0 when it is gone. The stream is ended and
 * never cancelled: etcd3 takes a cancellation for a failure of the member and ends every other call to it.
 */
async function keepAliveOnce(client: Etcd3, id: string, deadline: number): Promise<number> {
  const stream = await client.leaseClient.leaseKeepAlive({ deadline });
  return new Promise((resolve, reject) => {
    stream.on('data', (answer) => resolve(Number(answer.TTL)));
    stream.on('error', reject);
    stream.on('end', () => reject(unavailable('LeaseKeepAlive got no answer')));
    stream.write({ ID: id });
    stream.end();
  });
}

function firstOf<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason as Error); // ours, or what the caller has chosen
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

/** An error of gRPC has "5 NOT_FOUND: etcdserver: ..." in it; others come from etcd3 itself or from the network. */
function storeError(name: string, err: unknown): StoreError {
  if (err instanceof StoreError) return err;
  const found = /(\d+) [A-Z_]+: (.*)$/s.exec(messageOf(err));
  if (found === null) return unavailable(`${name} failed: ${messageOf(err)}`, err);
  return errorOf(name, { code: Number(found[1] ?? GRPC.unavailable), message: found[2] ?? '' });
}
