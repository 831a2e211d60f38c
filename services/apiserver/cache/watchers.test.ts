import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { CachedObject } from './cached-object.js';
import { Change, History, HistoryBudget } from './history.js';
import { cached } from './testing/objects.js';
import {
  EVERYTHING,
  STORED_JSON,
  Watchers,
  type ChangeFilter,
  type FrameEncoder,
  type WatchScope,
  type WatchSink,
} from './watchers.js';

interface SeenEvent {
  readonly type: string;
  readonly object: { readonly metadata: { readonly name: string; readonly resourceVersion: string } };
}

/** A receiver that can be full. */
class Receiver implements WatchSink {
  events: string[] = [];
  writes = 0;
  full = false;
  gone = false;
  failure: unknown;
  write(frames: Buffer): boolean {
    this.writes++;
    for (const line of frames.toString().trimEnd().split('\n')) {
      const { type, object } = JSON.parse(line) as SeenEvent;
      this.events.push(`${type} ${object.metadata.name}@${object.metadata.resourceVersion}`);
    }
    return !this.full;
  }
  expired(): void {
    this.gone = true;
  }
  failed(err: unknown): void {
    this.failure = err;
  }
}

const ALL: WatchScope = { namespace: '', name: '' };
const red: ChangeFilter = { id: 'red', matches: (o) => o.field('data.color') === 'red' };

class Scene {
  readonly history: History;
  readonly watchers: Watchers;
  readonly state = new Map<string, CachedObject>();
  revision = 0;

  constructor(o: { maxBytes?: number } = {}) {
    const budget = new HistoryBudget({ maxBytes: o.maxBytes ?? 1e9, retainMs: 1e9, now: () => 0 });
    this.history = new History(budget, 0);
    this.watchers = new Watchers(this.history);
  }
  put(name: string, color: string, namespace = 'ns'): void {
    const object = cached(namespace, name, ++this.revision, { color });
    this.#change(new Change(object, this.state.get(object.key), false, 0));
    this.state.set(object.key, object);
  }
  putAndFlush(name: string, color: string, namespace = 'ns'): void {
    this.put(name, color, namespace);
    this.watchers.flush();
  }
  remove(name: string, namespace = 'ns'): void {
    const old = [...this.state.values()].find((o) => o.name === name && o.namespace === namespace);
    assert.ok(old);
    this.state.delete(old.key);
    this.#change(new Change(old.at(++this.revision), old, true, 0));
  }
  watch(
    o: { scope?: WatchScope; filter?: ChangeFilter; after?: number; encoder?: FrameEncoder } = {},
  ): [Receiver, ReturnType<Watchers['add']>] {
    const receiver = new Receiver();
    const key = { scope: o.scope ?? ALL, filter: o.filter ?? EVERYTHING, encoder: o.encoder ?? STORED_JSON };
    this.watchers.flush();
    const watcher = this.watchers.add(key, receiver, this.history.after(o.after ?? this.revision));
    watcher.resume();
    return [receiver, watcher];
  }
  #change(change: Change): void {
    this.history.append(change);
    this.watchers.collect(change);
  }
}

describe('Watchers', () => {
  it('tell creations, changes and deletions', () => {
    const s = new Scene();
    const [seen] = s.watch();
    s.put('a', 'red');
    s.put('a', 'blue');
    s.remove('a');
    s.watchers.flush();
    assert.deepEqual(seen.events, ['ADDED a@1', 'MODIFIED a@2', 'DELETED a@3']);
  });

  it('deliver what came together in one write', () => {
    const s = new Scene();
    const [seen] = s.watch();
    for (let i = 0; i < 10; i++) s.put('a', `c${i}`);
    s.watchers.flush();
    assert.deepEqual([seen.events.length, seen.writes], [10, 1]);
  });

  it('show an object that enters a selection as added and one that leaves it as deleted, in its last selected state', () => {
    const s = new Scene();
    const [seen] = s.watch({ filter: red });
    for (const color of ['blue', 'red', 'red', 'green', 'red']) s.put('a', color);
    s.remove('a');
    s.put('b', 'blue');
    s.remove('b');
    s.watchers.flush();
    assert.deepEqual(seen.events, ['ADDED a@2', 'MODIFIED a@3', 'DELETED a@4', 'ADDED a@5', 'DELETED a@6']);
  });

  it('keep to namespace and name', () => {
    const s = new Scene();
    const [inOne] = s.watch({ scope: { namespace: 'one', name: '' } });
    const [named] = s.watch({ scope: { namespace: 'one', name: 'a' } });
    const [anywhere] = s.watch({ scope: { namespace: '', name: 'a' } });
    s.put('a', '', 'one');
    s.put('b', '', 'one');
    s.put('a', '', 'two');
    s.watchers.flush();
    assert.deepEqual(inOne.events, ['ADDED a@1', 'ADDED b@2']);
    assert.deepEqual(named.events, ['ADDED a@1']);
    assert.deepEqual(anywhere.events, ['ADDED a@1', 'ADDED a@3']);
  });

  it('start after a past revision', () => {
    const s = new Scene();
    for (const color of ['1', '2', '3']) s.put('a', color);
    const [seen] = s.watch({ after: 1 });
    s.put('a', '4');
    s.watchers.flush();
    assert.deepEqual(seen.events, ['MODIFIED a@2', 'MODIFIED a@3', 'MODIFIED a@4']);
  });

  it('neither skip nor repeat for one that joins between a change and its flush', () => {
    const s = new Scene();
    s.watch();
    s.put('a', '1');
    const [late] = s.watch({ after: 0 });
    s.put('a', '2');
    s.watchers.flush();
    s.watchers.flush();
    assert.deepEqual(late.events, ['ADDED a@1', 'MODIFIED a@2']);
  });

  it('let a full receiver catch up from the history, without gap or repeat', () => {
    const s = new Scene();
    const [slow, watcher] = s.watch();
    slow.full = true;
    s.put('a', '1');
    s.watchers.flush();
    s.put('a', '2');
    s.watchers.flush();
    s.put('a', '3'); // collected, not yet flushed, as the receiver drains
    slow.full = false;
    watcher.resume();
    s.put('a', '4');
    s.watchers.flush();
    assert.deepEqual(slow.events, ['ADDED a@1', 'MODIFIED a@2', 'MODIFIED a@3', 'MODIFIED a@4']);
  });

  it('do not hold up others for a full receiver', () => {
    const s = new Scene();
    const [slow] = s.watch();
    const [quick] = s.watch();
    slow.full = true;
    s.put('a', '1');
    s.watchers.flush();
    s.put('a', '2');
    s.watchers.flush();
    assert.equal(slow.events.length, 1);
    assert.equal(quick.events.length, 2);
  });

  it('end one whose history is gone', () => {
    const s = new Scene({ maxBytes: 1000 });
    const [slow, watcher] = s.watch();
    slow.full = true;
    for (let i = 0; i < 20; i++) s.putAndFlush('a', String(i));
    slow.full = false;
    watcher.resume();
    assert.equal(slow.gone, true);
    assert.equal(slow.events.length, 1);
    assert.equal(s.watchers.count, 0);
  });

  it('keep a quiet watcher of a busy resource, though the history moves on', () => {
    const s = new Scene({ maxBytes: 1000 });
    const [quiet] = s.watch({ scope: { namespace: 'quiet', name: '' } });
    for (let i = 0; i < 20; i++) s.putAndFlush('a', String(i), 'busy');
    s.put('b', '', 'quiet');
    s.watchers.flush();
    assert.deepEqual([quiet.events, quiet.gone], [['ADDED b@21'], false]);
  });

  describe('with an encoder that cannot show a change', () => {
    const broken = new Error('no such column');
    const encoder: FrameEncoder = {
      id: 'broken',
      encode: (change, as) => {
        if (change.object.field('data.color') === 'odd') throw broken;
        return STORED_JSON.encode(change, as);
      },
    };

    it('end those that share it with the error, after what came before, and nobody else', () => {
      const s = new Scene();
      const [one] = s.watch({ encoder });
      const [two] = s.watch({ encoder });
      const [sound] = s.watch();
      s.put('a', 'red');
      s.put('a', 'odd');
      s.put('a', 'blue');
      s.watchers.flush();
      assert.deepEqual([one.events, one.failure, one.gone], [['ADDED a@1'], broken, false]);
      assert.deepEqual([two.events, two.failure], [['ADDED a@1'], broken]);
      assert.deepEqual(sound.events, ['ADDED a@1', 'MODIFIED a@2', 'MODIFIED a@3']);
      assert.equal(s.watchers.count, 1);
    });

    it('end one that meets it in the history', () => {
      const s = new Scene();
      s.put('a', 'red');
      s.put('a', 'odd');
      const [behind] = s.watch({ encoder, after: 0 });
      assert.deepEqual([behind.failure, s.watchers.count], [broken, 0]);
    });
  });

  it('end one whose receiver throws, and nobody else', () => {
    const s = new Scene();
    const [bad] = s.watch();
    const [good] = s.watch();
    const broken = new Error('the stream is gone');
    bad.write = () => {
      throw broken;
    };
    s.putAndFlush('a', 'red');
    assert.deepEqual([bad.failure, good.events, s.watchers.count], [broken, ['ADDED a@1'], 1]);
  });

  it('forget closed ones', () => {
    const s = new Scene();
    const [seen, watcher] = s.watch();
    watcher.close();
    s.put('a', '1');
    s.watchers.flush();
    assert.deepEqual([seen.events, s.watchers.count], [[], 0]);
  });

  it('end everybody when the history is lost', () => {
    const s = new Scene();
    const receivers = [s.watch()[0], s.watch({ filter: red })[0]];
    s.history.restart(50);
    s.watchers.expireAll();
    assert.deepEqual(
      receivers.map((r) => r.gone),
      [true, true],
    );
  });
});

describe('HistoryBudget', () => {
  it('drops the oldest change of all resources first, and by age', () => {
    let now = 0;
    const budget = new HistoryBudget({ maxBytes: 1e9, retainMs: 100, now: () => now });
    const [one, two] = [new History(budget, 0), new History(budget, 0)];
    const append = (history: History, revision: number): void =>
      history.append(new Change(cached('ns', 'a', revision), undefined, false, now));
    append(one, 1);
    now = 50;
    append(two, 2);
    now = 120;
    append(two, 3);
    assert.deepEqual([one.floor, one.end - one.first], [1, 0]);
    assert.deepEqual([two.floor, two.end - two.first], [0, 2]);
  });

  it('drops what is too old though nothing changes any more, and waits for nothing then', () => {
    let now = 0;
    let due: { readonly act: () => void; readonly atMs: number } | undefined;
    const later = (act: () => void, ms: number): void => {
      assert.equal(due, undefined, 'one timer at a time');
      due = { act, atMs: now + ms };
    };
    const budget = new HistoryBudget({ maxBytes: 1e9, retainMs: 100, now: () => now, later });
    const history = new History(budget, 0);
    const pass = (): void => {
      const next = due;
      due = undefined;
      now = next?.atMs ?? now;
      next?.act();
    };
    for (const at of [1, 2, 3]) {
      now = 40 * at;
      history.append(new Change(cached('ns', 'a', at), undefined, false, now));
    }
    const floors = [1, 2, 3].map(() => {
      pass();
      return history.floor;
    });
    assert.deepEqual([floors, due], [[1, 2, 3], undefined]);
    assert.ok(now <= 40 * 3 + 102);
  });

  it('holds on to no change that it has dropped', async () => {
    const budget = new HistoryBudget({ maxBytes: 1, retainMs: 1e6, now: () => 0 });
    const history = new History(budget, 0);
    const append = (revision: number): WeakRef<Change> => {
      const change = new Change(cached('ns', 'a', revision), undefined, false, 0);
      history.append(change);
      return new WeakRef(change);
    };
    const dropped = append(1);
    append(2);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    for (let i = 0; i < 10 && dropped.deref() !== undefined; i++) {
      await nextTurn();
      collect();
    }
    assert.equal(dropped.deref(), undefined);
  });
});
