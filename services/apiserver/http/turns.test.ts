import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Work } from '../../machinery/work/work.js';
import { Turns, weigh, worked } from './turns.js';

const WAITING = { signal: new AbortController().signal };

describe('Turns', () => {
  let nowMs: number;
  let turns: Turns;
  beforeEach(() => {
    nowMs = 0;
    turns = new Turns(() => nowMs);
  });

  it('lets work begin at once where there is room, and counts what is spent together', async () => {
    for (const spent of [3, 3, 3]) {
      assert.equal(turns.free, true);
      const stint = await turns.begin(WAITING);
      assert.equal(stint.over, false);
      nowMs += spent;
      stint.end();
    }
    assert.equal(turns.free, false);
    await nextTurn();
    assert.equal(turns.free, true);
  });

  it('has one of those that wait go on in each turn of the event loop, in their order', async () => {
    const order: string[] = [];
    const work = async (name: string): Promise<void> => {
      const stint = await turns.begin(WAITING);
      for (let i = 0; i < 2; i++) {
        order.push(name);
        nowMs += 10;
        assert.equal(stint.over, true);
        await stint.pause();
      }
      stint.end();
    };
    let loops = 0;
    const count = (): void => {
      loops++;
      order.push('|');
      if (loops < 7) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(['a', 'b', 'c'].map(work));
    assert.equal(order.join('').replaceAll('||', '|').replace(/\|+$/, ''), 'a|b|c|a|b|c');
  });

  it('lets a stint last until its time is up, and the next one begin anew', async () => {
    const stint = await turns.begin(WAITING);
    nowMs += 7;
    assert.equal(stint.over, false);
    nowMs += 1;
    assert.equal(stint.over, true);
    const paused = stint.pause();
    nowMs += 100; // what others do meanwhile is not its own
    await paused;
    assert.equal(stint.over, false);
    stint.end();
    assert.equal(turns.free, true);
  });

  it('has a turn again after a stint that did not end in its own', async () => {
    await turns.begin(WAITING);
    assert.equal(turns.free, false);
    await nextTurn();
    assert.equal(turns.free, true);
  });

  it('lets nobody begin before those who wait', async () => {
    const first = turns.next();
    assert.equal(turns.free, false);
    await first;
  });

  it('counts what was done in one go, also where it failed', async () => {
    const spend = (ms: number): Promise<void> => turns.run(WAITING, () => void (nowMs += ms));
    await spend(3);
    assert.equal(turns.free, true);
    const failing = turns.run(WAITING, () => {
      nowMs += 5;
      throw new Error('failed');
    });
    await assert.rejects(failing, /failed/);
    assert.equal(turns.free, false, 'eight are spent');
    await nextTurn();
    await spend(7);
    assert.equal(turns.free, true);
  });

  it('has what cannot be cut wait for a turn with room', async () => {
    turns.charge(10);
    let done = false;
    const result = turns.run(WAITING, () => (done = true));
    await Promise.resolve();
    assert.equal(done, false);
    assert.equal(await result, true);
    nowMs += 1;
  });

  it('goes on when one of those that wait has left, or fails', async () => {
    const left = new AbortController();
    turns.charge(10);
    const lost = turns.begin(left);
    const failed = turns.run(WAITING, () => {
      throw new Error('failed');
    });
    const stays = turns.run(WAITING, () => 'done');
    left.abort(new Error('left'));
    await assert.rejects(lost, /left/);
    assert.equal(turns.free, false, 'others wait still');
    await assert.rejects(failed, /failed/);
    assert.equal(await stays, 'done');
  });

  it('has a turn for others when the last who waited has left', async () => {
    const left = new AbortController();
    turns.charge(10);
    const lost = turns.begin(left);
    left.abort(new Error('left'));
    await assert.rejects(lost, /left/);
    assert.equal(turns.free, true);
  });

  it('gives a turn to one alone, and to the next whatever becomes of it', async () => {
    const order: number[] = [];
    const waits = [1, 2, 3].map(async (n) => {
      await turns.next();
      assert.equal(turns.free, false);
      order.push(n);
    });
    await Promise.all(waits);
    assert.deepEqual(order, [1, 2, 3]);
    await nextTurn();
    turns.charge(0);
    assert.equal(turns.free, true);
  });

  it('takes a turn from one that has it when nobody else waits', async () => {
    turns.charge(10);
    await turns.next();
    assert.equal(turns.free, false);
    turns.charge(0);
    assert.equal(turns.free, true);
  });

  it('gives a part of heavy work a turn in which nothing else begins', async () => {
    const order: string[] = [];
    const others = turns.alone().then(() => order.push('other'));
    await turns.alone();
    order.push('one');
    assert.equal(turns.free, false);
    await nextTurn();
    assert.equal(turns.free, true);
    await others;
    assert.deepEqual(order, ['other', 'one']);
  });

  it('goes through work in parts, with a pause where they have taken long', async () => {
    const log: string[] = [];
    const work = function* (): Work<string> {
      for (const ms of [3, 3, 3, 1]) {
        nowMs += ms;
        log.push(`${nowMs}`);
        yield;
      }
      return 'all';
    };
    const all = turns.through(work());
    assert.deepEqual(log, ['3', '6', '9']);
    assert.equal(await all, 'all');
    assert.deepEqual(log, ['3', '6', '9', '10']);
  });

  it('pauses when a part has filled the time, and counts from the pause on', async () => {
    let pauses = 0;
    class Counted extends Turns {
      override alone(): Promise<void> {
        pauses++;
        return super.alone();
      }
    }
    const work = function* (...parts: number[]): Work<void> {
      for (const ms of parts) {
        nowMs += ms;
        yield;
      }
    };
    const counted = new Counted(() => nowMs);
    await counted.through(work(8));
    assert.equal(pauses, 1);
    await counted.through(work(4, 3));
    assert.equal(pauses, 1);
    await counted.through(work(8, 3, 3, 1));
    assert.equal(pauses, 2);
  });

  it('knows a heavy request by the size of what it has to do with, and does its work in turns', async () => {
    const state: { heavy?: boolean } = {};
    const work = function* (): Work<number> {
      yield;
      return 1;
    };
    weigh(state, 64 * 1024 - 1);
    assert.equal(state.heavy, undefined);
    assert.equal(worked(state, work()), 1);
    weigh(state, 64 * 1024);
    weigh(state, 1);
    assert.equal(state.heavy, true);
    const pending = worked(state, work());
    assert.ok(pending instanceof Promise);
    assert.equal(await pending, 1);
  });
});
