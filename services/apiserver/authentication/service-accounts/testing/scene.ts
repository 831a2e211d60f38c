import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeObject } from '../../../../machinery/codec/encode.js';
import { parseFlags } from '../../../../machinery/flags/flags.js';
import { openEmbeddedStore } from '../../../../storage/embedded/embedded-store.js';
import type { KeyValueStore } from '../../../../storage/store.js';
import { buildCore, type Core } from '../../../server/core.js';
import { createMetrics } from '../../../metrics/metrics.js';
import { API_SERVER_FLAGS } from '../../../options/flags.js';
import { keyOf, type StoredResource } from '../../../registry/resources.js';

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const WITHIN_MS = 5_000;
const KINDS = { secrets: 'Secret', serviceaccounts: 'ServiceAccount', pods: 'Pod' } as const;

export type Resource = keyof typeof KINDS;

export interface ObjectParts {
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly deletionTimestamp?: string;
  readonly type?: string;
  readonly spec?: object;
  /** Values in the clear. */
  readonly data?: Readonly<Record<string, string>>;
}

/** A server's view of a real store, which counts reads of the store. */
export class ObjectScene {
  readonly core: Core;
  /** How often an object was asked of the store. */
  asked = 0;
  /** The answer of the store as long as it is set. */
  failure: Error | undefined;
  /** Called between the store's answer and its arrival. */
  beforeAnswer: (() => Promise<void>) | undefined;
  readonly #directory: string;
  readonly #store: KeyValueStore;
  readonly #stop: AbortController;
  #following: Promise<void> | undefined;
  #stopFollowing = new AbortController();

  private constructor(directory: string, store: KeyValueStore, stop: AbortController, build: (s: ObjectScene) => Core) {
    this.#directory = directory;
    this.#store = store;
    this.#stop = stop;
    this.core = build(this);
  }

  static async open(): Promise<ObjectScene> {
    const directory = mkdtempSync(join(tmpdir(), 'accounts-'));
    const store = await openEmbeddedStore({ directory, log: quiet, onFatal: () => undefined });
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const seen: { scene?: ObjectScene } = {};
    const counting = new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          const call = (): unknown => Reflect.apply(member, target, args) as unknown;
          return name === 'get' && seen.scene !== undefined ? seen.scene.#onAsked(call) : call();
        };
      },
    });
    const { options } = parseFlags(API_SERVER_FLAGS, []);
    const core = await buildCore(options, quiet, counting, createMetrics(), stop.signal);
    const scene = new ObjectScene(directory, store, stop, () => core);
    seen.scene = scene;
    await scene.follow();
    return scene;
  }

  async #onAsked(call: () => unknown): Promise<unknown> {
    this.asked++;
    if (this.failure !== undefined) throw this.failure;
    const answer = await call();
    await this.beforeAnswer?.();
    return answer;
  }

  /** The cache follows the store, from the start until it `lags`. */
  async follow(): Promise<void> {
    this.#stopFollowing = new AbortController();
    const signal = AbortSignal.any([this.#stopFollowing.signal, this.#stop.signal]);
    this.#following = this.core.feed.run(signal);
    await this.core.feed.whenLoaded(signal);
  }

  /** From now on the cache stays as it is. */
  async lag(): Promise<void> {
    this.#stopFollowing.abort(new Error('The cache lags now'));
    await this.#following;
    this.#following = undefined;
  }

  /** Writes an object; when this resolves the cache has it, unless it lags. */
  async put(resource: Resource, o: ObjectParts): Promise<void> {
    const { namespace = 'ns', name, uid = `uid-of-${name}`, deletionTimestamp, type, spec, data } = o;
    const encoded = Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
    const value = encodeObject({
      kind: KINDS[resource],
      apiVersion: 'v1',
      metadata: { name, namespace, uid, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
      ...(type === undefined ? {} : { type }),
      ...(spec === undefined ? {} : { spec }),
      ...(data === undefined ? {} : { data: Object.fromEntries(encoded) as object }),
    });
    await this.#write({ type: 'put', key: keyOf(this.stored(resource), namespace, name), value });
  }

  async remove(resource: Resource, name: string, namespace = 'ns'): Promise<void> {
    await this.#write({ type: 'delete', key: keyOf(this.stored(resource), namespace, name) });
  }

  stored(resource: Resource): StoredResource {
    const found = this.core.resources.stored('', resource);
    if (found === undefined) throw new Error(`No declaration of ${resource}`);
    return found;
  }

  async #write(
    operation: { type: 'put'; key: string; value: Buffer } | { type: 'delete'; key: string },
  ): Promise<void> {
    const { revision } = await this.#store.transact({ conditions: [], operations: [operation] }, this.#stop.signal);
    if (this.#following === undefined) return;
    if (!(await this.core.feed.waitFor(revision, WITHIN_MS))) throw new Error('The cache did not follow');
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('The test is over'));
    await this.#following;
    await this.#store.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
