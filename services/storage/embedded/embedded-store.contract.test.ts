import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { keyValueStoreContract, type StoreUnderTest } from '../contract/contract.js';
import type { KeyValueStore, StoreError } from '../store.js';
import { openEmbeddedStore } from './embedded-store.js';

const log = { info: () => undefined, error: () => undefined };

function open(directory: string): Promise<KeyValueStore> {
  const onFatal = (err: StoreError): void => {
    throw err;
  };
  return openEmbeddedStore({ directory, log, onFatal });
}

async function embedded(): Promise<StoreUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), 'embedded-store-'));
  const first = await open(directory);
  let current = first;
  return {
    store: first,
    reopen: async () => {
      await current.close();
      current = await open(directory);
      return current;
    },
    dispose: async () => {
      await current.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

keyValueStoreContract('embedded', embedded);
