import { join } from 'node:path';
import { createLog } from '../../machinery/log/log.js';
import { STORE_FLAGS, etcdAddress, storeKind, type StoreKind, type StoreOptions } from '../../storage/options.js';
import type { SnapshotSource } from '../../storage/snapshot.js';
import { command } from '../command.js';
import { backUp } from './backup.js';
import { checkBackup, fileSource, type BackupSummary, type Source } from './backup-file.js';
import { openOutput } from './output.js';

const SOURCES: Readonly<Record<StoreKind, (o: StoreOptions) => Promise<SnapshotSource>>> = {
  embedded: async ({ dataDir }) => {
    const { embeddedSnapshots } = await import('../../storage/embedded/snapshots.js');
    return embeddedSnapshots({ directory: join(dataDir, 'store') });
  },
  etcd: async (o) => {
    const { etcdSnapshots } = await import('../../storage/etcd/snapshots.js');
    return etcdSnapshots({ ...etcdAddress(o), log: createLog({ logLevel: 'warn' }) });
  },
};

const BACKUP = command({
  name: 'backup',
  operands: ['FILE'],
  help: 'everything in the store, as it is at one moment, into a file; - is stdout. The servers go on meanwhile',
  flags: STORE_FLAGS,
  run: async ({ options, operands: [path = '-'], version, print, report }, signal) => {
    const source = await SOURCES[storeKind(options)](options);
    const output = await openOutput(path);
    try {
      const now = new Date();
      const summary = await backUp(
        { source, output, etcdPrefix: options.etcdPrefix, productVersion: version, now },
        signal,
      );
      (path === '-' ? report : print)(describe(summary));
    } finally {
      await output.close();
      await source.close();
    }
  },
});

const VERIFY = command({
  name: 'backup verify',
  operands: ['FILE'],
  help: 'reads a backup from its beginning to its end and checks it; - is stdin',
  flags: {},
  run: async ({ operands: [path = '-'], print }) => print(describe(await checkBackup(sourceOf(path)))),
});

export const BACKUP_COMMANDS = [BACKUP, VERIFY];

const sourceOf = (path: string): Source => (path === '-' ? () => process.stdin : fileSource(path));

const describe = (b: BackupSummary): string =>
  `${b.entries} entries (${b.leased} of leases, ${b.encrypted} encrypted) under ${b.prefix} at revision ${b.revision}, ` +
  `${b.time}, vocabulary ${b.vocabulary}, made by ${b.productVersion}, SHA-256 ${b.digest}`;
