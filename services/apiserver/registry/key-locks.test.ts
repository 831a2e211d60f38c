import assert from 'node:assert/strict';
import { KeyLocks } from './key-locks.js';

const gate = (): { opened: Promise<void>; open: () => void } => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
};

describe('KeyLocks', () => {
  it('let one at a time through for a key, in order, also after a failure', async () => {
    const locks = new KeyLocks();
    const first = gate();
    const order: string[] = [];
    const work = (name: string, wait: Promise<void>) => async (): Promise<string> => {
      order.push(`${name} starts`);
      await wait;
      order.push(`${name} ends`);
      if (name === 'b') throw new Error('b fails');
      return name;
    };
    const now = Promise.resolve();
    const runs = [
      locks.run('k', work('a', first.opened)),
      locks.run('k', work('b', now)),
      locks.run('k', work('c', now)),
    ];
    const settled = Promise.allSettled(runs);
    assert.deepEqual(order, ['a starts']);
    first.open();
    const results = await settled;
    assert.deepEqual(order, ['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
    assert.deepEqual(
      results.map((r) => r.status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
  });

  it('let the next one through when one leaves', async () => {
    const locks = new KeyLocks();
    const first = gate();
    const one = locks.run('k', async (leave) => {
      leave();
      await first.opened;
      return 'one';
    });
    assert.equal(await locks.run('k', () => Promise.resolve('two')), 'two');
    first.open();
    assert.equal(await one, 'one');
    assert.equal(await locks.run('k', () => Promise.resolve('three')), 'three');
  });

  it('never let two through at once, however long a key has been busy', async () => {
    const locks = new KeyLocks();
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await Promise.resolve();
      inside--;
    };
    const writer = async (): Promise<void> => {
      for (let i = 0; i < 500; i++) await locks.run('k', work);
    };
    await Promise.all([writer(), writer(), writer()]);
    assert.equal(most, 1);
  });

  it('do not hold up other keys', async () => {
    const locks = new KeyLocks();
    const held = gate();
    const slow = locks.run('k', () => held.opened);
    assert.equal(await locks.run('other', () => Promise.resolve('done')), 'done');
    held.open();
    await slow;
  });
});
