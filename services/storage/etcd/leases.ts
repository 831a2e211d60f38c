import type { Etcd3 } from 'etcd3';

import { StoreError, type LeaseId } from '../store.js';
import { readTls, type Endpoint, type TlsFiles } from './endpoints.js';
import { GRPC, closedError, errorOf, messageOf, unavailable } from './errors.js';
import { leaseNumber } from './messages.js';

export interface LeasesOptions {
  readonly endpoints: readonly Endpoint[];
  readonly tls: TlsFiles;
  readonly timeoutMs: number;
}

/** Leases, which are made about once a minute: etcd3 does them well and is loaded when the first is asked for. */
export class Leases {
  readonly #o: LeasesOptions;
  readonly #closing = new AbortController();
  #client: Promise<Etcd3> | undefined;

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
    this.#client?.then(
      (client) => client.close(),
      () => undefined, // it never came to be
    );
  }

  /** Bounds what etcd3 does: it has waits of its own in which it sees neither deadlines nor signals. */
  async #call<T>(name: string, signal: AbortSignal, work: (client: Etcd3, deadline: number) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    const { timeoutMs } = this.#o;
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(unavailable(`${name} was not answered within ${timeoutMs} ms`)),
      timeoutMs,
    );
    try {
      const client = this.#connect();
      const done = client.then((it) => work(it, Date.now() + timeoutMs));
      return await firstOf(done, AbortSignal.any([signal, this.#closing.signal, late.signal]));
    } catch (err) {
      throw signal.aborted ? signal.reason : storeError(name, err);
    } finally {
      clearTimeout(timer);
    }
  }

  #connect(): Promise<Etcd3> {
    if (this.#client === undefined) {
      this.#client = connect(this.#o);
      // A certificate that cannot be read today may be there tomorrow.
      this.#client.catch(() => (this.#client = undefined));
    }
    return this.#client;
  }
}

async function connect(o: LeasesOptions): Promise<Etcd3> {
  const [{ Etcd3 }, { ca, cert, key }] = await Promise.all([import('etcd3'), readTls(o.tls)]);
  const hosts = o.endpoints.map((it) => it.url);
  if (ca === undefined) return new Etcd3({ hosts });
  const pair = cert === undefined || key === undefined ? {} : { certChain: cert, privateKey: key };
  return new Etcd3({ hosts, credentials: { rootCertificate: ca, ...pair } });
}

/** Sends one renewal and resolves with the seconds the lease has from now; 0 when it is gone. */
async function keepAliveOnce(client: Etcd3, id: string, deadline: number): Promise<number> {
  const stream = await client.leaseClient.leaseKeepAlive({ deadline });
  try {
    return await new Promise<number>((resolve, reject) => {
      stream.on('data', (answer) => resolve(Number(answer.TTL)));
      stream.on('error', reject);
      stream.on('end', () => reject(unavailable('LeaseKeepAlive got no answer')));
      stream.write({ ID: id });
    });
  } finally {
    stream.on('error', () => undefined); // the cancellation below is told as one
    stream.cancel();
  }
}

function firstOf<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason as Error); // all three reasons are errors, or the caller's own
    signal.addEventListener('abort', aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

/** An error of gRPC has "5 NOT_FOUND: etcdserver: ..." in it; others come from etcd3 itself or from the network. */
function storeError(name: string, err: unknown): unknown {
  if (err instanceof StoreError) return err;
  const found = /(\d+) [A-Z_]+: (.*)$/s.exec(messageOf(err));
  if (found === null) return unavailable(`${name} failed: ${messageOf(err)}`, err);
  return errorOf(name, { code: Number(found[1] ?? GRPC.unavailable), message: found[2] ?? '' });
}
