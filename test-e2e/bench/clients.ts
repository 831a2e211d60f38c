import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start } from './processes.js';

/** What `informer-process.ts` prints. */
export interface InformerFigures {
  readonly objects: number;
  /** Until the informer holds them all. */
  readonly startMs: number;
  /** Heap that it takes, and that of the parsed objects alone. */
  readonly heldMb: number;
  readonly objectsMb: number;
  /** Of changes that it missed. */
  readonly eventsPerSecond: number;
}

/** What an informer takes in a process of its own, of a server of its own. */
export async function informerFigures(store: string, etcdUrl: string | undefined): Promise<InformerFigures> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-'));
  const args = ['up', '--data-dir', dir, '--secure-port=0', '--log-level=error', `--store=${store}`];
  if (etcdUrl !== undefined) args.push(`--etcd-servers=${etcdUrl}`, `--etcd-prefix=/${dir.replaceAll('/', '-')}`);
  const server = await start(join(import.meta.dirname, '../../../bin/platform'), args);
  try {
    const script = join(import.meta.dirname, 'informer-process.js');
    const client = await start(process.execPath, ['--expose-gc', script, join(dir, 'admin.kubeconfig')]);
    await client.stop();
    return JSON.parse(client.line) as InformerFigures;
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
