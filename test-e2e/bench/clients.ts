import { join } from 'node:path';
import { start } from './processes.js';
import { row, type Row, type SuiteOptions } from './rows.js';
import { startServer } from './server.js';

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
export async function informerRows({ store, etcdUrl }: SuiteOptions): Promise<Row[]> {
  const { objects, startMs, heldMb, objectsMb, eventsPerSecond } = await figures(store, etcdUrl);
  const count = objects.toLocaleString('en');
  return [
    row(store, `informer, start with ${count} objects`, 's', startMs / 1000),
    row(store, `informer, heap with ${count} objects`, 'MB', heldMb, { value: objectsMb, by: 'parsed objects' }),
    row(store, `informer, events to a handler`, '/s', eventsPerSecond),
  ];
}

async function figures(store: string, etcdUrl: string | undefined): Promise<InformerFigures> {
  const server = await startServer({ store, etcdUrl });
  try {
    const script = join(import.meta.dirname, 'informer-process.js');
    const client = await start(process.execPath, ['--expose-gc', script, join(server.directory, 'admin.kubeconfig')]);
    await client.stop();
    return JSON.parse(client.line) as InformerFigures;
  } finally {
    await server.stop();
  }
}
