import assert from 'node:assert/strict';
import { GatedSink } from '../testing/gathering.js';
import type { OnLost } from './backend.js';
import { blocking, type BlockingBackend } from './blocking.js';

describe('blocking()', () => {
  let sink: GatedSink;
  let lost: number;
  const onLost: OnLost = (_, events) => void (lost += events);
  const backend = (o: { strict?: boolean; maxEvents?: number; closeMs?: number } = {}): BlockingBackend =>
    blocking(sink, { strict: false, maxEvents: 100, closeMs: 60_000, onLost, ...o });
  beforeEach(() => {
    sink = new GatedSink();
    lost = 0;
  });

  it('writes together what comes in together, and what comes in while a write is under way', async () => {
    const it = backend();
    const first = [it.emit('a'), it.emit('b')];
    await sink.begun(1);
    const second = [it.emit('c'), it.emit('d')];
    sink.pass();
    assert.deepEqual(await Promise.all(first), [true, true]);
    await sink.begun(2);
    sink.pass();
    assert.deepEqual(await Promise.all(second), [true, true]);
    assert.deepEqual(sink.writes, [
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('lets nobody go before its own event is written', async () => {
    const it = backend();
    let went = false;
    void it.emit('a').then(() => (went = true));
    await sink.begun(1);
    await new Promise(setImmediate);
    assert.equal(went, false);
  });

  it('writes no more at once than it may', async () => {
    const it = backend({ maxEvents: 2 });
    const told = Promise.all(['a', 'b', 'c'].map((event) => it.emit(event)));
    await sink.begun(1);
    sink.pass();
    await sink.begun(2);
    sink.pass();
    await told;
    assert.deepEqual(sink.writes, [['a', 'b'], ['c']]);
  });

  for (const strict of [false, true]) {
    it(`counts what is lost, and lets the request ${strict ? 'know' : 'go on'}`, async () => {
      const it = backend({ strict });
      const told = [it.emit('a'), it.emit('b')];
      await sink.begun(1);
      sink.fail();
      assert.deepEqual(await Promise.all(told), [!strict, !strict]);
      assert.equal(lost, 2);
      const next = it.emit('c');
      await sink.begun(2);
      sink.pass();
      assert.deepEqual([await next, lost], [true, 2]);
    });
  }

  it('writes what waits before it closes, and loses what comes afterwards', async () => {
    const it = backend();
    const told = it.emit('a');
    const closed = it.close();
    await sink.begun(1);
    assert.equal(sink.closed, false);
    sink.pass();
    await closed;
    assert.deepEqual([await told, sink.closed, lost], [true, true, 0]);
    assert.deepEqual([await it.emit('b'), lost], [true, 1]);
  });

  it('gives up what is not written in time', async () => {
    const it = backend({ closeMs: 1, strict: true });
    const told = it.emit('a');
    await it.close();
    assert.deepEqual([await told, lost, sink.closed], [false, 1, true]);
  });
});
