import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { StoreError, isStoreError } from '../store.js';
import type { Environment, Write } from './environment.js';
import { GroupCommit } from './group-commit.js';

/** One batch on its way to a disk that answers when the test says so. */
interface Commit {
  readonly keys: readonly string[];
  readonly written: () => void;
  readonly fail: (err: Error) => void;
}

const NO_SPACE = new StoreError('noSpace', 'full');

describe('GroupCommit', () => {
  let commits: Commit[];
  let log: string[];
  let commit: GroupCommit;
  beforeEach(() => {
    commits = [];
    log = [];
    const env = {
      commit: (writes: readonly Write[]) =>
        new Promise<void>((written, fail) => {
          commits.push({ keys: writes.map(({ key }) => key.toString()), written, fail });
        }),
      renew: () => void log.push('renewed'),
    } as Partial<Environment> as Environment; // nothing else of it is asked
    commit = new GroupCommit({
      env,
      released: () => void log.push('released'),
      refused: ({ code }) => void log.push(`refused ${code}`),
      failed: ({ code }) => void log.push(`failed ${code}`),
    });
  });

  /** Notes how it ends. */
  const write = (key: string, signal?: AbortSignal): Promise<void> => {
    commit.write(Buffer.from(key), Buffer.alloc(1));
    return commit.durable(key, signal).then(
      (it) => void log.push(it),
      (err: unknown) => void log.push(`${key} ${isStoreError(err, 'noSpace') ? 'no space' : String(err)}`),
    );
  };
  const keys = (): unknown => commits.map((it) => it.keys);

  it('gathers what comes while a batch is under way, and answers in the order of arrival', async () => {
    const first = [write('a'), write('b')];
    await nextTurn();
    commit.whenDurable(() => log.push('told'));
    const second = write('c');
    await nextTurn();
    assert.deepEqual([keys(), log, commit.idle], [[['a', 'b']], [], false]);
    commits[0]?.written();
    await Promise.all(first);
    assert.deepEqual(log, ['renewed', 'released', 'a', 'b']);
    commits[1]?.written();
    await second;
    assert.deepEqual([keys(), commit.idle], [[['a', 'b'], ['c']], true]);
    assert.deepEqual(log.slice(4), ['renewed', 'released', 'told', 'c']);
  });

  it('refuses with a batch that found no room all that was decided after it, and goes on', async () => {
    const first = write('a');
    await nextTurn();
    const others = [write('b'), commit.durable('seen').catch((err: unknown) => void log.push(`seen ${String(err)}`))];
    commits[0]?.fail(NO_SPACE);
    await Promise.all([first, ...others]);
    assert.deepEqual(log, ['refused noSpace', 'a no space', 'b no space', `seen ${String(NO_SPACE)}`]);
    assert.equal(commit.idle, true);
    const later = write('c');
    await nextTurn();
    assert.deepEqual(keys(), [['a'], ['c']], 'nothing of what was refused is written later');
    commits[1]?.written();
    await later;
    assert.deepEqual(log.slice(4), ['renewed', 'released', 'c']);
  });

  it('writes nothing after any other failure, and tells all who wait', async () => {
    const first = write('a');
    await nextTurn();
    const second = write('b');
    commits[0]?.fail(new StoreError('unavailable', 'broken'));
    await Promise.all([first, second]);
    assert.deepEqual(log, ['failed unavailable', 'a StoreError: broken', 'b StoreError: broken']);
    void write('c');
    await nextTurn();
    await nextTurn();
    assert.deepEqual(keys(), [['a']]);
    await commit.close(new StoreError('closed', 'closed'));
  });

  it('lets a batch finish when it is closed, and tells who waits for the next one', async () => {
    const first = write('a');
    await nextTurn();
    const second = write('b');
    const closed = commit.close(new StoreError('closed', 'closed')).then(() => log.push('closed'));
    await second;
    commits[0]?.written();
    await Promise.all([first, closed]);
    assert.deepEqual(log, ['b StoreError: closed', 'renewed', 'released', 'a', 'closed']);
    await nextTurn();
    assert.deepEqual(keys(), [['a']]);
  });

  it('keeps nobody who has gone, and writes what he decided', async () => {
    const gone = new AbortController();
    const first = write('a', gone.signal);
    await nextTurn();
    gone.abort(new Error('gone'));
    await first;
    assert.deepEqual(log, ['a Error: gone']);
    commits[0]?.written();
    await nextTurn();
    assert.deepEqual(log.slice(1), ['renewed', 'released']);
  });

  it('answers who only waits without a write, and after what was decided before', async () => {
    const order: string[] = [];
    commit.whenDurable(() => order.push('first'));
    await commit.durable(undefined);
    assert.deepEqual([order, keys(), log], [['first'], [], ['released']]);
  });

  it('takes so many bytes and waiters, and no more', async () => {
    commit.write(Buffer.from('a'), Buffer.alloc(64 * 1024 * 1024 - 1));
    commit.assertRoom();
    commit.write(Buffer.from('b'), undefined);
    assert.throws(
      () => commit.assertRoom(),
      (err) => isStoreError(err, 'unavailable'),
    );
    await nextTurn();
    commit.assertRoom();
    for (let i = 0; i < 20_000; i++) commit.whenDurable(() => undefined);
    assert.throws(() => commit.assertRoom(), /20000 wait/);
    commits[0]?.written();
    await nextTurn();
    await nextTurn();
    commit.assertRoom();
  });
});
