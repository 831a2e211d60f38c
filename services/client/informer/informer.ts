import type { AnyObject, Live, ResourceType } from '../rest/resource-type.js';

/**
 * Told of changes, one after the other, in the order in which they happened to each object. States that were superseded
 * while nobody could look may be left out; the last one never is. What a handler throws is logged and ends nothing.
 */
export interface Handler<T> {
  /** @param isInitial Whether it was there when the informer, or the handler, began. */
  readonly added?: (object: T, isInitial: boolean) => void;
  /** Also called by resyncs, with the same object twice. */
  readonly updated?: (object: T, old: T) => void;
  /**
   * Also for an object that was made anew under its name, before `added`.
   *
   * @param last The last state that is known; after a cut it may not be the final one.
   */
  readonly deleted?: (last: T) => void;
}

/** Values by which objects are found, e.g. names of secrets that a pod mounts. Bounded by what one object can hold. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** What is known of a resource, kept up to date by an informer. Its objects are shared: nobody changes them. */
export interface Store<T> {
  /** @param key `namespace/name`, or `name`. */
  get(key: string): T | undefined;
  /** In no order. @param namespace Absent: of all. */
  list(namespace?: string): readonly T[];
  /** Objects for which the index function gave `value`. */
  by(index: string, value: string): readonly T[];
  readonly size: number;
}

/** A kept copy of all objects of a resource (or those of a selector), shared by all who look at it in one process. */
export interface Informer<T extends AnyObject> {
  readonly type: ResourceType<T>;
  readonly store: Store<Live<T>>;
  /** Whether the store holds all that was there when the informer started, and all handlers have seen it. */
  readonly isSynced: boolean;
  /** @throws `signal.reason` */
  synced(signal: AbortSignal): Promise<void>;
  /** Told of what is there already, as added. @returns Takes the handler away. */
  handle(handler: Handler<Live<T>>): () => void;
  /** Has to come before the informer starts. @throws {Error} when another function has the name */
  index(name: string, of: IndexFunction<Live<T>>): void;
}

/** Which objects of a resource an informer keeps; absent members: all. */
export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  /** Done by the server, e.g. `type=bootstrap.platform.io/token` or `metadata.name=platform-root-ca.crt`. */
  readonly fieldSelector?: string;
}

/**
 * The informers of a process: one for each resource and selection, however many look. Each runs from when it is first
 * asked for, while `run` goes on.
 */
export interface Informers {
  of<T extends AnyObject>(type: ResourceType<T>, selection?: Selection): Informer<T>;
  /** Of metadata alone: a fraction of the memory. Its objects have the kind and apiVersion of the resource. */
  metadataOf(type: ResourceType, selection?: Selection): Informer<AnyObject>;
  /** Lets go of the informers of a type that nobody needs any more, e.g. one that was removed. */
  drop(type: ResourceType): void;
  /** Resolves when all have ended, which they do when `signal` fires. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}
