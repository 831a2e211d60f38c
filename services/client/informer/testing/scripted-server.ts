import { RemoteError } from '../../remote/remote-service.js';
import {
  ApiError,
  type ListOptions,
  type ObjectList,
  type ResourceClient,
  type WatchEvent,
  type WatchOptions,
} from '../../rest/client.js';
import { keyOf, type AnyObject, type Live, type ResourceType } from '../../rest/resource-type.js';

type Stored = Live<AnyObject>;
type Change = { readonly version: number; readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Stored };

export const THINGS: ResourceType = {
  group: 'x.io',
  version: 'v1',
  resource: 'things',
  kind: 'Thing',
  namespaced: true,
};

const status = (code: number, reason: string, cause?: string): ApiError =>
  new ApiError(code, reason, {
    status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, ...(cause === undefined ? {} : { details: { causes: [{ reason: cause }] } }) }, // prettier-ignore
  });

/** A resource with its history, behind the interface of its client, which fails when a script says so. */
export class ScriptedServer {
  readonly client: Pick<ResourceClient<AnyObject>, 'type' | 'pages' | 'watch'> = {
    type: THINGS,
    pages: (o, signal) => this.#pages(o, signal),
    watch: (o, signal) => this.#watch(o, signal),
  };
  /** Each request, e.g. `list 0`, `watch 7`, `stream 0`. */
  readonly asked: string[] = [];
  streamsState = true;
  /** How many steps each request goes before it fails; when there are no more, none does. */
  readonly failures: number[] = [];
  #version = 10;
  #compactedAt = 0;
  #cuts = 0;
  readonly #history: Change[] = [];
  readonly objects = new Map<string, Stored>();
  #wake: (() => void)[] = [];

  get version(): string {
    return String(this.#version);
  }

  put(name: string, isNew = false): Stored {
    const before = isNew ? undefined : this.objects.get(name);
    if (isNew && this.objects.has(name)) this.remove(name);
    const version = ++this.#version;
    const uid = before?.metadata.uid ?? `uid-${version}`;
    const object: Stored = {
      kind: 'Thing',
      apiVersion: 'x.io/v1',
      metadata: { name, uid, resourceVersion: String(version) },
    };
    this.objects.set(name, object);
    this.#note({ version, type: before === undefined ? 'ADDED' : 'MODIFIED', object });
    return object;
  }

  remove(name: string): void {
    const before = this.objects.get(name);
    if (before === undefined) return;
    this.objects.delete(name);
    const version = ++this.#version;
    const object = { ...before, metadata: { ...before.metadata, resourceVersion: String(version) } };
    this.#note({ version, type: 'DELETED', object });
  }

  /** What was before is not known any more. */
  compact(): void {
    this.#compactedAt = this.#version;
  }

  /** The store is put back to where nothing was. */
  restore(): void {
    this.objects.clear();
    this.#history.length = 0;
    this.#version = 1;
    this.#compactedAt = 0;
    this.cut();
  }

  /** Ends all that is under way. */
  cut(): void {
    this.#cuts++;
    this.#note(undefined);
  }

  #note(change: Change | undefined): void {
    if (change !== undefined) this.#history.push(change);
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** Fails after so many steps as the script says. */
  #step(): () => void {
    let left = this.failures.shift() ?? Infinity;
    const cuts = this.#cuts;
    return () => {
      if (left-- <= 0 || cuts !== this.#cuts) throw new RemoteError('the wire was cut');
    };
  }

  #check(resourceVersion = ''): void {
    if (Number(resourceVersion) > this.#version) throw status(504, 'Timeout', 'ResourceVersionTooLarge');
  }

  async *#pages({ limit = 2, resourceVersion }: ListOptions, signal: AbortSignal): AsyncGenerator<ObjectList<Stored>> {
    this.asked.push(`list ${resourceVersion ?? ''}`);
    const step = this.#step();
    this.#check(resourceVersion);
    const all = [...this.objects.values()];
    const listed = this.#version;
    const size = limit === 0 ? Infinity : limit;
    for (let i = 0; i === 0 || i < all.length; i += size) {
      await Promise.resolve();
      signal.throwIfAborted();
      step();
      if (i > 0 && this.#compactedAt > listed) throw status(410, 'Expired');
      yield { items: all.slice(i, i + size), resourceVersion: String(listed) };
    }
  }

  async *#watch(o: WatchOptions, signal: AbortSignal): AsyncGenerator<WatchEvent<Stored>> {
    const { resourceVersion = '', sendInitialEvents = false } = o;
    this.asked.push(`${sendInitialEvents ? 'stream' : 'watch'} ${resourceVersion}`);
    if (sendInitialEvents && !this.streamsState) throw status(422, 'Invalid');
    const step = this.#step();
    this.#check(resourceVersion);
    let at = Number(resourceVersion);
    if (sendInitialEvents) {
      at = this.#version;
      for (const object of [...this.objects.values()]) {
        await Promise.resolve();
        step();
        yield { type: 'ADDED', object };
      }
      step();
      yield { type: 'BOOKMARK', resourceVersion: String(at), isInitialEnd: true };
    }
    for (;;) {
      if (at < this.#compactedAt && at < this.#version) throw status(410, 'Expired');
      const next = this.#history.find(({ version }) => version > at);
      if (next === undefined) await this.#more(signal);
      signal.throwIfAborted();
      step();
      if (next === undefined) continue;
      at = next.version;
      yield { type: next.type, object: next.object };
    }
  }

  #more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

/** What a handler was told, and whether that can have been: each state once, in order, the present ones last. */
export class Witness {
  readonly lines: string[] = [];
  readonly states = new Map<string, Stored>();
  readonly handler = {
    added: (object: Stored, isInitial: boolean): void => {
      this.#expect(!this.states.has(keyOf(object.metadata)), 'added twice', object);
      this.#take(isInitial ? 'initial' : 'added', object);
    },
    updated: (object: Stored, old: Stored): void => {
      const known = this.states.get(keyOf(object.metadata));
      this.#expect(known === old, 'updated from another state', object);
      this.#expect(old.metadata.uid === object.metadata.uid, 'updated into another object', object);
      this.#expect(old.metadata.resourceVersion !== object.metadata.resourceVersion, 'told twice', object);
      this.#take('updated', object);
    },
    deleted: (last: Stored): void => {
      this.#expect(this.states.get(keyOf(last.metadata))?.metadata.uid === last.metadata.uid, 'deleted unknown', last);
      this.lines.push(`deleted ${keyOf(last.metadata)}`);
      this.states.delete(keyOf(last.metadata));
    },
  };
  readonly wrong: string[] = [];

  #take(how: string, object: Stored): void {
    this.lines.push(`${how} ${keyOf(object.metadata)}`);
    this.states.set(keyOf(object.metadata), object);
  }

  #expect(isSo: boolean, what: string, { metadata }: Stored): void {
    if (!isSo) this.wrong.push(`${what}: ${keyOf(metadata)} at ${metadata.resourceVersion}`);
  }
}
