import { apiVersionOf, type JsonObject } from '../../machinery/meta/object.js';
import { connectionError } from '../remote/connection-errors.js';
import type { Exchanged, Opened } from '../remote/exchange.js';
import { RemoteError } from '../remote/remote-service.js';
import {
  ApiError,
  type ApplyOptions,
  type DeleteOptions,
  type ListOptions,
  type ObjectList,
  type PatchType,
  type ResourceClient,
  type SubresourceOption,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from './client.js';
import type { Codec, EncodedBody, View } from './codec.js';
import { errorOf, unreadable } from './errors.js';
import { collectionPath, listQuery, objectPath, watchQuery, withQuery, writeQuery } from './paths.js';
import type { AnyObject, Live, ObjectName, ResourceType } from './resource-type.js';
import type { ApiRequest, Transport } from './transport.js';
import { watchEvents } from './watch-events.js';

const PAGE = 500;
const GONE = 410;
const PATCH_TYPES: Readonly<Record<PatchType | 'apply', string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

export interface RequestDeps {
  readonly transport: Transport;
  readonly codec: Codec;
  /** The annotation of the bookmark that ends the initial events. */
  readonly initialEventsEnd: string;
}

interface ListBody {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items?: readonly Record<string, unknown>[] | null;
}

interface Page<T> extends ObjectList<T> {
  readonly next: string | undefined;
}

/** Requests for the objects of one resource, or for their metadata. */
export class ResourceRequests<T extends AnyObject> implements ResourceClient<T> {
  readonly type: ResourceType<T>;
  readonly #view: View;
  readonly #d: RequestDeps;

  constructor(type: ResourceType<T>, view: View, d: RequestDeps) {
    this.type = type;
    this.#view = view;
    this.#d = d;
  }

  get(name: ObjectName, signal: AbortSignal): Promise<Live<T>> {
    return this.#object({ method: 'GET', path: objectPath(this.type, name) }, signal);
  }

  async list(o: ListOptions, signal: AbortSignal): Promise<ObjectList<Live<T>>> {
    const items: Live<T>[] = [];
    let resourceVersion = '';
    try {
      for await (const page of this.pages(o, signal)) {
        for (const item of page.items) items.push(item);
        ({ resourceVersion } = page);
      }
    } catch (err) {
      if (!(err instanceof ApiError) || err.code !== GONE || items.length === 0) throw err;
      const { limit: _, ...whole } = o;
      return this.#page({ ...whole, limit: 0 }, undefined, signal);
    }
    return { items, resourceVersion };
  }

  async *pages(o: ListOptions, signal: AbortSignal): AsyncGenerator<ObjectList<Live<T>>> {
    const bounded = { limit: PAGE, ...o };
    let next: string | undefined;
    do {
      const page: Page<Live<T>> = await this.#page(bounded, next, signal);
      ({ next } = page);
      yield page;
    } while (next !== undefined);
  }

  async *watch(o: WatchOptions, signal: AbortSignal): AsyncGenerator<WatchEvent<Live<T>>> {
    const path = withQuery(collectionPath(this.type, o.namespace), watchQuery(o));
    const request: ApiRequest = { method: 'GET', path, headers: { accept: this.#accept('watch') } };
    const what = `GET ${collectionPath(this.type, o.namespace)}`;
    const { answer, end } = await this.#d.transport.open(request, signal);
    try {
      if ('body' in answer) throw this.#errorOf(what, answer);
      const contentType = answer.headers['content-type'];
      for await (const event of watchEvents(piecesOf(what, answer, signal), contentType, this.#d.codec)) {
        yield this.#eventOf(event.type, event.object);
      }
    } catch (err) {
      if (signal.aborted) throw signal.reason;
      throw err instanceof ApiError || err instanceof RemoteError ? err : unreadable(what, err);
    } finally {
      if ('stream' in answer) answer.stream.destroy();
      end();
    }
  }

  create(object: T, o: WriteOptions, signal: AbortSignal): Promise<Live<T>> {
    const path = withQuery(collectionPath(this.type, object.metadata?.namespace), writeQuery(o));
    return this.#object({ method: 'POST', path, ...this.#d.codec.encode(this.type, object) }, signal);
  }

  update(object: T, o: WriteOptions & SubresourceOption, signal: AbortSignal): Promise<Live<T>> {
    const path = withQuery(objectPath(this.type, namesOf(object), o.subresource), writeQuery(o));
    return this.#object({ method: 'PUT', path, ...this.#d.codec.encode(this.type, object) }, signal);
  }

  patch(
    name: ObjectName,
    type: PatchType,
    patch: unknown,
    o: WriteOptions & SubresourceOption,
    signal: AbortSignal,
  ): Promise<Live<T>> {
    return this.#patch(name, type, patch, o, signal);
  }

  apply(object: T, o: ApplyOptions & SubresourceOption, signal: AbortSignal): Promise<Live<T>> {
    const whole = { kind: this.type.kind, apiVersion: apiVersionOf(this.type), ...object };
    return this.#patch(namesOf(object), 'apply', whole, o, signal);
  }

  async delete(name: ObjectName, o: DeleteOptions, signal: AbortSignal): Promise<void> {
    await this.#answer({ method: 'DELETE', path: objectPath(this.type, name), ...deleteBody(o) }, 'object', signal);
  }

  async deleteCollection(o: DeleteOptions & ListOptions, signal: AbortSignal): Promise<void> {
    const path = withQuery(collectionPath(this.type, o.namespace), listQuery(o));
    await this.#answer({ method: 'DELETE', path, ...deleteBody(o) }, 'list', signal);
  }

  async post<R extends AnyObject>(name: ObjectName, subresource: string, body: R, signal: AbortSignal): Promise<R> {
    const path = objectPath(this.type, name, subresource);
    const request = { method: 'POST', path, contentType: JSON_TYPE, body: Buffer.from(JSON.stringify(body)) } as const;
    return (await this.#answer(request, JSON_TYPE, signal)) as unknown as R; // the caller knows what the sub-resource gives
  }

  #accept(of: 'object' | 'list' | 'watch'): string {
    return this.#d.codec.accept(this.type, this.#view, of);
  }

  #patch(
    name: ObjectName,
    type: keyof typeof PATCH_TYPES,
    patch: unknown,
    o: WriteOptions & SubresourceOption,
    signal: AbortSignal,
  ): Promise<Live<T>> {
    const path = withQuery(objectPath(this.type, name, o.subresource), writeQuery(o));
    const body = Buffer.from(JSON.stringify(patch));
    return this.#object({ method: 'PATCH', path, contentType: PATCH_TYPES[type], body }, signal);
  }

  async #object(request: Sent, signal: AbortSignal): Promise<Live<T>> {
    return this.#live(await this.#answer(request, 'object', signal));
  }

  async #page(o: ListOptions, continueAt: string | undefined, signal: AbortSignal): Promise<Page<Live<T>>> {
    const path = withQuery(collectionPath(this.type, o.namespace), listQuery(o, continueAt));
    const list = (await this.#answer({ method: 'GET', path }, 'list', signal)) as ListBody;
    const { resourceVersion = '', continue: next = '', remainingItemCount } = list.metadata ?? {};
    return {
      items: (list.items ?? []).map((item) => this.#live(item)),
      resourceVersion,
      ...(remainingItemCount === undefined ? {} : { remaining: remainingItemCount }),
      next: next === '' ? undefined : next,
    };
  }

  /** @param of Or the header Accept itself. */
  async #answer(
    { contentType, ...request }: Sent,
    of: 'object' | 'list' | typeof JSON_TYPE,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const headers = {
      accept: of === JSON_TYPE ? of : this.#accept(of),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    };
    const answer = await this.#d.transport.send({ ...request, headers }, signal);
    const what = `${request.method} ${request.path.split('?', 1)[0] ?? ''}`;
    if (answer.status >= 300) throw this.#errorOf(what, answer);
    try {
      return this.#d.codec.decode(answer.headers['content-type'], answer.body);
    } catch (err) {
      throw unreadable(what, err);
    }
  }

  #errorOf(what: string, answer: Exchanged): Error {
    return errorOf(what, answer, () => this.#d.codec.decode(answer.headers['content-type'], answer.body));
  }

  #eventOf(type: string, object: JsonObject): WatchEvent<Live<T>> {
    if (type !== 'BOOKMARK') return { type: type as 'ADDED' | 'MODIFIED' | 'DELETED', object: this.#live(object) };
    const { resourceVersion = '', annotations } = (object as AnyObject).metadata ?? {};
    return { type, resourceVersion, isInitialEnd: annotations?.[this.#d.initialEventsEnd] === 'true' };
  }

  /**
   * An object with its kind and apiVersion, which items of lists do not have. Metadata gets those of the object that it is
   * of; where the server gave the whole object, the rest is left out.
   */
  #live(object: object): Live<T> {
    const { kind } = this.type;
    const apiVersion = apiVersionOf(this.type);
    if (this.#view === 'metadata') {
      return { kind, apiVersion, metadata: (object as AnyObject).metadata } as Live<T>; // T is AnyObject here
    }
    const its = object as { kind?: string; apiVersion?: string };
    its.kind ??= kind; // it was made a moment ago, and is nobody else's yet
    its.apiVersion ??= apiVersion;
    return its as Live<T>; // what the server gives of the resource
  }
}

const JSON_TYPE = 'application/json';

type Sent = Pick<ApiRequest, 'method' | 'path'> & Partial<EncodedBody>;

const namesOf = ({ metadata }: AnyObject): ObjectName => ({
  name: metadata?.name ?? '',
  ...(metadata?.namespace === undefined ? {} : { namespace: metadata.namespace }),
});

function deleteBody({ propagationPolicy, gracePeriodSeconds, preconditions, dryRun }: DeleteOptions): EncodedBody {
  const options = {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    propagationPolicy,
    gracePeriodSeconds,
    preconditions,
    dryRun: dryRun === true ? ['All'] : undefined,
  };
  return { contentType: JSON_TYPE, body: Buffer.from(JSON.stringify(options)) };
}

/** The pieces of an answer. @throws {RemoteError} when it is cut @throws `signal.reason` */
async function* piecesOf(what: string, { stream, isWhole }: Opened, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const piece of stream) yield piece as Buffer;
  } catch (err) {
    throw signal.aborted ? signal.reason : connectionError(what, err);
  }
  signal.throwIfAborted();
  if (!isWhole()) throw new RemoteError(`${what}: the connection was cut`);
}
