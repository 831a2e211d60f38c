import assert from 'node:assert/strict';

import { Recorder } from '../contract/recorder.js';
import { isStoreError, revision, type StoreEvent, type StoreWatch } from '../store.js';
import { WiredEtcd, following, put } from '../testing/wired-etcd.js';

/** Cuts the wire when the first events of a catch-up have come. */
class Cutting extends Recorder {
  cut: (() => void) | undefined;

  override events(batch: readonly StoreEvent[]): void {
    super.events(batch);
    const cut = this.cut;
    this.cut = undefined;
    cut?.();
  }
}

describe('EtcdWatch when its connection fails', function () {
  this.timeout(30_000);
  let wired: WiredEtcd;
  let signal: AbortSignal;
  let watches: StoreWatch[];
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): number => unhandled.push(reason);

  before(() => process.on('unhandledRejection', onUnhandled));
  beforeEach(async () => {
    wired = await WiredEtcd.start({ args: ['--grpc-keepalive-min-time=10ms'] });
    signal = AbortSignal.timeout(25_000);
    watches = [];
  });
  afterEach(async () => {
    for (const it of watches) it.close();
    await wired.close();
    assert.deepEqual(unhandled.splice(0), []);
  });
  after(() => process.off('unhandledRejection', onUnhandled));

  /** Writes `count` keys, 100 in a transaction; returns the last revision. */
  async function fill(count: number, value: Buffer): Promise<number> {
    let last = 0;
    for (let i = 0; i < count; i += 100) {
      const operations = Array.from(
        { length: 100 },
        (_, j) => ({ type: 'put', key: `/k/${String(i + j).padStart(5, '0')}`, value }) as const,
      );
      last = (await wired.witness.transact({ conditions: [], operations }, signal)).revision;
    }
    return last;
  }

  it('delivers each of 3,000 events once and in order when it is cut in the middle of catching up', async () => {
    const from = following(await wired.witness.head(signal));
    for (let i = 0; i < 3000; i += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, j) => put(wired.witness, `/k/${i + j}`, 'x'.repeat(500), signal)),
      );
    }
    const store = await wired.open();
    const seen = new Cutting();
    seen.cut = () => wired.wire.cut();
    watches.push(store.watch({ prefix: '/k/', from }, seen));
    await seen.count(3000);
    assert.deepEqual(
      seen.all.map((it) => it.modRevision),
      Array.from({ length: 3000 }, (_, i) => from + i),
    );
    seen.assertOrdered();
    assert.deepEqual(seen.connections, [false, true]);
  });

  it('puts fragments together and begins a revision anew that was cut in the middle', async () => {
    const from = following(await wired.witness.head(signal));
    const last = await fill(2000, Buffer.alloc(14_000, 'x'));
    const store = await wired.open();
    const seen = new Cutting();
    seen.cut = () => wired.wire.cut();
    watches.push(store.watch({ prefix: '/k/', from }, seen));
    await seen.reached(revision(last));
    await seen.count(2000);
    seen.assertOrdered();
    assert.equal(seen.all.length, 2000);
    assert.ok(seen.batches.length > 2, 'the answer came in parts');
  });

  it('ends with compacted when what it missed was compacted away meanwhile', async () => {
    const store = await wired.open();
    const seen = new Recorder();
    watches.push(store.watch({ prefix: '/', from: following(await wired.witness.head(signal)) }, seen));
    await put(wired.witness, '/a', '1', signal);
    await seen.count(1);
    await wired.wire.refuse();
    await seen.until('the loss', () => seen.connections.at(-1) === false);
    await put(wired.witness, '/a', '2', signal);
    const third = await put(wired.witness, '/a', '3', signal);
    await wired.witness.compact(third, signal);
    await wired.wire.admit();
    const error = await seen.endedWith('compacted');
    assert.equal(error.compactRevision, third);
    assert.deepEqual([seen.all.length, seen.endings.length], [1, 1]);
  });

  it('goes on where it was told that nothing had happened, though that was compacted away', async () => {
    const store = await wired.open();
    const seen = new Recorder();
    const watch = store.watch({ prefix: '/in/', from: following(await wired.witness.head(signal)) }, seen);
    watches.push(watch);
    await put(wired.witness, '/out', '1', signal);
    const told = await put(wired.witness, '/out', '2', signal);
    while ((seen.progressed.at(-1)?.revision ?? 0) < told) {
      watch.requestProgress();
      const had = seen.progressed.length;
      await seen.until('progress', () => seen.progressed.length > had);
    }
    await wired.wire.refuse();
    await wired.witness.compact(told, signal);
    await wired.wire.admit();
    await seen.reached(await put(wired.witness, '/in/a', 'v', signal));
    assert.deepEqual([seen.all.length, seen.endings.length], [1, 0]);
  });

  it('notices a wire that has silently died, and resumes when it is back', async () => {
    const store = await wired.open({ times: { keepAliveMs: 100, keepAliveTimeoutMs: 200, connectTimeoutMs: 300 } });
    const seen = new Recorder();
    watches.push(store.watch({ prefix: '/', from: following(await wired.witness.head(signal)) }, seen));
    await put(wired.witness, '/a', '1', signal);
    await seen.count(1);
    wired.wire.pause();
    await put(wired.witness, '/a', '2', signal);
    await seen.until('the loss', () => seen.connections.at(-1) === false);
    wired.wire.resume();
    await put(wired.witness, '/a', '3', signal);
    await seen.count(3);
    assert.deepEqual(
      seen.all.map((it) => it.value.toString()),
      ['1', '2', '3'],
    );
    assert.equal(seen.connections.at(-1), true);
  });

  it('keeps a quiet watch on a quiet wire: pings are answered', async () => {
    const store = await wired.open({ times: { keepAliveMs: 20, keepAliveTimeoutMs: 1000 } });
    const seen = new Recorder();
    watches.push(store.watch({ prefix: '/quiet/', from: following(await wired.witness.head(signal)) }, seen));
    const lease = await wired.witness.grantLease(1, signal);
    const operations = [{ type: 'put', key: '/elsewhere', value: Buffer.from('v'), lease }] as const;
    const { revision: at } = await wired.witness.transact({ conditions: [], operations }, signal);
    const ended = new Recorder();
    watches.push(wired.witness.watch({ prefix: '/elsewhere', from: following(at) }, ended));
    await ended.count(1); // a second and more, in which nothing was said
    assert.deepEqual([seen.connections, wired.logged.filter((it) => it.includes('lost'))], [[], []]);
  });

  it('holds back what comes while it is paused, over a cut, without taking it into memory', async () => {
    const store = await wired.open();
    const seen = new Recorder();
    const from = following(await wired.witness.head(signal));
    const watch = store.watch({ prefix: '/k/', from }, seen);
    watches.push(watch);
    watch.pause();
    const last = await fill(5000, Buffer.alloc(10_000, 'x'));
    wired.wire.cut();
    await seen.until('the loss', () => seen.connections.includes(false));
    await seen.until('the return', () => seen.connections.at(-1) === true);
    for (let i = 0; i < 100; i++) await store.head(signal); // time enough for all that can flow
    assert.equal(seen.all.length, 0);
    assert.ok(wired.wire.answeredBytes < 20_000_000, `${wired.wire.answeredBytes} of 50,000,000 bytes came`);
    watch.resume();
    await seen.reached(revision(last));
    seen.assertOrdered();
    assert.equal(seen.all.length, 5000);
  });

  it('leaves a member that does not confirm it', async () => {
    const store = await wired.open({ endpoints: [wired.wireUrl, wired.etcd.url], requestTimeoutMs: 300 });
    const first = new Recorder();
    const from = following(await wired.witness.head(signal));
    watches.push(store.watch({ prefix: '/', from }, first));
    await put(wired.witness, '/a', '1', signal);
    await first.count(1);
    wired.wire.holdAnswers();
    const second = new Recorder();
    watches.push(store.watch({ prefix: '/', from }, second));
    await second.count(1);
    assert.ok(wired.logged.includes('Store connection left'));
  });

  it('fails with nothing but its end when the store is closed while it reconnects', async () => {
    const store = await wired.open();
    const seen = new Recorder();
    store.watch({ prefix: '/', from: following(await wired.witness.head(signal)) }, seen);
    await seen.reached(await put(wired.witness, '/a', '1', signal));
    await wired.wire.refuse();
    await seen.until('the loss', () => seen.connections.includes(false));
    await store.close();
    assert.deepEqual(seen.endings, []);
    assert.throws(
      () => store.watch({ prefix: '/', from: revision(1) }, seen),
      (err) => isStoreError(err, 'closed'),
    );
  });
});
