import { isApiError, type ApiClient } from '../client/rest/client.js';
import type { ResourceType } from '../client/rest/resource-type.js';
import type { OwnerReference } from '../machinery/types/generated/meta.v1.js';
import type { CollectedTypes } from './collected-types.js';
import { endingOf, groupOf, ownersOf, type GraphNode, type OwnerGraph } from './owner-graph.js';

/**
 * How an owner stands to an object: it is there, it is not, it is there and waits for the object to go; nobody can tell yet, or
 * it could not own the object wherever it is.
 */
export type Standing = 'solid' | 'dangling' | 'waiting' | 'unknown' | 'misplaced';

export interface Standings {
  readonly of: ReadonlyMap<Standing, readonly OwnerReference[]>;
  /** Owners that are there and were not seen by informers. */
  readonly unseen: boolean;
}

export interface OwnerStandingsDeps {
  readonly graph: OwnerGraph;
  readonly types: Pick<CollectedTypes, 'ofKind' | 'isSynced'>;
  readonly client: Pick<ApiClient, 'metadata'>;
}

/** Owners that are not there: uids are never given a second time, so none of them comes back. */
const MOST_ABSENT = 2_000;

/** Finds out how owners stand: from the graph where that keeps the object, else from the server. */
export class OwnerStandings {
  readonly #d: OwnerStandingsDeps;
  /** In the order in which they were last asked for. */
  readonly #absent = new Set<string>();
  readonly #asking = new Map<string, Promise<Standing>>();

  constructor(d: OwnerStandingsDeps) {
    this.#d = d;
  }

  /** An object that was seen is gone. */
  gone({ type, object: { metadata } }: GraphNode): void {
    this.#remember(nameOf(type, { kind: type.kind, ...metadata }, metadata.namespace));
  }

  /** Of all owners of an object. @throws what the server answers, when it does not tell */
  async of(node: GraphNode, signal: AbortSignal): Promise<Standings> {
    const of = new Map<Standing, OwnerReference[]>();
    let unseen = false;
    for (const reference of ownersOf(node.object)) {
      const isKept = this.#d.graph.keeps(reference, node);
      const standing = isKept ? 'solid' : await this.#standing(reference, node, signal);
      unseen ||= standing === 'solid' && !isKept;
      of.set(standing, [...(of.get(standing) ?? []), reference]);
    }
    return { of, unseen };
  }

  async #standing(reference: OwnerReference, { object }: GraphNode, signal: AbortSignal): Promise<Standing> {
    const { namespace = '' } = object.metadata;
    const { apiVersion = '', kind } = reference;
    // What was seen to go may have been the last of its type.
    if (this.#isAbsent(nameOf({ group: groupOf(apiVersion) }, reference, namespace))) return 'dangling';
    if (this.#isAbsent(nameOf({ group: groupOf(apiVersion) }, reference, ''))) return 'dangling';
    const type = this.#d.types.ofKind(apiVersion, kind);
    if (type?.verbs.has('get') !== true || !this.#d.types.isSynced(type)) return 'unknown';
    if (type.namespaced && namespace === '') return 'misplaced';
    const name = nameOf(type, reference, type.namespaced ? namespace : '');
    const asked = this.#asking.get(name) ?? this.#ask(type, reference, namespace, signal);
    this.#asking.set(name, asked);
    try {
      const standing = await asked;
      if (standing === 'dangling') this.#remember(name);
      return standing;
    } finally {
      this.#asking.delete(name);
    }
  }

  async #ask(type: ResourceType, reference: OwnerReference, namespace: string, signal: AbortSignal): Promise<Standing> {
    const { name = '', uid } = reference;
    try {
      const owner = await this.#d.client.metadata(type).get(type.namespaced ? { namespace, name } : { name }, signal);
      if (owner.metadata.uid !== uid) return 'dangling';
      return endingOf(owner) === 'foreground' ? 'waiting' : 'solid';
    } catch (err) {
      if (isApiError(err, 'NotFound')) return 'dangling';
      throw err;
    }
  }

  #isAbsent(name: string): boolean {
    const isKnown = this.#absent.delete(name);
    if (isKnown) this.#absent.add(name);
    return isKnown;
  }

  #remember(name: string): void {
    this.#absent.add(name);
    const [oldest] = this.#absent;
    if (this.#absent.size > MOST_ABSENT && oldest !== undefined) this.#absent.delete(oldest);
  }
}

const nameOf = (
  { group }: Pick<ResourceType, 'group'>,
  { kind = '', name = '', uid = '' }: OwnerReference,
  namespace = '',
): string => `${uid} ${group}/${kind} ${namespace}/${name}`;
