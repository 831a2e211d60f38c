import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Recorder } from '../contract/recorder.js';
import { isStoreError, type KeyValueStore, type Revision } from '../store.js';
import { WiredEtcd, following, put } from '../testing/wired-etcd.js';

/** An etcd whose data are copied, and put back later. */
describe('EtcdStore when its store is replaced', function () {
  this.timeout(30_000);
  let directory: string;
  let wired: WiredEtcd;
  let store: KeyValueStore;
  let signal: AbortSignal;
  const dataDir = (): string => join(directory, 'data');
  const copy = (): string => join(directory, 'copy');

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'replaced-'));
    wired = await WiredEtcd.start({ dataDir: dataDir() });
    signal = AbortSignal.timeout(25_000);
    store = await wired.open();
    await put(store, '/a', 'kept', signal);
    await wired.etcd.kill();
    cpSync(dataDir(), copy(), { recursive: true });
    await wired.etcd.restart();
    await eventually(() => put(store, '/a', 'lost', signal));
  });
  afterEach(async () => {
    await wired.close();
    rmSync(directory, { recursive: true, force: true });
  });

  /** A write that goes nowhere while etcd is on its way is tried again. */
  async function eventually<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (err) {
        if (!isStoreError(err, 'unavailable')) throw err;
        await new Promise((resolve) => setTimeout(resolve, 10));
        signal.throwIfAborted();
      }
    }
  }

  /** Nothing of it reaches the store until the wire admits it again. */
  async function replaceBy(what: string | undefined): Promise<void> {
    await wired.wire.refuse();
    await wired.etcd.kill();
    rmSync(dataDir(), { recursive: true });
    if (what !== undefined) cpSync(what, dataDir(), { recursive: true });
    await wired.etcd.restart();
  }

  async function grow(past: Revision): Promise<void> {
    while ((await eventually(() => put(wired.witness, '/other', 'v', signal))) <= past);
  }

  async function watching(): Promise<{ seen: Recorder; last: Revision }> {
    const seen = new Recorder();
    store.watch({ prefix: '/a', from: following(await store.head(signal)) }, seen);
    let last = await put(store, '/a', 'lost 1', signal);
    last = await put(store, '/a', 'lost 2', signal);
    await seen.reached(last);
    return { seen, last };
  }

  it('ends its watches when an older copy was put back, and goes on with what is there', async () => {
    const { seen, last } = await watching();
    await replaceBy(copy());
    await wired.wire.admit();
    await seen.endedWith('replaced');
    assert.ok(wired.logged.includes('Store was replaced'));
    assert.ok((await store.head(signal)) < last);
    assert.equal((await store.get('/a', {}, signal)).kv?.value.toString(), 'kept');
    const at = await put(store, '/a', 'new', signal);
    assert.ok(at < last);
    const again = new Recorder();
    store.watch({ prefix: '/a', from: at }, again);
    await again.reached(at);
  });

  it('notices an older copy that has grown past it, by what was told of it', async () => {
    const { seen, last } = await watching();
    await replaceBy(copy());
    await grow(last);
    await wired.wire.admit();
    await seen.endedWith('replaced');
    assert.match(seen.endings[0]?.message ?? '', /what was told of revision/);
  });

  it('notices another cluster, though its watch has delivered nothing', async () => {
    const seen = new Recorder();
    const last = await store.head(signal);
    store.watch({ prefix: '/empty', from: following(last) }, seen);
    const other = mkdtempSync(join(tmpdir(), 'other-'));
    const another = await WiredEtcd.start({ dataDir: other });
    await another.close(); // its id is made of its ports, which are others
    await replaceBy(other);
    rmSync(other, { recursive: true, force: true });
    await grow(last);
    await wired.wire.admit();
    await seen.endedWith('replaced');
  });

  it('refuses the first answer that goes back, and finds out by it without any watch', async () => {
    await replaceBy(copy());
    await wired.wire.admit();
    let refused: unknown;
    await eventually(async () => {
      try {
        return await put(store, '/a', 'new', signal);
      } catch (err) {
        if (String(err).includes('has to be')) refused = err;
        throw err;
      }
    });
    assert.ok(isStoreError(refused, 'unavailable'), 'a write of the other history is not told as done');
    await wired.until('Store was replaced', signal);
    assert.equal((await store.get('/a', {}, signal)).kv?.value.toString(), 'new');
  });

  it('takes a restart for what it is', async () => {
    const { seen } = await watching();
    await wired.etcd.kill();
    await wired.etcd.restart();
    const last = await eventually(() => put(store, '/a', 'later', signal));
    await seen.reached(last);
    assert.deepEqual(seen.endings, []);
    assert.ok(!wired.logged.includes('Store was replaced'));
  });
});
