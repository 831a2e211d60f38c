import { isApiError, type ApiClient } from '../client/rest/client.js';
import type { Metadata, ResourceType } from '../client/rest/resource-type.js';
import { inParallel } from '../machinery/loop/in-parallel.js';
import { ownersOf, type GraphNode } from './owner-graph.js';

export interface OwnerCensusDeps {
  readonly client: Pick<ApiClient, 'metadata'>;
  readonly types: { readonly all: readonly ResourceType[] };
}

/** Objects by the uid of each of their owners. */
export type Owned = ReadonlyMap<string, readonly GraphNode[]>;

/** Types that are listed at once. */
const PARALLEL = 8;

/**
 * Asks the server which objects have owners. Informers of different types are not at the same moment: one may show that an
 * owner is deleted before another shows a dependent that was made earlier. Those who ask while a count is under way share
 * the next one.
 */
export class OwnerCensus {
  readonly #d: OwnerCensusDeps;
  readonly #underWay = new Map<string, Promise<Owned>>();
  /** Counts that have not begun. */
  readonly #next = new Map<string, Promise<Owned>>();

  constructor(d: OwnerCensusDeps) {
    this.#d = d;
  }

  /** @param namespace '': all of them. @returns What there is at some moment after the call. */
  of(namespace: string, signal: AbortSignal): Promise<Owned> {
    const waiting = this.#next.get(namespace);
    if (waiting !== undefined) return waiting;
    const before = this.#underWay.get(namespace);
    if (before === undefined) return this.#begin(namespace, signal);
    const begin = (): Promise<Owned> => {
      this.#next.delete(namespace);
      return this.#begin(namespace, signal);
    };
    const next = before.then(begin, begin);
    this.#next.set(namespace, next);
    return next;
  }

  #begin(namespace: string, signal: AbortSignal): Promise<Owned> {
    const counting = this.#count(namespace, signal).finally(() => {
      if (this.#underWay.get(namespace) === counting) this.#underWay.delete(namespace);
    });
    this.#underWay.set(namespace, counting);
    return counting;
  }

  async #count(namespace: string, signal: AbortSignal): Promise<Owned> {
    const owned = new Map<string, GraphNode[]>();
    const types = this.#d.types.all.filter(({ namespaced }) => namespaced || namespace === '');
    await inParallel(types, PARALLEL, async (type) => {
      for (const object of await this.#list(type, namespace, signal)) {
        for (const { uid = '' } of ownersOf(object)) owned.set(uid, [...(owned.get(uid) ?? []), { type, object }]);
      }
    });
    return owned;
  }

  async #list(type: ResourceType, namespace: string, signal: AbortSignal): Promise<readonly Metadata[]> {
    try {
      const where = namespace === '' ? {} : { namespace };
      return (await this.#d.client.metadata(type).list(where, signal)).items;
    } catch (err) {
      // A type that went after it was discovered has taken its objects along.
      if (isApiError(err, 'NotFound', 'MethodNotAllowed')) return [];
      throw err;
    }
  }
}
