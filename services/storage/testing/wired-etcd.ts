import { openEtcdStore, type EtcdStoreOptions } from '../etcd/store.js';
import { revision, type KeyValueStore, type Revision } from '../store.js';
import { startEtcd, type EtcdServer, type StartEtcd } from './start-etcd.js';
import { tcpProxy, type TcpProxy } from '../../machinery/testing/tcp-proxy.js';

/** An etcd, a wire to it that can be cut, a store at the far end of the wire, and one beside it. */
export class WiredEtcd {
  readonly etcd: EtcdServer;
  readonly wire: TcpProxy;
  /** Not over the wire: sees what really happened. */
  readonly witness: KeyValueStore;
  /** The log entries of the stores, by message. */
  readonly logged: string[] = [];
  readonly #opened: KeyValueStore[] = [];
  #waiting: (() => void)[] = [];

  private constructor(etcd: EtcdServer, wire: TcpProxy, witness: KeyValueStore) {
    this.etcd = etcd;
    this.wire = wire;
    this.witness = witness;
  }

  static async start(o: StartEtcd = {}): Promise<WiredEtcd> {
    const etcd = await startEtcd(o);
    const wire = await tcpProxy(etcd.port);
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    return new WiredEtcd(etcd, wire, await openEtcdStore({ endpoints: [etcd.url], log }));
  }

  get wireUrl(): string {
    return `http://127.0.0.1:${this.wire.port}`;
  }

  /** Over the wire, unless `endpoints` says otherwise. Closed with all else. */
  async open(o: Partial<EtcdStoreOptions> = {}): Promise<KeyValueStore> {
    const note = (message: string): void => {
      this.logged.push(message);
      for (const it of this.#waiting.splice(0)) it();
    };
    const log = { info: note, warn: note, error: note };
    const store = await openEtcdStore({ endpoints: [this.wireUrl], log, ...o });
    this.#opened.push(store);
    return store;
  }

  /** Waits until a store has logged `message`. */
  async until(message: string, signal: AbortSignal): Promise<void> {
    while (!this.logged.includes(message)) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  async close(): Promise<void> {
    for (const store of [this.witness, ...this.#opened]) await store.close();
    await this.wire.close();
    await this.etcd.stop();
  }
}

export async function put(
  store: KeyValueStore,
  key: string,
  value: string | Buffer,
  signal: AbortSignal,
): Promise<Revision> {
  const operation = { type: 'put', key, value: Buffer.from(value) } as const;
  const result = await store.transact({ conditions: [], operations: [operation] }, signal);
  return result.revision;
}

export const following = (at: Revision): Revision => revision(at + 1);
