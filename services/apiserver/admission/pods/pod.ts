import type { ApiObject } from '../../../machinery/meta/object.js';
import type * as core from '../../../machinery/types/generated/core.v1.js';

/** A type of the API that may be changed in place: an object of a request belongs to the plugins that mutate it. */
export type Mutable<T> = T extends readonly (infer U)[]
  ? Mutable<U>[]
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T;

export type PodSpec = Mutable<core.PodSpec>;
/** Ephemeral ones have the same members, and one more. */
export type Container = Mutable<core.Container>;

/** The spec of a pod, which is there from now on. Its shape was checked against its type before admission. */
export const specOf = (pod: ApiObject): PodSpec => (pod['spec'] ??= {});

const KINDS = [
  ['initContainers', 'init container'],
  ['containers', 'container'],
  ['ephemeralContainers', 'ephemeral container'],
] as const;

export type ContainerList = (typeof KINDS)[number][0];

export interface PlacedContainer {
  readonly container: Container;
  /** e.g. `init container` */
  readonly kind: (typeof KINDS)[number][1];
  readonly list: ContainerList;
  readonly index: number;
}

/** All containers of a pod: those of its start, its own, and ephemeral ones. */
export const containersOf = (spec: core.PodSpec | PodSpec): PlacedContainer[] =>
  KINDS.flatMap(([list, kind]) =>
    ((spec[list] ?? []) as Container[]).map((container, index) => ({ container, kind, list, index })),
  );
