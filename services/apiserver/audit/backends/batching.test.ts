import assert from 'node:assert/strict';
import { GatedSink } from '../testing/gathering.js';
import type { AuditBackend } from './backend.js';
import { Batching, type BatchOptions } from './batching.js';
import { Throttle } from './throttle.js';

const LONG_MS = 600_000;

describe('Batching', () => {
  let sink: GatedSink;
  let lost: number;
  let opened: Batching | undefined;
  const open = (o: Partial<BatchOptions> = {}): Batching =>
    (opened = new Batching(sink, {
      bufferSize: 10,
      maxEvents: 2,
      maxWaitMs: LONG_MS,
      closeMs: LONG_MS,
      onLost: (_, events) => void (lost += events),
      ...o,
    }));
  beforeEach(() => {
    sink = new GatedSink();
    lost = 0;
    opened = undefined;
  });
  afterEach(async () => {
    const closed = opened?.close();
    for (let i = 0; i < 20; i++) {
      sink.pass();
      await new Promise(setImmediate);
    }
    await closed;
  });

  it('holds nobody up', () => {
    const backend: AuditBackend = open();
    assert.equal(backend.emit('a'), undefined);
  });

  it('loses what does not fit, and counts it', async () => {
    const it = open({ bufferSize: 3, maxEvents: 2 });
    it.emit('a');
    it.emit('b');
    await sink.begun(1); // these two are on their way
    for (const event of ['c', 'd', 'e', 'f', 'g']) it.emit(event);
    assert.equal(lost, 2);
    sink.pass();
    await sink.begun(2);
    sink.pass();
    const closed = it.close();
    await sink.begun(3);
    sink.pass();
    await closed;
    assert.deepEqual(sink.writes, [['a', 'b'], ['c', 'd'], ['e']]);
  });

  it('loses what would take too much memory', async () => {
    const it = open({ bufferSize: 1_000, maxEvents: 1_000 });
    const large = 'x'.repeat(1024 * 1024);
    for (let i = 0; i < 130; i++) it.emit(large);
    assert.equal(lost, 2);
    const closed = it.close();
    for (let i = 1; i <= 16; i++) {
      await sink.begun(i);
      assert.equal(sink.writes[i - 1]?.length, 8);
      sink.pass();
    }
    await closed;
  });

  it('takes as much again as soon as that is written, and as soon as a write has lost it', async () => {
    const it = open({ bufferSize: 1_000, maxEvents: 1 });
    const large = 'x'.repeat(16 * 1024 * 1024);
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 8; i++) it.emit(large);
      assert.equal(lost, round > 2 ? 1 : 0);
      for (let i = 0; i < 8; i++) {
        await sink.begun(8 * round + i + 1);
        if (round === 2 && i === 7) sink.fail();
        else sink.pass();
      }
      await new Promise(setImmediate);
    }
    it.emit('more');
    assert.equal(lost, 1);
  });

  it('writes when there is enough', async () => {
    const it = open();
    it.emit('a');
    it.emit('b');
    it.emit('c');
    await sink.begun(1);
    assert.deepEqual(sink.writes, [['a', 'b']]);
  });

  it('writes what has waited long enough', async () => {
    const it = open({ maxWaitMs: 1 });
    it.emit('a');
    await sink.begun(1);
    assert.deepEqual(sink.writes, [['a']]);
    sink.pass();
    it.emit('b');
    await sink.begun(2);
    assert.deepEqual(sink.writes[1], ['b']);
  });

  it('counts what a write loses, and goes on', async () => {
    const it = open();
    it.emit('a');
    it.emit('b');
    await sink.begun(1);
    sink.fail();
    it.emit('c');
    it.emit('d');
    await sink.begun(2);
    assert.equal(lost, 2);
  });

  it('writes what is left before it closes, however much that is', async () => {
    const it = open({ bufferSize: 100, maxEvents: 50 });
    for (let i = 0; i < 30; i++) it.emit(String(i));
    const closed = it.close();
    await sink.begun(1);
    it.emit('late');
    sink.pass();
    await sink.begun(2);
    sink.pass();
    await closed;
    assert.deepEqual([sink.writes[0]?.length, sink.writes[1], lost, sink.closed], [30, ['late'], 0, true]);
    it.emit('too late');
    assert.equal(lost, 1);
  });

  it('gives up what is not written in time, and counts it', async () => {
    const it = open({ closeMs: 1 });
    for (const event of ['a', 'b', 'c']) it.emit(event);
    await it.close();
    assert.deepEqual([lost, sink.closed], [3, true]);
  });

  it('does not wait for permits when time is over', async () => {
    const it = open({ closeMs: 1, maxEvents: 1, throttle: { perSecond: 0.001, burst: 1 } });
    for (const event of ['a', 'b', 'c']) it.emit(event);
    await sink.begun(1);
    sink.pass();
    await it.close();
    assert.equal(lost, 2);
  });
});

describe('Throttle', () => {
  it('lets a burst through, and then so many a second', () => {
    let now = 0;
    const it = new Throttle({ perSecond: 10, burst: 3 }, () => now);
    const delays = (count: number): number[] => Array.from({ length: count }, () => Math.round(it.delayMs()));
    assert.deepEqual(delays(5), [0, 0, 0, 100, 200]);
    now = 200;
    assert.deepEqual(delays(1), [100]);
    now = 60_000;
    assert.deepEqual(delays(4), [0, 0, 0, 100]);
  });
});
