import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { OPEN_STORE, type OpenStore } from '../testing/open-store.js';
import { NO_REVISION, revision, StoreError, type KeyValueStore, type StoreEvent, type WatchHandler } from '../store.js';
import { transformingStore } from './transforming-store.js';
import { IDENTITY, plainOnly, providerChain, UnreadableValue, type Cipher, type Provider } from './transformer.js';

const never = new AbortController().signal;
const WORD = 'k8s:enc:';

/** Turns the bytes around; a value that begins with "!" cannot be read. */
const reversed: Cipher = {
  seal: (_, plain) => Buffer.from(plain).reverse(),
  open: (_, sealed) => {
    if (sealed[0] === 0x21) throw new UnreadableValue('it begins with !');
    return Buffer.from(sealed).reverse();
  },
};
const LATE: Provider = {
  prefix: `${WORD}late:`,
  cipher: {
    seal: async (key, plain) => turn(reversed.seal(key, plain)),
    open: async (key, sealed) => {
      await turn();
      return { value: (await reversed.open(key, sealed)) as Buffer, stale: false };
    },
  },
};
const AT_ONCE: Provider = { prefix: `${WORD}now:`, cipher: reversed };

const chain = providerChain(WORD, [AT_ONCE, LATE, IDENTITY]);
const late = providerChain(WORD, [LATE]);
const plain = plainOnly(WORD);
const transformerOf = (key: string) =>
  key.startsWith('/now/') ? chain : key.startsWith('/late/') ? late : key.startsWith('/-/') ? undefined : plain;

for (const kind of ['embedded', 'etcd'] as const) {
  describe(`transformingStore() on ${kind}`, function () {
    this.timeout(30_000);
    let inner: OpenStore;
    let store: KeyValueStore;
    before(async () => {
      inner = await OPEN_STORE[kind]();
      store = transformingStore(inner.store, transformerOf);
    });
    after(() => inner.dispose());

    const put = async (to: KeyValueStore, key: string, value: string): Promise<number> => {
      const operations = [{ type: 'put', key, value: Buffer.from(value) }] as const;
      return (await to.transact({ conditions: [], operations }, never)).revision;
    };
    const raw = async (key: string): Promise<string> => String((await inner.store.get(key, {}, never)).kv?.value);

    it('writes in the form of the first provider, and reads every form', async () => {
      await put(store, '/now/a', 'hello');
      await put(store, '/late/a', 'hello');
      await put(store, '/else/a', 'hello');
      assert.equal(await raw('/now/a'), `${WORD}now:olleh`);
      assert.equal(await raw('/late/a'), `${WORD}late:olleh`);
      assert.equal(await raw('/else/a'), 'hello');
      await put(inner.store, '/now/b', `${WORD}late:olleh`);
      await put(inner.store, '/now/c', 'hello');
      const { kvs } = await store.range('/now/', {}, never);
      assert.deepEqual(
        kvs.map(({ key, value, stale }) => [key, String(value), stale]),
        [
          ['/now/a', 'hello', undefined],
          ['/now/b', 'hello', true],
          ['/now/c', 'hello', true],
        ],
      );
    });

    it('gives the present value of a lost race in clear', async () => {
      await put(store, '/late/r', 'one');
      const lost = await store.transact(
        {
          conditions: [{ key: '/late/r', modRevision: NO_REVISION }],
          operations: [],
          otherwiseGet: ['/late/r', '/now/none'],
        },
        never,
      );
      assert.deepEqual(!lost.succeeded && lost.found.map((kv) => kv && String(kv.value)), ['one', undefined]);
    });

    it('marks what it cannot read, and reads what is around it', async () => {
      const at = await put(inner.store, '/bad/a', `${WORD}now:olleh`);
      await put(inner.store, '/now/z1', `${WORD}other:x`);
      await put(inner.store, '/now/z2', `${WORD}now:!x`);
      await put(store, '/now/z3', 'fine');
      const { kvs } = await store.range('/now/z', {}, never);
      assert.deepEqual(
        kvs.map(({ value, unreadable }) => [String(value), unreadable?.message]),
        [
          ['', 'no matching prefix found'],
          ['', 'it begins with !'],
          ['fine', undefined],
        ],
      );
      const { kv } = await store.get('/bad/a', { revision: revision(at) }, never);
      assert.equal(kv?.unreadable?.message, 'the value is encrypted, and no provider is given');
    });

    it('tells changes in their order, whichever of them have to wait', async () => {
      const from = revision((await store.head(never)) + 1);
      const told = new Told();
      const watch = store.watch({ prefix: '/', from, withPrevious: true }, told);
      for (let i = 0; i < 30; i++) {
        await put(store, i % 3 === 0 ? '/late/w' : i % 3 === 1 ? '/now/w' : '/else/w', `v${i}`);
      }
      await store.transact({ conditions: [], operations: [{ type: 'delete', key: '/late/w' }] }, never);
      await told.until(31);
      watch.close();
      const expected = Array.from({ length: 30 }, (_, i) => `v${i}`);
      assert.deepEqual(told.values, [...expected, '']);
      assert.deepEqual(told.previous, [undefined, undefined, undefined, ...expected.slice(0, 27), 'v27']);
    });

    it('tells nothing while it is paused or when it was closed, and everything in the end', async () => {
      const from = revision((await store.head(never)) + 1);
      const [paused, closed] = [new Told(), new Told()];
      const watches = [paused, closed].map((told) => store.watch({ prefix: '/late/', from }, told));
      paused.onEvents = () => watches[0]?.pause();
      closed.onEvents = () => watches[1]?.close();
      for (let i = 0; i < 5; i++) await put(store, '/late/p', `v${i}`);
      await Promise.all([paused.until(1), closed.until(1)]);
      const atFirst = paused.values.length;
      for (let i = 0; i < 20; i++) await turn();
      assert.equal(paused.values.length, atFirst);
      paused.onEvents = () => undefined;
      watches[0]?.resume();
      await paused.until(5);
      assert.deepEqual(paused.values, ['v0', 'v1', 'v2', 'v3', 'v4']);
      assert.ok(closed.values.length >= 1 && closed.calls === 1, `${closed.calls} calls`);
      watches[0]?.close();
    });

    it('tells progress behind the changes before it', async () => {
      const from = revision((await store.head(never)) + 1);
      const told = new Told();
      const watch = store.watch({ prefix: '/late/', from }, told);
      const at = await put(store, '/late/q', 'last');
      while (told.progressed < at) {
        watch.requestProgress();
        await turn();
      }
      assert.deepEqual(told.values, ['last']);
      watch.close();
    });

    it('ends a watch whose handler fails, also when it is told late', async () => {
      const from = revision((await store.head(never)) + 1);
      const told = new Told();
      told.onEvents = () => {
        throw new Error('the handler fails');
      };
      store.watch({ prefix: '/late/', from }, told);
      await put(store, '/late/f', 'x');
      await told.end;
      assert.equal((told.error?.cause as Error).message, 'the handler fails');
    });
  });
}

/** Notes what a watch tells. */
class Told implements WatchHandler {
  readonly values: string[] = [];
  readonly previous: (string | undefined)[] = [];
  calls = 0;
  progressed = 0;
  error: Error | undefined;
  onEvents: () => void = () => undefined;
  #wake: () => void = () => undefined;
  #ended: () => void = () => undefined;
  readonly end = new Promise<void>((resolve) => (this.#ended = resolve));

  events(batch: readonly StoreEvent[]): void {
    this.calls++;
    this.values.push(...batch.map(({ value }) => String(value)));
    this.previous.push(...batch.map(({ previous }) => previous && String(previous)));
    this.#wake();
    this.onEvents();
  }

  progress(at: number): void {
    this.progressed = at;
  }

  ended(error: Error): void {
    this.error = error;
    this.#ended();
  }

  async until(count: number): Promise<void> {
    while (this.values.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

describe('a watch through transformingStore() on a store that tells on when it is told to pause', () => {
  const event = (key: string, at: number): StoreEvent => ({
    type: 'put',
    key,
    value: Buffer.from(key.startsWith('/late/') ? `${WORD}late:${at}` : `${at}`),
    createRevision: revision(at),
    modRevision: revision(at),
    previous: undefined,
  });

  it('keeps the order of changes, progress and the end', async () => {
    let inner: WatchHandler | undefined;
    const calls: string[] = [];
    const note = (what: string) => () => void calls.push(what);
    const watch = { pause: note('pause'), resume: note('resume'), close: note('close'), requestProgress: note('ask') };
    const source = {
      watch: (_: unknown, handler: WatchHandler) => {
        inner = handler;
        return watch;
      },
    } as unknown as KeyValueStore;
    const order: string[] = [];
    const ended = new Promise<void>((resolve) => {
      transformingStore(source, transformerOf).watch(
        { prefix: '/', from: revision(1) },
        {
          events: (batch) => order.push(...batch.map(({ value }) => String(value))),
          progress: (at) => order.push(`progress ${at}`),
          ended: ({ code }) => {
            order.push(code);
            resolve();
          },
        },
      );
    });
    inner?.events([event('/else/a', 1)]);
    assert.deepEqual([order, calls], [['1'], []], 'what need not wait is told at once');
    inner?.events([event('/late/a', 2), event('/else/a', 3)]);
    inner?.events([event('/else/a', 4)]);
    inner?.progress?.(revision(4));
    inner?.events([event('/late/a', 5)]);
    inner?.progress?.(revision(5));
    inner?.ended(new StoreError('compacted', 'gone'));
    assert.deepEqual([order, calls], [['1'], ['pause']]);
    await ended;
    assert.deepEqual(order, ['1', '2', '3', '4', 'progress 4', '5', 'progress 5', 'compacted']);
  });
});
