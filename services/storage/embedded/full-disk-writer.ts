/**
 * A process that writes to the embedded store while its files may not grow, for the test of a full disk. It does what it is
 * told, a line of JSON each, and answers with one: `{"ok": ...}` or `{"code": ...}`. Argument: directory.
 */
import { createInterface } from 'node:readline';

import { StoreError, revision, type KeyValueStore } from '../store.js';
import { openEmbeddedStore } from './embedded-store.js';

const { signal } = new AbortController();

interface Command {
  readonly do: 'put' | 'get' | 'full' | 'burst' | 'watched';
  readonly key: string;
  readonly bytes: number;
}

const log = { info: () => undefined, error: () => undefined };
const store = await openEmbeddedStore({ directory: process.argv[2] ?? '', log, onFatal: () => process.exit(3) });
const watched: string[] = [];
store.watch(
  { prefix: '/', from: revision(2) },
  {
    events: (batch) => void watched.push(...batch.map(({ key, modRevision }) => `${key}@${modRevision}`)),
    ended: () => process.exit(4),
  },
);

const put = (it: KeyValueStore, key: string, bytes: number): Promise<unknown> => {
  const operation = { type: 'put', key, value: Buffer.alloc(bytes, 'x') } as const;
  return it.transact({ conditions: [], operations: [operation] }, signal);
};

/** How each of several writes ended: they share batches. */
async function burst({ key, bytes }: Command): Promise<unknown> {
  const writes = Array.from({ length: 5 }, (_, i) => put(store, `${key}${i}`, bytes));
  return (await Promise.allSettled(writes)).map(({ status }) => status);
}

const COMMANDS: Readonly<Record<Command['do'], (c: Command) => unknown>> = {
  put: ({ key, bytes }) => put(store, key, bytes),
  get: async ({ key }) => (await store.get(key, {}, signal)).kv?.modRevision ?? null,
  full: async () => (await store.space(signal)).full,
  burst,
  watched: () => watched,
};

const tell = (answer: object): void => void process.stdout.write(`${JSON.stringify(answer)}\n`);
tell({ ok: 'open' });
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command;
  try {
    tell({ ok: await COMMANDS[command.do](command) });
  } catch (err) {
    tell({ code: err instanceof StoreError ? err.code : String(err) });
  }
}
await store.close();
