import { join } from 'node:path';
import { createLog } from '../../machinery/log/log.js';
import { STORE_FLAGS, etcdAddress, storeKind, type StoreKind, type StoreOptions } from '../../storage/options.js';
import { fileSource } from '../backup/backup-file.js';
import { command } from '../command.js';
import { DEFAULT_BUMP, restore, type RestoreOptions } from './restore.js';

const STORES: Readonly<Record<StoreKind, (o: StoreOptions, fatal: () => void) => Promise<RestoreOptions['store']>>> = {
  embedded: async ({ dataDir }, onFatal) => {
    const { openEmbeddedStore } = await import('../../storage/embedded/embedded-store.js');
    return openEmbeddedStore({ directory: join(dataDir, 'store'), log: createLog({ logLevel: 'warn' }), onFatal });
  },
  etcd: async (o) => {
    const { openEtcdStore } = await import('../../storage/etcd/store.js');
    return openEtcdStore({ ...etcdAddress(o), log: createLog({ logLevel: 'warn' }) });
  },
};

const FLAGS = {
  ...STORE_FLAGS,
  force: { flag: 'force', type: 'bool', help: 'take away what is under the prefix before' },
  bumpRevisions: {
    flag: 'bump-revisions',
    type: 'int',
    default: String(DEFAULT_BUMP),
    min: '0',
    help:
      'how far above the revision of the backup the store goes on, so that none is told to clients twice; ' +
      'unless given, only when the store is not ahead of the backup',
  },
} as const;

export const RESTORE = command({
  name: 'restore',
  operands: ['FILE'],
  help: 'a backup into an empty prefix of a store, which no server uses; goes on where it was ended',
  flags: FLAGS,
  run: async ({ options, given, operands: [path = ''], print, report }, signal) => {
    const store = await STORES[storeKind(options)](options, () => undefined); // a store that failed refuses what comes next
    try {
      const done = await restore(
        {
          store,
          etcdPrefix: options.etcdPrefix,
          source: fileSource(path),
          force: options.force,
          bumpRevisions: given.has('bumpRevisions') ? options.bumpRevisions : undefined,
          report,
        },
        signal,
      );
      print(
        `${done.entries} entries restored from revision ${done.revision} of ${done.time}; ` +
          `the store is past revision ${done.compacted}, and watches from before begin anew`,
      );
    } finally {
      await store.close();
    }
  },
});
