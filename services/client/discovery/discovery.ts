import type { ResourceType } from '../rest/resource-type.js';

/** A resource that a server serves. */
export interface DiscoveredResource extends ResourceType {
  readonly verbs: ReadonlySet<string>;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** e.g. `status`, `scale` */
  readonly subresources: readonly string[];
  /** Whether clients should use this version: the preferred one of its group, or the best in which the resource is. */
  readonly isPreferred: boolean;
}

/** What a server served when it was asked. */
export interface Served {
  readonly resources: readonly DiscoveredResource[];
  /** `group/version`s that could not be asked, e.g. of a server that is not reachable. They may exist. */
  readonly failed: readonly string[];
}

/** The types of a server, also those that nobody knew at build time. Asked again when definitions change. */
export interface Discovery {
  /** @param fresh Asks the server, whatever is known. */
  served(o: { readonly fresh?: boolean }, signal: AbortSignal): Promise<Served>;
  /**
   * Which resource a kind is; asks the server once more when it is not known.
   *
   * @returns undefined: there is none. @throws {Error} when its group version could not be asked.
   */
  resourceOf(
    kind: { readonly apiVersion: string; readonly kind: string },
    signal: AbortSignal,
  ): Promise<DiscoveredResource | undefined>;
  /** Told when what is served may have changed. @returns Takes the listener away. */
  listen(changed: () => void): () => void;
}
