import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

import { Recorder } from '../contract/recorder.js';
import { isStoreError, revision, storeErrorOf, type KeyValueStore } from '../store.js';
import { freePorts } from '../../machinery/testing/free-port.js';
import { startEtcd } from '../testing/start-etcd.js';
import { tcpProxy } from '../../machinery/testing/tcp-proxy.js';
import { WiredEtcd, following, put } from '../testing/wired-etcd.js';
import { openEtcdStore, type StoreOperation } from './store.js';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const unavailable = (err: unknown): boolean => isStoreError(err, 'unavailable');
const QUICK = { connectTimeoutMs: 300 };

/** A store that was away may say so a little longer. */
async function untilServed<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (err) {
      if (!unavailable(err)) throw err;
      await delay(10, undefined, { signal });
    }
  }
}

describe('openEtcdStore()', function () {
  this.timeout(20_000);
  let wired: WiredEtcd;
  let signal: AbortSignal;

  before(async () => (wired = await WiredEtcd.start()));
  beforeEach(() => {
    signal = AbortSignal.timeout(15_000);
    wired.wire.resume();
  });
  after(() => wired.close());

  it('fails in bounded time where nobody listens', async () => {
    const [port = 0] = await freePorts(1);
    const endpoints = [`http://127.0.0.1:${port}`];
    await assert.rejects(openEtcdStore({ endpoints, log, openTimeoutMs: 500 }), unavailable);
  });

  it('fails in bounded time where connections are taken and never answered', async () => {
    wired.wire.pause();
    const opening = openEtcdStore({ endpoints: [wired.wireUrl], log, openTimeoutMs: 800, times: QUICK });
    await assert.rejects(opening, unavailable);
  });

  it('says of a write whether it may have been done', async () => {
    const store = await wired.open();
    await put(store, '/a', 'v', signal);
    wired.wire.holdAnswers();
    const written = put(store, '/lost', 'v', signal);
    const mayBeDone = (err: unknown): boolean => storeErrorOf(err, 'unavailable')?.mayBeDone ?? false;
    const lost = assert.rejects(written, mayBeDone);
    while ((await wired.witness.get('/lost', {}, signal)).kv === undefined) await delay(10, undefined, { signal });
    await wired.wire.refuse();
    await lost;
    await assert.rejects(put(store, '/never', 'v', signal), (err) => unavailable(err) && !mayBeDone(err));
    await wired.wire.admit();
  });

  it('waits for a store that is on its way', async () => {
    await wired.wire.refuse();
    const opening = wired.open();
    await wired.wire.admit();
    assert.ok((await (await opening).head(signal)) >= 1);
  });

  it('goes past endpoints that refuse and that never answer', async () => {
    const [port = 0] = await freePorts(1);
    wired.wire.pause();
    const endpoints = [`http://127.0.0.1:${port}`, wired.wireUrl, wired.etcd.url];
    const store = await wired.open({ endpoints, times: QUICK });
    const at = await put(store, '/a', 'v', signal);
    assert.equal((await store.get('/a', {}, signal)).kv?.modRevision, at);
    const seen = new Recorder();
    const watch = store.watch({ prefix: '/a', from: at }, seen);
    await seen.count(1);
    watch.close();
    await store.revokeLease(await store.grantLease(60, signal), signal);
  });

  for (const endpoint of ['etcd:2379', 'unix:///run/etcd.sock', '', 'http://'] as const) {
    it(`refuses the endpoint "${endpoint}" by name`, async () => {
      await assert.rejects(openEtcdStore({ endpoints: [endpoint], log }), (err) =>
        String(err).includes(`"${endpoint}"`),
      );
    });
  }

  it('refuses to be opened without endpoints', async () => {
    await assert.rejects(openEtcdStore({ endpoints: [], log }), /no endpoint/);
  });

  it('puts its prefix before every key and takes it off again', async () => {
    const store = await wired.open({ prefix: '/own' });
    const at = await put(store, '/a', 'v', signal);
    const seen = new Recorder();
    const watch = store.watch({ prefix: '/', from: at }, seen);
    await seen.count(1);
    watch.close();
    assert.equal(seen.all[0]?.key, '/a');
    assert.equal((await store.range('/', {}, signal)).kvs[0]?.key, '/a');
    assert.equal((await wired.witness.get('/own/a', {}, signal)).kv?.modRevision, at);
  });

  it('knows the faults of the version that it met', () => {
    const { warnings, reliableProgress } = wired.witness.capabilities();
    assert.equal(reliableProgress, true);
    assert.ok(warnings.every((it) => /^etcd 3\.\d+\.\d+: /.test(it)));
  });

  it('tells how long calls took', async () => {
    const observed: StoreOperation[] = [];
    const store = await wired.open({
      observe: (operation, seconds) => {
        assert.ok(seconds > 0);
        observed.push(operation);
      },
    });
    await put(store, '/a', 'v', signal);
    await store.head(signal);
    await store.range('/', {}, signal);
    await assert.rejects(store.compact(revision(1_000_000), signal));
    await store.grantLease(60, signal);
    assert.deepEqual(observed, ['txn', 'get', 'list', 'compact', 'lease']);
  });
});

describe('EtcdStore when its connection fails', function () {
  this.timeout(20_000);
  let wired: WiredEtcd;
  let signal: AbortSignal;
  let store: KeyValueStore;

  beforeEach(async () => {
    wired = await WiredEtcd.start();
    signal = AbortSignal.timeout(15_000);
    store = await wired.open({ requestTimeoutMs: 400, times: QUICK });
    await put(wired.witness, '/a', 'before', signal); // it has all the time that it needs
    await untilServed(() => store.head(signal), signal);
  });
  afterEach(() => wired.close());

  it('answers unavailable within the deadline when the wire is dead, and serves again when it is not', async () => {
    wired.wire.pause();
    for (const call of [store.head(signal), put(store, '/b', 'v', signal), store.range('/', {}, signal)]) {
      await assert.rejects(call, unavailable);
    }
    await assert.rejects(store.head(signal), unavailable);
    wired.wire.resume();
    wired.wire.cut();
    const { kv } = await untilServed(() => store.get('/a', {}, signal), signal);
    assert.equal(kv?.value.toString(), 'before');
  });

  it('answers unavailable within the deadline when etcd is frozen', async () => {
    await wired.etcd.freeze();
    await assert.rejects(store.head(signal), unavailable);
    await assert.rejects(put(store, '/b', 'v', signal), unavailable);
    await assert.rejects(store.grantLease(60, signal), unavailable);
    wired.etcd.thaw();
    assert.ok((await untilServed(() => store.head(signal), signal)) >= 2);
  });

  it('throws the reason of a signal that fires while a dead wire is waited for', async () => {
    wired.wire.pause();
    const abort = new AbortController();
    const reason = new Error('enough');
    const calls = [store.head(abort.signal), put(store, '/b', 'v', abort.signal), store.grantLease(60, abort.signal)];
    const settled = Promise.allSettled(calls);
    abort.abort(reason);
    for (const it of await settled) assert.ok(it.status === 'rejected' && it.reason === reason);
  });

  it('does not send a transaction twice when its answer is lost, though another endpoint stands ready', async () => {
    const both = await wired.open({ endpoints: [wired.wireUrl, wired.etcd.url] });
    const before = await put(both, '/b', 'first', signal);
    wired.wire.holdAnswers();
    const seen = new Recorder();
    const watch = wired.witness.watch({ prefix: '/b', from: following(before) }, seen);
    const lost = assert.rejects(put(both, '/b', 'second', signal), unavailable);
    await seen.count(1); // it was carried out
    wired.wire.cut();
    await lost;
    const last = await put(both, '/b', 'third', signal);
    await seen.reached(last);
    watch.close();
    assert.deepEqual(
      seen.all.map((it) => it.value.toString()),
      ['second', 'third'],
    );
  });

  it('takes an answer that comes slowly, as long as it keeps coming', async () => {
    const value = Buffer.alloc(1_000_000, 'x');
    for (const name of ['1', '2']) await put(wired.witness, `/big/${name}`, value, signal);
    const patient = await wired.open({ requestTimeoutMs: 1000 });
    await patient.head(signal);
    wired.wire.slow(20_000);
    const began = performance.now();
    const { kvs } = await patient.range('/big/', {}, signal);
    assert.ok(performance.now() - began > 1500, 'it took longer than the silence that ends a call');
    assert.ok(kvs.length === 2 && kvs.every((it) => it.value.equals(value)));
  });

  it('gives up an answer that stops coming', async () => {
    await put(wired.witness, '/big/1', Buffer.alloc(1_000_000, 'x'), signal);
    wired.wire.slow(10_000);
    const began = wired.wire.answeredBytes;
    const read = assert.rejects(store.range('/big/', {}, signal), (err) => {
      const silentMs = Number(/the last (\d+) ms in silence/.exec(String(err))?.[1]);
      assert.ok(
        silentMs >= 400 && silentMs < 4000,
        'after the silence, and not after the longest that a call may take',
      );
      return unavailable(err);
    });
    while (wired.wire.answeredBytes - began < 50_000) await delay(5, undefined, { signal });
    wired.wire.slow(0);
    await read;
  });

  it('sends a read again to another endpoint when its answer is lost', async () => {
    const both = await wired.open({ endpoints: [wired.wireUrl, wired.etcd.url] });
    await both.head(signal);
    wired.wire.holdAnswers();
    const read = both.get('/a', {}, signal);
    wired.wire.cut();
    assert.equal((await read).kv?.value.toString(), 'before');
  });

  it('sends a transaction over a new connection when the old one is known to be gone', async () => {
    wired.wire.cut();
    await wired.until('Store connection lost', signal);
    assert.ok((await untilServed(() => put(store, '/b', 'v', signal), signal)) > 0);
  });

  it('leaves a connection on which nothing is heard for another endpoint', async () => {
    const both = await wired.open({ endpoints: [wired.wireUrl, wired.etcd.url], requestTimeoutMs: 400 });
    await untilServed(() => both.head(signal), signal);
    wired.wire.pause();
    await assert.rejects(put(both, '/b', 'v', signal), unavailable);
    assert.ok((await untilServed(() => put(both, '/c', 'v', signal), signal)) > 0);
    assert.ok(wired.logged.includes('Store connection left'));
  });

  it('refuses calls beyond its bound instead of keeping them', async () => {
    wired.wire.pause();
    const calls = Array.from({ length: 8193 }, () => store.head(signal));
    const settled = Promise.allSettled(calls);
    await assert.rejects(calls.at(-1)!, /wait already/);
    for (const it of await settled) assert.equal(it.status, 'rejected');
  });

  it('reads a range of 20 MB', async () => {
    const value = Buffer.alloc(1_000_000, 'x');
    for (let i = 0; i < 20; i++) await put(wired.witness, `/big/${i}`, value, signal);
    const wide = await wired.open();
    const { kvs } = await wide.range('/big/', {}, signal);
    assert.equal(kvs.length, 20);
    assert.ok(kvs.every((it) => it.value.equals(value)));
  });

  for (const size of [2_000_000, 2 * 1024 * 1024, 8 * 1024 * 1024]) {
    it(`refuses a value of ${size} bytes as too large`, async () => {
      const wide = await wired.open();
      await assert.rejects(put(wide, '/big', Buffer.alloc(size), signal), (err) => isStoreError(err, 'tooLarge'));
      assert.ok((await wide.head(signal)) > 0);
    });
  }
});

describe('EtcdStore with a member that has lost the others', function () {
  this.timeout(20_000);

  // The other endpoint is of another cluster: that this is noticed shows that the watch has come there.
  it('turns to another endpoint for reads, writes and watches', async () => {
    const signal = AbortSignal.timeout(15_000);
    const [one = 0, two = 0] = await freePorts(2);
    const member = (name: string, port: number): readonly string[] => [
      `--name=${name}`,
      `--listen-peer-urls=http://127.0.0.1:${port}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${port}`,
      `--initial-cluster=one=http://127.0.0.1:${one},two=http://127.0.0.1:${two}`,
    ];
    const [left, lost] = await Promise.all([
      startEtcd({ args: member('one', one) }),
      startEtcd({ args: member('two', two) }),
    ]);
    const healthy = await startEtcd();
    const wire = await tcpProxy(left.port);
    const store = await openEtcdStore({ endpoints: [`http://127.0.0.1:${wire.port}`, healthy.url], log });
    const direct = await openEtcdStore({ endpoints: [healthy.url], log });
    try {
      const seen = new Recorder();
      store.watch({ prefix: '/', from: following(await store.head(signal)) }, seen);
      await seen.reached(await put(store, '/a', 'v', signal));
      await lost.kill();
      await seen.until('the watch to leave', () => seen.connections.includes(false));
      await seen.endedWith('replaced');
      assert.equal(wire.accepted, 3, 'one connection each for the version, for calls and for watches');
      await untilServed(() => put(store, '/b', '1', signal), signal);
      const last = await put(direct, '/b', '2', signal);
      assert.equal((await store.get('/b', {}, signal)).kv?.modRevision, last);
    } finally {
      await Promise.all([store.close(), direct.close(), wire.close()]);
      await Promise.all([left.stop(), lost.stop(), healthy.stop()]);
    }
  });
});
