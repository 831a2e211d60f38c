import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { StoreError, revision, type StoreEvent, type WatchHandler, type WatchOptions } from '../../storage/store.js';
import { HistoryBudget } from '../cache/history.js';
import { ResourceCache } from '../cache/resource-cache.js';
import { cached, FORM, LAYOUT, PREFIX, storedBytes } from '../cache/testing/objects.js';
import { encodeFrame, type ChangeType } from '../cache/history.js';
import { EVERYTHING, STORED_JSON, type FrameEncoder, type WatchSink } from '../cache/watchers.js';
import { turns } from '../http/turns.js';
import type { StoredResource } from './resources.js';
import { WatchService, type WatchBegin, type WatchSession } from './watch-service.js';

setMaxListeners(0);

interface SeenEvent {
  readonly type: ChangeType;
  readonly object: { readonly metadata: { readonly name: string; readonly resourceVersion: string } };
}

class Receiver implements WatchSink {
  readonly events: string[] = [];
  full = false;
  end: unknown;
  write(frames: Buffer): boolean {
    for (const line of frames.toString().trimEnd().split('\n')) {
      const { type, object } = JSON.parse(line) as SeenEvent;
      this.events.push(`${type} ${object.metadata.name}@${object.metadata.resourceVersion}`);
    }
    return !this.full;
  }
  expired(): void {
    this.end = 'expired';
  }
  failed(err: unknown): void {
    this.end = err;
  }
}

/** A store whose watches deliver what the test says. */
class PastStore {
  readonly watches: { readonly o: WatchOptions; readonly handler: WatchHandler; state: string }[] = [];
  watch(o: WatchOptions, handler: WatchHandler) {
    const it = { o, handler, state: 'open' };
    this.watches.push(it);
    return {
      requestProgress: () => undefined,
      pause: () => void (it.state = 'paused'),
      resume: () => void (it.state = 'open'),
      close: () => void (it.state = 'closed'),
    };
  }
}

const event = (
  o: Partial<StoreEvent> & { readonly name: string; readonly at: number; readonly made?: number },
): StoreEvent => ({
  type: 'put',
  key: `${PREFIX}ns/${o.name}`,
  value: o.type === 'delete' ? Buffer.alloc(0) : storedBytes('ns', o.name),
  createRevision: revision(o.type === 'delete' ? 0 : (o.made ?? o.at)),
  modRevision: revision(o.at),
  previous: undefined,
  ...o,
});

describe('WatchService', () => {
  const feed = { revision: 0 };
  let store: PastStore;
  let cache: ResourceCache;
  let stored: StoredResource;
  let failures: unknown[];
  let service: WatchService;
  beforeEach(() => {
    store = new PastStore();
    cache = new ResourceCache(
      { prefix: PREFIX, namespaced: true },
      LAYOUT,
      FORM,
      new HistoryBudget({ maxBytes: 1e8, retainMs: 1e8 }),
    );
    cache.load([cached('ns', 'a', 8), cached('ns', 'b', 9)], 10);
    feed.revision = 10;
    stored = { cache } as StoredResource; // nothing else of it is asked for
    failures = [];
    service = new WatchService(store, feed, (_, err) => failures.push(err));
  });

  function change(name: string, at: number, type: StoreEvent['type'] = 'put'): void {
    cache.apply(event({ name, at, type }));
    feed.revision = at;
  }

  function watch(begin: WatchBegin, o: { encoder?: FrameEncoder; seen?: Receiver } = {}): [Receiver, WatchSession] {
    const seen = o.seen ?? new Receiver();
    const key = { scope: { namespace: '', name: '' }, filter: EVERYTHING, encoder: o.encoder ?? STORED_JSON };
    return [seen, service.start(stored, key, begin, seen)];
  }
  const state: WatchBegin = { at: 'state', encodeInitial: (o) => encodeFrame('ADDED', o) };
  const after = (at: number): WatchBegin => ({ at: 'change', revision: at });

  describe('from the present state', () => {
    it('shows it, then what changed since it was asked for, each once', () => {
      const [seen, session] = watch(state);
      change('c', 11);
      assert.deepEqual(seen.events, [], 'nothing before it may send');
      session.resume();
      change('a', 12);
      cache.watchers.flush();
      assert.deepEqual(seen.events, ['ADDED a@8', 'ADDED b@9', 'ADDED c@11', 'MODIFIED a@12']);
    });

    it('gives its turn of the event loop back when it was closed while it waited for it', async () => {
      const stint = await turns.begin({ signal: new AbortController().signal });
      const [seen, session] = watch(state);
      session.resume();
      session.close();
      stint.end();
      await new Promise(setImmediate); // the turn that was waited for
      await new Promise(setImmediate);
      assert.deepEqual([seen.events, turns.free], [[], true]);
    });

    it('ends with the error when the state cannot be shown', () => {
      const broken = new Error('no such column');
      const [seen, session] = watch({
        at: 'state',
        encodeInitial: () => {
          throw broken;
        },
      });
      session.resume();
      assert.deepEqual([seen.end, failures, cache.watchers.count], [broken, [broken], 0]);
    });
  });

  describe('from a past revision', () => {
    it('reads the cache down to its floor, and the store below', () => {
      change('a', 11);
      const [seen, session] = watch(after(10));
      session.resume();
      assert.deepEqual([seen.events, store.watches.length], [['MODIFIED a@11'], 0]);
      watch(after(9))[1].resume();
      assert.deepEqual(
        store.watches.map(({ o }) => [o.from, o.prefix, o.withPrevious]),
        [[10, PREFIX, true]],
      );
    });

    it('goes on with the cache where it was when the watch began', () => {
      change('a', 11);
      const [seen, session] = watch(after(8));
      session.resume();
      change('a', 12);
      cache.watchers.flush();
      const [past] = store.watches;
      past?.handler.events([
        event({ name: 'b', at: 9 }),
        event({ name: 'a', at: 11, made: 8, previous: storedBytes('ns', 'a') }),
        event({ name: 'a', at: 12, made: 8, previous: storedBytes('ns', 'a') }),
      ]);
      assert.deepEqual(seen.events, ['ADDED b@9', 'MODIFIED a@11', 'MODIFIED a@12']);
      assert.equal(past?.state, 'closed');
    });

    it('goes on with the cache when the store says that there was no more', () => {
      const [seen, session] = watch(after(8));
      session.resume();
      change('a', 11);
      const [past] = store.watches;
      past?.handler.progress?.(revision(9));
      assert.equal(past?.state, 'open', 'not yet');
      past.handler.progress?.(revision(10));
      assert.deepEqual([past.state, seen.events], ['closed', ['MODIFIED a@11']]);
    });

    it('holds back the store while the receiver is full', () => {
      const [seen, session] = watch(after(5));
      session.resume();
      seen.full = true;
      const [past] = store.watches;
      past?.handler.events([event({ name: 'b', at: 9 })]);
      assert.equal(past?.state, 'paused');
      seen.full = false;
      session.resume();
      assert.equal(past.state, 'open');
    });

    for (const [what, missing] of [
      ['deletion', event({ name: 'b', at: 9, type: 'delete' })],
      ['change', event({ name: 'b', at: 9, made: 7 })],
    ] as const) {
      it(`expires where the state before a ${what} was compacted away meanwhile`, () => {
        const [seen, session] = watch(after(8));
        session.resume();
        store.watches[0]?.handler.events([missing]);
        assert.deepEqual([seen.events, seen.end, store.watches[0]?.state], [[], 'expired', 'closed']);
        assert.equal(cache.watchers.count, 0);
      });
    }

    it('expires when the store has lost what it asks for, and fails with every other error', () => {
      const ends = (['compacted', 'replaced', 'corrupt'] as const).map((code) => {
        const [seen, session] = watch(after(8));
        session.resume();
        store.watches.at(-1)?.handler.ended(new StoreError(code, code));
        return seen.end instanceof StoreError ? seen.end.code : seen.end;
      });
      assert.deepEqual(ends, ['expired', 'expired', 'corrupt']);
      assert.equal(failures.length, 1);
      assert.equal(cache.watchers.count, 0);
    });
  });

  describe('deliveredTo()', () => {
    it('is the revision of the feed once all of it was handed over', () => {
      const [seen, session] = watch(state);
      assert.equal(session.deliveredTo(), undefined, 'it has not begun');
      session.resume();
      assert.equal(session.deliveredTo(), 10);
      change('c', 11);
      assert.equal(session.deliveredTo(), 11);
      assert.equal(seen.events.at(-1), 'ADDED c@11', 'what it promises has been sent');
    });

    it('is unknown while the watcher is behind', () => {
      const [seen, session] = watch(after(10));
      session.resume();
      seen.full = true;
      change('c', 11);
      assert.equal(session.deliveredTo(), undefined, 'full with the change itself');
      change('d', 12);
      assert.equal(session.deliveredTo(), undefined);
      seen.full = false;
      session.resume();
      assert.deepEqual([session.deliveredTo(), seen.events], [12, ['ADDED c@11', 'ADDED d@12']]);
    });

    it('is unknown while the past is read, and after the end', () => {
      const [, session] = watch(after(8));
      session.resume();
      assert.equal(session.deliveredTo(), undefined);
      store.watches[0]?.handler.progress?.(revision(10));
      assert.equal(session.deliveredTo(), 10);
      session.close();
      assert.equal(session.deliveredTo(), undefined);
    });
  });
});
