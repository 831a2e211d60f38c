/**
 * A process that writes to the embedded store until it is killed, for the tests of crashes. It prints what was
 * acknowledged, one line each, after the acknowledgement: `put <key> <revision>`, `compact <revision>`, `lease <id>
 * <key>`, and `open <revision>` first. Arguments: directory, the number of this round.
 */
import { isStoreError, revision, type KeyValueStore, type Revision } from '../store.js';
import { openEmbeddedStore } from './embedded-store.js';

const signal = new AbortController().signal;
/** To a pipe this writes before it returns, so a line is out before the next write is asked for. */
const tell = (line: string): void => void process.stdout.write(`${line}\n`);

async function put(store: KeyValueStore, key: string, value: Buffer, more: object = {}): Promise<Revision> {
  const operations = [{ type: 'put', key, value, ...more } as const];
  return (await store.transact({ conditions: [], operations }, signal)).revision;
}

/** New keys, and one that is overwritten and one that is deleted now and then, so that there is history to sweep. */
async function write(store: KeyValueStore, name: string): Promise<never> {
  for (let i = 0; ; i++) {
    const key = `/keys/${name}/${i}`;
    tell(`put ${key} ${await put(store, key, Buffer.alloc(200 + ((i * 37) % 3000), i))}`);
    await put(store, `/changing/${name}`, Buffer.from(String(i)));
    const passing = { type: i % 2 === 0 ? 'put' : 'delete', key: `/passing/${name}`, value: Buffer.from('v') } as const;
    await store.transact({ conditions: [], operations: [passing] }, signal);
  }
}

async function compact(store: KeyValueStore): Promise<never> {
  for (;;) {
    const at = revision((await store.head(signal)) - 20);
    if (at > 1) {
      await store.compact(at, signal).then(
        () => {
          tell(`compact ${at}`);
        },
        () => undefined, // compacted already: nothing was written since
      );
    }
    await put(store, '/changing/compactor', Buffer.from(String(at)));
  }
}

/** The exit code of a process whose disk has refused a write. */
const REFUSED = 4;

const [directory = '', round = ''] = process.argv.slice(2);
const log = { info: () => undefined, error: () => undefined };
const store = await openEmbeddedStore({ directory, log, onFatal: () => process.exit(3) });
tell(`open ${await store.head(signal)}`);
const lease = await store.grantLease(3600, signal);
await put(store, `/leased/${round}`, Buffer.from('v'), { lease });
tell(`lease ${lease} /leased/${round}`);
const writers = Array.from({ length: 6 }, (_, writer) => write(store, `${round}.${writer}`));
await Promise.all([compact(store), ...writers]).catch((err: unknown) => {
  if (!isStoreError(err, 'noSpace')) throw err;
  process.exit(REFUSED);
});
