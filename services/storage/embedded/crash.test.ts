import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { Recorder } from '../contract/recorder.js';
import { isStoreError, revision, type KeyValueStore, type LeaseId, type StoreError } from '../store.js';
import { openEmbeddedStore } from './embedded-store.js';

const WRITER = fileURLToPath(new URL('./crash-writer.js', import.meta.url));
const log = { info: () => undefined, error: () => undefined };

/** What children have been told, over all rounds. */
interface Acknowledged {
  readonly puts: Map<string, number>;
  readonly leases: { readonly id: LeaseId; readonly key: string }[];
  compacted: number;
  opened: number;
}

function take(line: string, a: Acknowledged): void {
  const [what, first = '', second = ''] = line.split(' ');
  if (what === 'put') a.puts.set(first, Number(second));
  if (what === 'lease') a.leases.push({ id: first as LeaseId, key: second });
  if (what === 'compact') a.compacted = Number(first);
  if (what === 'open') a.opened = Number(first);
}

describe('openEmbeddedStore() after a kill', function () {
  this.timeout(60_000);
  const signal = new AbortController().signal;
  let directory: string;
  let children: ChildProcess[];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'crash-'));
    children = [];
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  });

  const open = (onFatal: (err: StoreError) => void = (err) => assert.fail(err)): Promise<KeyValueStore> =>
    openEmbeddedStore({ directory, log, onFatal });

  /** Runs a writer until it has had `lines` acknowledgements, kills it, and takes all that it was able to say. */
  async function killedAfter(lines: number, round: number, a: Acknowledged): Promise<void> {
    const child = spawn(process.execPath, [WRITER, directory, String(round)], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    const closed = once(child, 'close');
    let told = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      take(line, a);
      if (++told === lines) child.kill('SIGKILL');
    }
    await closed;
    assert.equal(child.signalCode, 'SIGKILL', `the writer ended by itself after ${told} lines`);
  }

  async function assertWhole(store: KeyValueStore, a: Acknowledged): Promise<void> {
    const head = await store.head(signal);
    const { kvs } = await store.range('/keys/', {}, signal);
    const there = new Map(kvs.map((kv) => [kv.key, kv]));
    for (const [key, at] of a.puts) assert.equal(there.get(key)?.modRevision, at, key);
    for (const { key } of a.leases) assert.ok((await store.get(key, {}, signal)).kv, key);
    assert.ok(head >= Math.max(a.opened, ...a.puts.values()));
    await assertHistory(store, head, a.compacted);
  }

  /** Every revision since the compaction is there, and leads from the state that was to the state that is. */
  async function assertHistory(store: KeyValueStore, head: number, compacted: number): Promise<void> {
    const first = await firstReadable(store, head);
    assert.ok(first >= compacted, `compacted at ${compacted}, readable from ${first}`);
    const listed = await store.range('/', { revision: revision(first) }, signal);
    const state = new Map(listed.kvs.map((kv) => [kv.key, kv.modRevision as number]));
    const seen = new Recorder();
    const watch = store.watch({ prefix: '/', from: revision(first + 1) }, seen);
    await seen.reached(revision(head));
    watch.close();
    seen.assertOrdered();
    const revisions = [...new Set(seen.all.map((e) => e.modRevision as number))];
    assert.deepEqual(
      revisions,
      Array.from({ length: head - first }, (_, i) => first + 1 + i),
    );
    for (const e of seen.all) {
      if (e.type === 'put') state.set(e.key, e.modRevision);
      else assert.ok(state.delete(e.key), `${e.key} was deleted but not there`);
    }
    const now = (await store.range('/', {}, signal)).kvs.map((kv) => [kv.key, kv.modRevision]);
    assert.deepEqual(Object.fromEntries(state), Object.fromEntries(now));
  }

  async function firstReadable(store: KeyValueStore, head: number): Promise<number> {
    for (let at = head; at > 1; at--) {
      const gone = await store.get('/', { revision: revision(at - 1) }, signal).then(
        () => false,
        (err: unknown) => isStoreError(err, 'compacted'),
      );
      if (gone) return at;
    }
    return 1;
  }

  it('has every write that was acknowledged, round after round', async () => {
    const a: Acknowledged = { puts: new Map(), leases: [], compacted: 0, opened: 0 };
    for (const [round, lines] of [150, 30, 400, 3, 220].entries()) {
      await killedAfter(lines, round, a);
      const store = await open();
      try {
        await assertWhole(store, a);
      } finally {
        await store.close();
      }
    }
    assert.ok(a.compacted > 0, 'no compaction was under way');
  });

  it('has every write that was acknowledged before the disk refused one', async () => {
    const a: Acknowledged = { puts: new Map(), leases: [], compacted: 0, opened: 0 };
    // No file may grow beyond 2,000 blocks of 512 bytes (dash) or 1,024 (bash): lmdb then meets a failing write.
    const command = `ulimit -f 2000; exec "$0" "$1" "$2" 0`;
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    const child = spawn('sh', ['-c', command, process.execPath, WRITER, directory], { stdio: [...stdio] });
    children.push(child);
    const closed = once(child, 'close');
    for await (const line of createInterface({ input: child.stdout })) take(line, a);
    await closed;
    assert.equal(child.exitCode, 4, 'a writer was not told that the disk is full');
    assert.ok(a.puts.size > 0);
    const store = await open();
    try {
      await assertWhole(store, a);
    } finally {
      await store.close();
    }
  });

  it('still knows the leases and what they hold', async () => {
    const a: Acknowledged = { puts: new Map(), leases: [], compacted: 0, opened: 0 };
    await killedAfter(20, 0, a);
    const store = await open();
    try {
      const { id, key } = a.leases[0]!;
      await store.renewLease(id, signal);
      await store.revokeLease(id, signal);
      assert.equal((await store.get(key, {}, signal)).kv, undefined);
    } finally {
      await store.close();
    }
  });

  it('refuses to share the directory with a living process, and takes it over from a dead one', async () => {
    const child = spawn(process.execPath, [WRITER, directory, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    await once(child.stdout, 'data');
    await assert.rejects(open(), (err) => {
      assert.ok(isStoreError(err, 'unavailable'));
      assert.match(String(err), new RegExp(`process ${child.pid} has it open`));
      return true;
    });
    child.kill('SIGKILL');
    await once(child, 'exit');
    await (await open()).close();
    assert.deepEqual(
      (await readdir(directory)).filter((name) => name.startsWith('owner.')),
      [],
    );
  });

  it('cuts off a process whose lock was not seen, before it can mix in a write', async () => {
    let lost: (err: StoreError) => void = () => undefined;
    const fatal = new Promise<StoreError>((resolve) => (lost = resolve));
    const first = await open(lost);
    for (const name of await readdir(directory)) if (name.startsWith('owner.')) await rm(join(directory, name));
    const a: Acknowledged = { puts: new Map(), leases: [], compacted: 0, opened: 0 };
    await killedAfter(40, 0, a);

    const operations = [{ type: 'put', key: '/keys/stray', value: Buffer.from('v') }] as const;
    const unavailable = (err: unknown): boolean => isStoreError(err, 'unavailable');
    await assert.rejects(first.transact({ conditions: [], operations }, signal), unavailable);
    assert.match((await fatal).message, /another process has opened it/);
    await assert.rejects(first.head(signal), unavailable);
    await first.close();

    const store = await open();
    try {
      assert.equal((await store.get('/keys/stray', {}, signal)).kv, undefined);
      await assertWhole(store, a);
    } finally {
      await store.close();
    }
  });
});
