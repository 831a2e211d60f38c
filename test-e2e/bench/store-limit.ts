import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '../../services/storage/embedded/embedded-store.js';
import { openEtcdStore } from '../../services/storage/etcd/store.js';
import { NO_REVISION, type KeyValueStore } from '../../services/storage/store.js';

const WRITERS = 32;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Creations per second of a store with nothing in front of it, 32 at a time. */
export async function bareTransactions(store: KeyValueStore, seconds: number, value: Buffer): Promise<number> {
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const from = performance.now();
  const until = from + seconds * 1000;
  let n = 0;
  const writer = async (): Promise<void> => {
    while (performance.now() < until) {
      const key = `/bare/${process.pid}/${++n}`;
      await store.transact(
        { conditions: [{ key, modRevision: NO_REVISION }], operations: [{ type: 'put', key, value }] },
        signal,
      );
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return n / ((performance.now() - from) / 1000);
}

export async function storeLimit(endpoint: string | undefined, seconds: number, value: Buffer): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-store-'));
  const store =
    endpoint === undefined
      ? await openEmbeddedStore({ directory, log: quiet, onFatal: () => process.exit(1) })
      : await openEtcdStore({ endpoints: [endpoint], log: quiet });
  try {
    return await bareTransactions(store, seconds, value);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
