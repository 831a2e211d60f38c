import type { StatusBody } from '../../machinery/meta/status.js';
import type { AnyObject, Live, ObjectName, ResourceType } from './resource-type.js';

export interface ListOptions {
  /** Absent or '': of all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Objects a page. @default 500 */
  readonly limit?: number;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact';
}

export interface WatchOptions extends Omit<ListOptions, 'limit'> {
  readonly allowWatchBookmarks?: boolean;
  /** The state comes as events first, up to a bookmark that says so. */
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly remaining?: number;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly isInitialEnd: boolean };

export interface WriteOptions {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  readonly force?: boolean;
}

export type PatchType = 'json' | 'merge' | 'strategic';

export interface DeleteOptions {
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
}

/** A write addresses the object itself, or one of its sub-resources (`status`, `approval`, `finalize`, `token`...). */
export interface SubresourceOption {
  readonly subresource?: string;
}

/**
 * Requests for the objects of one resource. Each ends with its signal. All throw `ApiError` for what the server refuses,
 * `RemoteError` when there is no answer after all tries, and `signal.reason`.
 */
export interface ResourceClient<T extends AnyObject> {
  readonly type: ResourceType<T>;
  get(name: ObjectName, signal: AbortSignal): Promise<Live<T>>;
  /** Page by page, joined. A continue token that expired meanwhile starts once more without pages. */
  list(o: ListOptions, signal: AbortSignal): Promise<ObjectList<Live<T>>>;
  /** Page by page, for callers that need no whole list. @throws {ApiError} 410 when the token of the next page expired. */
  pages(o: ListOptions, signal: AbortSignal): AsyncIterable<ObjectList<Live<T>>>;
  /** Ends when the server ends it. @throws {ApiError} Also for an event of type ERROR, e.g. 410. */
  watch(o: WatchOptions, signal: AbortSignal): AsyncIterable<WatchEvent<Live<T>>>;
  /** In the namespace that its metadata names. */
  create(object: T, o: WriteOptions, signal: AbortSignal): Promise<Live<T>>;
  update(object: T, o: WriteOptions & SubresourceOption, signal: AbortSignal): Promise<Live<T>>;
  patch(
    name: ObjectName,
    type: PatchType,
    patch: unknown,
    o: WriteOptions & SubresourceOption,
    signal: AbortSignal,
  ): Promise<Live<T>>;
  apply(object: T, o: ApplyOptions & SubresourceOption, signal: AbortSignal): Promise<Live<T>>;
  /** Resolves when the server has accepted it; finalizers may keep the object. */
  delete(name: ObjectName, o: DeleteOptions, signal: AbortSignal): Promise<void>;
  deleteCollection(o: DeleteOptions & ListOptions, signal: AbortSignal): Promise<void>;
  /** A POST to a sub-resource that answers with another type, e.g. `token`, `eviction`, `binding`. */
  post<R extends AnyObject>(name: ObjectName, subresource: string, body: R, signal: AbortSignal): Promise<R>;
}

/** Requests that are about no object, e.g. discovery and health. */
export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query, e.g. `/apis?x=y`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface ApiClient {
  resource<T extends AnyObject>(type: ResourceType<T>): ResourceClient<T>;
  /** The same resource, of which the server sends metadata alone. Patches and deletes are as ever. */
  metadata(type: ResourceType): ResourceClient<AnyObject>;
  /** Any status is an answer. Retried as all requests are. */
  raw(request: RawRequest, signal: AbortSignal): Promise<RawAnswer>;
  /** What is under way fails. */
  close(): void;
}

/** An answer of status 400 and more. Its message is the server's. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status. */
  readonly code: number;
  /** e.g. `NotFound`; '' when the answer was no Status. */
  readonly reason: string;
  readonly status: StatusBody | undefined;
  /** How long the server wants to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(code: number, message: string, o: { readonly status?: StatusBody; readonly retryAfterMs?: number } = {}) {
    super(message);
    this.code = code;
    this.reason = o.status?.reason ?? '';
    this.status = o.status;
    this.retryAfterMs = o.retryAfterMs;
  }
}

/** Whether an error is the server's answer with one of these reasons, e.g. `isApiError(err, 'NotFound')`. */
export const isApiError = (err: unknown, ...reasons: readonly string[]): err is ApiError =>
  err instanceof ApiError && (reasons.length === 0 || reasons.includes(err.reason));
