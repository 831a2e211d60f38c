import type { Handler, IndexFunction, Informer, Informers, Store } from '../informer/informer.js';
import {
  ApiError,
  type ApiClient,
  type DeleteOptions,
  type ResourceClient,
  type SubresourceOption,
} from '../rest/client.js';
import { keyOf, type AnyObject, type Live, type ResourceType } from '../rest/resource-type.js';
import { StatusError, type Reason } from '../../machinery/meta/status.js';

type Stored = Live<AnyObject>;
type Shape = Readonly<Record<string, unknown>>;

/* eslint-disable @typescript-eslint/require-await -- what fails here has to reject, as requests do */

/** One request, e.g. `create secrets default/a`, `update serviceaccounts/status default/a`. */
export type Asked = string;

/**
 * Objects in memory behind the interfaces of the client, for tests of what stands on it: it says what it was asked, refuses what
 * it is told to, and its informers can be left behind. Of what servers do it knows finalizers alone; the rest is tested with
 * a server.
 */
export class FakeServer {
  readonly asked: Asked[] = [];
  /** Whether informers wait for `catchUp`. */
  isLagging = false;
  /** Whether finalizers, and policies of deletions, keep objects that clients delete. */
  mindsFinalizers = false;
  #version = 0;
  readonly #objects = new Map<string, Map<string, Stored>>();
  readonly #informers = new Map<string, FakeInformer>();
  readonly #late: (() => void)[] = [];
  readonly #refusals: { readonly asked: RegExp; readonly err: Error }[] = [];
  readonly #answers = new Map<string, (object: AnyObject) => AnyObject>();

  /** The next request that matches fails so. */
  refuse(asked: RegExp, reason: Reason, causes: readonly string[] = []): void {
    const details = { causes: causes.map((cause) => ({ reason: cause })) };
    this.#refusals.push({ asked, err: errorOf(reason, details) });
  }

  /** Objects of the type are answered so when they are created, and not kept: reviews. */
  answer<T extends AnyObject>(type: ResourceType<T>, answer: (object: T) => T): void {
    this.#answers.set(type.resource, answer as unknown as (object: AnyObject) => AnyObject);
  }

  /** As another client would. @returns The object as it is stored. */
  put<T extends AnyObject>(type: ResourceType<T>, object: T): Live<T> {
    const before = this.#of(type).get(keyOf(object.metadata as Stored['metadata']));
    return this.#store(type, object, before) as Live<T>;
  }

  /** As another client would, with no finalizers minded. */
  remove(type: ResourceType, key: string): void {
    const before = this.#of(type).get(key);
    if (before === undefined) return;
    this.#of(type).delete(key);
    this.#show(type, (informer) => informer.remove(before));
  }

  get<T extends AnyObject>(type: ResourceType<T>, key: string): Live<T> | undefined {
    return this.#of(type).get(key) as Live<T> | undefined;
  }

  list<T extends AnyObject>(type: ResourceType<T>): readonly Live<T>[] {
    return [...this.#of(type).values()] as Live<T>[];
  }

  /** Informers see what they have missed. */
  catchUp(): void {
    for (const show of this.#late.splice(0)) show();
  }

  get informers(): Informers {
    const of = <T extends AnyObject>(type: ResourceType<T>, selection = {}): Informer<T> => {
      const id = `${type.resource} ${JSON.stringify(selection)}`;
      const informer = this.#informers.get(id) ?? new FakeInformer(type, [...this.#of(type).values()], selection);
      this.#informers.set(id, informer);
      return informer as unknown as Informer<T>;
    };
    return { of, metadataOf: of, drop: () => undefined, run: () => Promise.resolve() };
  }

  get client(): ApiClient {
    const resource = <T extends AnyObject>(type: ResourceType<T>): ResourceClient<T> => this.#resource(type);
    return { resource, metadata: resource, raw: unused, close: () => undefined };
  }

  #resource<T extends AnyObject>(type: ResourceType<T>): ResourceClient<T> {
    const live = (object: Stored): Live<T> => object as Live<T>;
    const here = (key: string): Stored => this.#of(type).get(key) ?? fail('NotFound');
    const key = ({ metadata }: AnyObject): string => keyOf(metadata as Stored['metadata']);
    const change = (verb: string, object: AnyObject, { subresource }: SubresourceOption): Live<T> => {
      this.#ask(verb, type, key(object), subresource);
      const before = here(key(object));
      const { resourceVersion = before.metadata.resourceVersion, uid = before.metadata.uid } = object.metadata ?? {};
      if (resourceVersion !== before.metadata.resourceVersion || uid !== before.metadata.uid) fail('Conflict');
      const whole =
        verb === 'update' ? object : { ...before, ...object, metadata: merged(before.metadata, object.metadata ?? {}) };
      const stored = live(this.#store(type, whole, before));
      if (this.mindsFinalizers && isHeld(before) && !isHeld(stored)) this.remove(type, key(object));
      return stored;
    };
    return {
      type,
      get: async (name) => {
        this.#ask('get', type, keyOf(name));
        return live(here(keyOf(name)));
      },
      list: async ({ namespace = '' }) => {
        this.#ask('list', type, namespace);
        const all = [...this.#of(type).values()].filter(
          (it) => namespace === '' || it.metadata.namespace === namespace,
        );
        return { items: all.map(live), resourceVersion: String(this.#version) };
      },
      create: async (object) => {
        const answer = this.#answers.get(type.resource);
        this.#ask('create', type, answer === undefined ? key(object) : '');
        if (answer !== undefined) return live(answer(object) as Stored);
        if (this.#of(type).has(key(object))) fail('AlreadyExists');
        return live(this.#store(type, object, undefined));
      },
      update: async (object, o) => change('update', object, o),
      apply: async (object, o) => change('apply', object, o),
      patch: async (name, _, patch, o) => change('patch', { ...(patch as AnyObject), metadata: { ...(patch as AnyObject).metadata, ...name } }, o), // prettier-ignore
      delete: async (name, { preconditions, propagationPolicy }) => {
        this.#ask('delete', type, keyOf(name));
        const before = here(keyOf(name));
        const { uid, resourceVersion } = before.metadata;
        if ((preconditions?.uid ?? uid) !== uid) fail('Conflict');
        if ((preconditions?.resourceVersion ?? resourceVersion) !== resourceVersion) fail('Conflict');
        const marked = markedForDeletion(before, propagationPolicy);
        if (this.mindsFinalizers && isHeld(marked)) this.#store(type, marked, before);
        else this.remove(type, keyOf(name));
      },
      deleteCollection: async ({ namespace = '' }) => {
        this.#ask('deletecollection', type, namespace);
        for (const [at, { metadata }] of [...this.#of(type)]) {
          if (metadata.namespace === namespace && (metadata.finalizers ?? []).length === 0) this.remove(type, at);
        }
      },
      pages: unused,
      watch: unused,
      post: unused,
    };
  }

  #ask(verb: string, { resource }: ResourceType, key: string, subresource = ''): void {
    const asked = `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`} ${key}`;
    this.asked.push(asked);
    const at = this.#refusals.findIndex((refusal) => refusal.asked.test(asked));
    const [refusal] = at < 0 ? [] : this.#refusals.splice(at, 1);
    if (refusal !== undefined) throw refusal.err;
  }

  #store(type: ResourceType, object: AnyObject, before: Stored | undefined): Stored {
    const resourceVersion = String(++this.#version);
    const uid = object.metadata?.uid ?? before?.metadata.uid ?? `uid-${resourceVersion}`;
    const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
    const metadata = { ...object.metadata, name: object.metadata?.name ?? '', uid, resourceVersion };
    const stored: Stored = { ...object, kind: type.kind, apiVersion, metadata };
    this.#of(type).set(keyOf(metadata), stored);
    this.#show(type, (informer) => informer.put(stored));
    return stored;
  }

  #show(type: ResourceType, show: (informer: FakeInformer) => void): void {
    const all = (): void => {
      for (const informer of this.#informers.values()) if (informer.type.resource === type.resource) show(informer);
    };
    if (this.isLagging) this.#late.push(all);
    else all();
  }

  #of({ resource }: ResourceType): Map<string, Stored> {
    const objects = this.#objects.get(resource) ?? new Map<string, Stored>();
    this.#objects.set(resource, objects);
    return objects;
  }
}

/** What a merge patch makes of metadata. */
const merged = (metadata: object, patch: object): object =>
  Object.fromEntries(Object.entries({ ...metadata, ...patch }).filter(([, value]) => value !== null));

const isHeld = ({ metadata: { deletionTimestamp, finalizers = [] } }: Stored): boolean =>
  deletionTimestamp !== undefined && finalizers.length > 0;

const POLICY_FINALIZERS = { Orphan: ['orphan'], Foreground: ['foregroundDeletion'], Background: [] } as const;

function markedForDeletion(object: Stored, policy: DeleteOptions['propagationPolicy']): Stored {
  const { deletionTimestamp = '2026-01-01T00:00:00Z', finalizers = [] } = object.metadata;
  const others = finalizers.filter((it) => it !== 'orphan' && it !== 'foregroundDeletion');
  const wanted = policy === undefined ? finalizers : [...others, ...POLICY_FINALIZERS[policy]];
  return { ...object, metadata: { ...object.metadata, deletionTimestamp, finalizers: wanted } };
}

/** Understands field selectors of equality on `type`, `metadata.name` and the like. */
class FakeInformer implements Informer<AnyObject> {
  readonly type: ResourceType;
  readonly isSynced = true;
  readonly store: Store<Stored>;
  readonly #objects = new Map<string, Stored>();
  readonly #indexes = new Map<string, IndexFunction<Stored>>();
  readonly #handlers = new Set<Handler<Stored>>();
  readonly #selection: { readonly namespace?: string; readonly fieldSelector?: string };

  constructor(type: ResourceType, present: readonly Stored[], selection: object) {
    this.type = type;
    this.#selection = selection;
    const of = (namespace?: string): readonly Stored[] =>
      [...this.#objects.values()].filter((it) => namespace === undefined || it.metadata.namespace === namespace);
    this.store = {
      get: (key) => this.#objects.get(key),
      list: of,
      by: (index, value) => of().filter((it) => this.#indexes.get(index)?.(it).includes(value)),
      size: 0,
    };
    for (const object of present) this.put(object);
  }

  synced(): Promise<void> {
    return Promise.resolve();
  }

  handle(handler: Handler<Stored>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#objects.values()) handler.added?.(object, true);
    return () => this.#handlers.delete(handler);
  }

  index(name: string, of: IndexFunction<Stored>): void {
    this.#indexes.set(name, of);
  }

  put(object: Stored): void {
    if (!this.#selects(object)) return;
    const key = keyOf(object.metadata);
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const handler of this.#handlers) {
      if (old === undefined) handler.added?.(object, false);
      else handler.updated?.(object, old);
    }
  }

  remove(object: Stored): void {
    if (!this.#objects.delete(keyOf(object.metadata))) return;
    for (const handler of this.#handlers) handler.deleted?.(object);
  }

  #selects(object: Stored): boolean {
    const { namespace, fieldSelector = '' } = this.#selection;
    if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
    return fieldSelector.split(',').every((term) => {
      const [path = '', value] = term.split('=');
      const at = path.split('.').reduce<unknown>((node, member) => (node as Shape | undefined)?.[member], object);
      return term === '' || at === value;
    });
  }
}

function errorOf(reason: Reason, details = {}): ApiError {
  const err = new StatusError(reason, `${reason}, as the test wants`);
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code: err.code,
    reason,
    details,
  } as const;
  return new ApiError(err.code, err.message, { status });
}

function fail(reason: Reason): never {
  throw errorOf(reason);
}

function unused(): never {
  throw new Error('No test needs this yet');
}
