import type { ObjectMeta } from '../../machinery/types/generated/meta.v1.js';

/** What every object has; the generated types do. */
export interface AnyObject {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ObjectMeta;
}

/**
 * A resource as a client addresses it: known at build time (`builtInTypes`), or found by discovery.
 *
 * @typeParam T Its objects.
 */
export interface ResourceType<T extends AnyObject = AnyObject> {
  /** '' is the core group. In the words of the server's vocabulary. */
  readonly group: string;
  readonly version: string;
  /** The plural, as in paths. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set: it carries the type of the objects. */
  readonly object?: T;
}

/** An object as a server gave it: members that every stored object has are there. */
export type Live<T extends AnyObject> = T & {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: ObjectMeta & {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
};

/** Metadata alone: what servers answer for `as=PartialObjectMetadata`. */
export type Metadata = Live<AnyObject>;

/** Which object, of a resource that is known. */
export interface ObjectName {
  /** Absent or '' for objects without a namespace. */
  readonly namespace?: string;
  readonly name: string;
}

/** `namespace/name`, or `name` for objects without a namespace. */
export const keyOf = ({ namespace = '', name }: ObjectName): string =>
  namespace === '' ? name : `${namespace}/${name}`;

/** The reverse of `keyOf`. */
export function nameOf(key: string): ObjectName {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
