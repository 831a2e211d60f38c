import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { encodeObject, itemStart, storagePrefix } from '../../../machinery/codec/encode.js';
import { StatusError } from '../../../machinery/meta/status.js';
import { revision, StoreError, type StoreEvent, type WatchHandler } from '../../../storage/store.js';
import type { ObjectLayout } from '../../cache/cached-object.js';
import { GenerationBudget } from '../../cache/generations.js';
import { HistoryBudget } from '../../cache/history.js';
import { ResourceCache } from '../../cache/resource-cache.js';
import { EVERYTHING, STORED_JSON, type WatchSink } from '../../cache/watchers.js';
import type { StoredResource } from '../resources.js';
import { WatchService, type WatchBegin, type WatchSession } from '../watch-service.js';
import { VersionConversion } from './version-conversion.js';

const KIND = 'Widget';
const PREFIX = '/registry/g/widgets/';

function layoutOf(apiVersion: string): ObjectLayout {
  const prefixLength = storagePrefix(KIND, apiVersion).length;
  return { prefixLength, itemStart: itemStart(prefixLength), selectableFields: [], apiVersion };
}

const bytesOf = (name: string): Buffer => encodeObject({ kind: KIND, apiVersion: 'g/v1', metadata: { name } });

class Receiver implements WatchSink {
  readonly events: string[] = [];
  isFull = false;
  end: unknown;

  write(frames: Buffer): boolean {
    for (const line of frames.toString().trimEnd().split('\n')) {
      const { type, object } = JSON.parse(line) as { type: string; object: { apiVersion: string; metadata: { name: string; resourceVersion: string } } }; // prettier-ignore
      assert.equal(object.apiVersion, 'g/v2');
      this.events.push(`${type} ${object.metadata.name}@${object.metadata.resourceVersion}`);
    }
    return !this.isFull;
  }
  expired(): void {
    this.end = 'expired';
  }
  failed(err: unknown): void {
    this.end = err;
  }
}

/** A resource that is stored in `g/v1`, watched in `g/v2`. */
class Scene {
  readonly cache: ResourceCache;
  readonly receiver = new Receiver();
  readonly handlers: WatchHandler[] = [];
  at = 10;
  /** Conversions wait for it. */
  let: Promise<void> = Promise.resolve();
  failure: Error | undefined;
  converted = 0;
  #session: WatchSession | undefined;

  constructor(historyBytes = 1e8) {
    const budget = new HistoryBudget({ maxBytes: historyBytes, retainMs: 1e8, later: () => undefined });
    const form = { prefix: storagePrefix(KIND, 'g/v1'), adopt: (): undefined => undefined };
    this.cache = new ResourceCache({ prefix: PREFIX, namespaced: false }, layoutOf('g/v1'), form, budget);
    this.cache.load([], this.at);
  }

  put(name: string): void {
    this.#change({ type: 'put', value: bytesOf(name) }, name);
  }

  remove(name: string): void {
    this.#change({ type: 'delete', value: Buffer.alloc(0) }, name);
  }

  #change(event: Pick<StoreEvent, 'type' | 'value'>, name: string): void {
    const modRevision = revision(++this.at);
    this.cache.apply({ ...event, key: `${PREFIX}${name}`, modRevision, createRevision: modRevision, previous: undefined }); // prettier-ignore
  }

  watch(begin: WatchBegin): WatchSession {
    const store = {
      watch: (_: unknown, handler: WatchHandler) => {
        this.handlers.push(handler);
        const nothing = (): void => undefined;
        return { requestProgress: nothing, pause: nothing, resume: nothing, close: nothing };
      },
    };
    const conversion = new VersionConversion({
      kind: KIND,
      apiVersion: 'g/v2',
      layout: layoutOf('g/v2'),
      decode: (object) => object,
      converter: {
        convert: async (objects, to) => {
          await this.let;
          if (this.failure !== undefined) throw this.failure;
          this.converted += objects.length;
          return objects.map(({ metadata }) => ({ kind: KIND, apiVersion: to, metadata: metadata() }));
        },
        close: () => undefined,
      },
      budget: new GenerationBudget({ maxBytes: 1e6, turnMs: 1e9 }, { later: () => undefined }),
    });
    const service = new WatchService(store, { revision: this.at }, () => undefined);
    const key = { scope: { namespace: '', name: '' }, filter: EVERYTHING, encoder: STORED_JSON };
    const stored = { cache: this.cache } as StoredResource;
    this.#session = service.startConverted(conversion, stored, key, begin, this.receiver);
    return this.#session;
  }

  /** Until nothing moves any more. */
  async settled(): Promise<readonly string[]> {
    for (let i = 0; i < 50; i++) await turn();
    return this.receiver.events;
  }

  close(): void {
    this.#session?.close();
  }
}

describe('a watch in a version that is converted to', () => {
  let scene: Scene;
  beforeEach(() => (scene = new Scene()));
  afterEach(() => scene.close());

  const fromNow = { at: 'change', revision: 10 } as const;

  it('hands nothing over before it is asked to, and then all in order', async () => {
    const session = scene.watch(fromNow);
    scene.put('a');
    scene.put('a');
    assert.deepEqual(await scene.settled(), []);
    session.resume();
    scene.remove('a');
    assert.deepEqual(await scene.settled(), ['ADDED a@11', 'MODIFIED a@12', 'DELETED a@13']);
    assert.equal(scene.converted, 2); // what has gone is told of as it was
    assert.equal(session.deliveredTo(), 10);
    scene.put('b');
    assert.equal(session.deliveredTo(), undefined);
    await scene.settled();
    assert.equal(session.deliveredTo(), 10);
  });

  it('waits for a receiver that is full', async () => {
    const session = scene.watch(fromNow);
    scene.receiver.isFull = true;
    session.resume();
    scene.put('a');
    assert.deepEqual(await scene.settled(), ['ADDED a@11']);
    scene.put('b');
    assert.deepEqual(await scene.settled(), ['ADDED a@11']);
    assert.equal(session.deliveredTo(), undefined);
    scene.receiver.isFull = false;
    session.resume();
    assert.deepEqual(await scene.settled(), ['ADDED a@11', 'ADDED b@12']);
  });

  it('begins with the state, and goes on with what has changed meanwhile', async () => {
    scene.put('a');
    scene.put('b');
    let release = (): void => undefined;
    scene.let = new Promise((resolve) => (release = resolve));
    scene.watch({ at: 'state', encodeInitial: () => assert.fail() }).resume();
    await scene.settled();
    scene.remove('a');
    release();
    assert.deepEqual(await scene.settled(), ['ADDED a@11', 'ADDED b@12', 'DELETED a@13']);
  });

  it('that falls off the end of the history begins anew', async () => {
    scene = new Scene(5_000);
    let release = (): void => undefined;
    scene.let = new Promise((resolve) => (release = resolve));
    scene.watch(fromNow).resume();
    scene.put('a');
    await scene.settled();
    for (let i = 0; i < 100; i++) scene.put(`o${i}`);
    release();
    assert.deepEqual(await scene.settled(), ['ADDED a@11']);
    assert.equal(scene.receiver.end, 'expired');
  });

  it('ends with its resource, and with what cannot be converted', async () => {
    scene.watch(fromNow).resume();
    await scene.settled();
    scene.cache.close();
    await scene.settled();
    assert.equal(scene.receiver.end, 'expired');
    const other = new Scene();
    other.failure = new StatusError('InternalError', 'no');
    other.watch(fromNow).resume();
    other.put('a');
    assert.deepEqual(await other.settled(), []);
    assert.equal(other.receiver.end, other.failure);
    assert.equal(other.cache.watchers.count, 0);
  });

  const past = (name: string, at: number): StoreEvent => ({
    type: 'put',
    key: `${PREFIX}${name}`,
    value: bytesOf(name),
    modRevision: revision(at),
    createRevision: revision(at),
    previous: undefined,
  });

  it('reads from the store what the cache does not remember', async () => {
    scene.watch({ at: 'change', revision: 5 }).resume();
    const [handler = assert.fail()] = scene.handlers;
    handler.events([past('a', 6), past('b', 7)]);
    assert.deepEqual(await scene.settled(), ['ADDED a@6', 'ADDED b@7']);
    scene.put('c');
    assert.deepEqual(await scene.settled(), ['ADDED a@6', 'ADDED b@7']);
    handler.events([past('d', 10), past('e', 11)]);
    assert.deepEqual(await scene.settled(), ['ADDED a@6', 'ADDED b@7', 'ADDED d@10', 'ADDED c@11']);
  });

  it('begins anew when the store does not remember either', async () => {
    scene.watch({ at: 'change', revision: 5 }).resume();
    scene.handlers[0]?.ended(new StoreError('compacted', 'gone'));
    await scene.settled();
    assert.equal(scene.receiver.end, 'expired');
    const other = new Scene();
    other.watch({ at: 'change', revision: 5 }).resume();
    const failure = new StoreError('unavailable', 'away');
    other.handlers[0]?.ended(failure);
    await other.settled();
    assert.equal(other.receiver.end, failure);
  });
});
