import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';

import { Recorder } from '../contract/recorder.js';
import { revision, type KeyValueStore, type Operation } from '../store.js';
import { openEmbeddedStore } from './embedded-store.js';

/** What a step does: write some keys at once, compact so many revisions below the head, or close and open again. */
type Step =
  | { readonly do: 'write'; readonly ops: readonly (readonly [key: string, value: string | undefined])[] }
  | { readonly do: 'compact'; readonly below: number }
  | { readonly do: 'reopen' };

const KEYS = ['/a', '/a/', '/a/1', '/a/1\0', '/a/\u0001', '/a0', '/ab', '/b'];
const op = fc.tuple(fc.constantFrom(...KEYS), fc.option(fc.string({ maxLength: 3 }), { nil: undefined }));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      ops: fc.uniqueArray(op, { selector: ([key]) => key, minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('compact' as const), below: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
);

interface Entry {
  readonly value: string;
  readonly createRevision: number;
  readonly modRevision: number;
}
type State = ReadonlyMap<string, Entry>;

/** The obvious store: every state that ever was. */
class Model {
  readonly states: State[] = [new Map(), new Map()]; // 0 is no revision, 1 is the empty store
  readonly events = new Map<number, string[]>();
  compacted = 0;

  get head(): number {
    return this.states.length - 1;
  }

  write(ops: Extract<Step, { do: 'write' }>['ops']): void {
    const before = this.states.at(-1)!;
    const after = new Map(before);
    const at = this.head + 1;
    const events: string[] = [];
    for (const [key, value] of ops) {
      const old = before.get(key);
      if (value === undefined && old === undefined) continue;
      if (value === undefined) after.delete(key);
      else after.set(key, { value, createRevision: old?.createRevision ?? at, modRevision: at });
      events.push(`${at} ${key} ${value ?? 'gone'} was ${old?.value ?? 'nothing'}`);
    }
    if (events.length === 0) return;
    this.states.push(after);
    this.events.set(at, events);
  }
}

describe('openEmbeddedStore() against the obvious store', function () {
  this.timeout(60_000);
  const signal = new AbortController().signal;
  const log = { info: () => undefined, error: () => undefined };
  const open = (directory: string): Promise<KeyValueStore> =>
    openEmbeddedStore({ directory, log, onFatal: (err) => assert.fail(err) });

  async function take(store: KeyValueStore, model: Model, next: Step, directory: string): Promise<KeyValueStore> {
    if (next.do === 'reopen') {
      await store.close();
      return open(directory);
    }
    if (next.do === 'compact') {
      const at = model.head - next.below;
      if (at > Math.max(1, model.compacted)) {
        await store.compact(revision(at), signal);
        model.compacted = at;
      }
      return store;
    }
    const operations = next.ops.map(([key, value]): Operation =>
      value === undefined ? { type: 'delete', key } : { type: 'put', key, value: Buffer.from(value) },
    );
    const result = await store.transact({ conditions: [], operations }, signal);
    model.write(next.ops);
    assert.equal(result.revision, model.head);
    return store;
  }

  const bytewise = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

  async function assertReads(store: KeyValueStore, model: Model, prefix: string): Promise<void> {
    for (let at = Math.max(1, model.compacted); at <= model.head; at++) {
      const state = model.states[at]!;
      const keys = [...state.keys()].filter((key) => key.startsWith(prefix)).sort(bytewise);
      const all = await store.range(prefix, { revision: revision(at) }, signal);
      assert.deepEqual(
        all.kvs.map(({ key, value, createRevision, modRevision }) => [
          key,
          { value: value.toString(), createRevision, modRevision },
        ]),
        keys.map((key) => [key, state.get(key)]),
        `the range of ${prefix} at ${at} of ${model.head}`,
      );
      const from = KEYS[at % KEYS.length]!;
      const page = await store.range(prefix, { revision: revision(at), from, limit: 2 }, signal);
      const left = keys.filter((key) => bytewise(key, from) >= 0);
      assert.deepEqual([page.kvs.map((kv) => kv.key), page.more], [left.slice(0, 2), left.length > 2]);
      assert.ok(page.count === undefined || page.count === left.length, 'it counted wrong');
      const one = await store.get(from, { revision: revision(at) }, signal);
      assert.equal(one.kv?.value.toString(), state.get(from)?.value);
    }
  }

  async function assertEvents(store: KeyValueStore, model: Model): Promise<void> {
    const from = Math.max(1, model.compacted) + 1;
    const expected = Array.from({ length: model.head - from + 1 }, (_, i) => model.events.get(from + i)!).flat();
    const seen = new Recorder();
    const watch = store.watch({ prefix: '/', from: revision(from), withPrevious: true }, seen);
    await seen.count(expected.length);
    watch.close();
    const got = seen.all.map((e) => {
      const value = e.type === 'put' ? e.value.toString() : 'gone';
      return `${e.modRevision} ${e.key} ${value} was ${e.previous?.toString() ?? 'nothing'}`;
    });
    assert.deepEqual(got, expected);
  }

  it('reads and tells the same at every revision that can be read', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
        const directory = await mkdtemp(join(tmpdir(), 'model-'));
        let store = await open(directory);
        const model = new Model();
        try {
          for (const next of steps) store = await take(store, model, next, directory);
          for (const prefix of ['/', '/a/', '/a/1']) await assertReads(store, model, prefix);
          await assertEvents(store, model);
        } finally {
          await store.close();
          await rm(directory, { recursive: true, force: true });
        }
      }),
      { numRuns: 30 },
    );
  });
});
