import { isDeepStrictEqual } from 'node:util';
import { isApiError, type ApiClient, type DeleteOptions, type ResourceClient } from '../client/rest/client.js';
import type { AnyObject, Metadata } from '../client/rest/resource-type.js';
import type { EventRecorder } from '../client/events/event-recorder.js';
import type { Reconciled } from '../controllers/controller.js';
import { inParallel } from '../machinery/loop/in-parallel.js';
import type { OwnerReference } from '../machinery/types/generated/meta.v1.js';
import type { CollectedTypes } from './collected-types.js';
import type { OwnerCensus } from './owner-census.js';
import { endingOf, FOREGROUND, ORPHAN, ownersOf, type GraphNode, type OwnerGraph } from './owner-graph.js';
import type { OwnerStandings } from './owner-standing.js';

/** What keys begin with; a uid follows. */
export const EXAMINE = 'examine/';
export const ORPHANS = 'orphan/';

export interface CollectorDeps {
  readonly graph: OwnerGraph;
  readonly types: Pick<CollectedTypes, 'areSynced' | 'isPartial'>;
  readonly standings: OwnerStandings;
  readonly census: Pick<OwnerCensus, 'of'>;
  readonly client: Pick<ApiClient, 'metadata'>;
  readonly events: EventRecorder;
  /** The key comes again when more is known of types. */
  readonly hold: (key: string) => void;
}

/** Dependents of one owner that lose their reference at once. */
const PARALLEL = 20;
/** How often a write is tried on the newest state before its key waits. */
const ATTEMPTS = 5;
/** What another one changed meanwhile is looked at again. */
const SOON_MS = 100;
/** An owner that is there and that no informer has shown may go without one telling. */
const UNSEEN_MS = 60_000;

type DeletePolicy = NonNullable<DeleteOptions['propagationPolicy']>;

/** Does what the graph of owners says is due. Each write names uid and version of the state that it was decided from. */
export class Collector {
  readonly #d: CollectorDeps;

  constructor(d: CollectorDeps) {
    this.#d = d;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Reconciled> {
    const isOrphaning = key.startsWith(ORPHANS);
    const node = this.#d.graph.get(key.slice((isOrphaning ? ORPHANS : EXAMINE).length));
    if (node === undefined) return undefined;
    const ending = endingOf(node.object);
    if (isOrphaning) return ending === 'orphan' ? this.#orphan(key, node, signal) : undefined;
    if (ending === 'foreground') return this.#finish(key, node, signal);
    return ending !== undefined || this.#d.graph.isKept(node) ? undefined : this.#examine(key, node, signal);
  }

  /** Judges the state that was seen, which a deletion holds good for alone; where that is not the newest one, the newest. */
  async #examine(key: string, seen: GraphNode, signal: AbortSignal): Promise<Reconciled> {
    let object: Metadata | undefined = seen.object;
    for (let attempt = 0; object !== undefined && attempt < ATTEMPTS; attempt++) {
      if (endingOf(object) !== undefined) return undefined;
      const outcome = await this.#judge(key, { type: seen.type, object }, signal);
      if (outcome !== 'overtaken') return outcome;
      object = await this.#newest(seen, signal);
    }
    return object === undefined ? undefined : { againInMs: SOON_MS };
  }

  /** Deletes an object that no owner keeps; takes references to owners that are gone out of one that another keeps. */
  async #judge(key: string, node: GraphNode, signal: AbortSignal): Promise<Reconciled | 'overtaken'> {
    const { of, unseen } = await this.#d.standings.of(node, signal);
    this.#tellOfMisplaced(node, of.get('misplaced') ?? []);
    if (of.has('misplaced')) return undefined;
    if (of.has('unknown') && !of.has('solid')) {
      this.#d.hold(key);
      return undefined;
    }
    const lost = [...(of.get('dangling') ?? []), ...(of.get('waiting') ?? [])];
    if (lost.length === 0) return unseen ? { againInMs: UNSEEN_MS } : undefined;
    if (of.has('solid')) return this.#removeOwners(node, new Set(lost.map(({ uid = '' }) => uid)), signal);
    return this.#delete(node, this.#policyFor(node, of.has('waiting')), signal);
  }

  #policyFor({ object: { metadata } }: GraphNode, isWaitedFor: boolean): DeletePolicy {
    const { uid, finalizers = [] } = metadata;
    if (isWaitedFor && this.#d.graph.hasDependents(uid)) return 'Foreground';
    if (finalizers.includes(ORPHAN)) return 'Orphan';
    return finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background';
  }

  /** Lets an object go whose dependents are gone that it waits for. */
  async #finish(key: string, node: GraphNode, signal: AbortSignal): Promise<Reconciled> {
    const { uid } = node.object.metadata;
    if (this.#d.graph.isBlocked(uid)) {
      const owners = this.#d.graph.ownersInCycle(uid);
      if (owners.size === 0) return undefined;
      return this.#changeOwners(node, (references) => references.map((it) => (owners.has(it.uid ?? '') ? { ...it, blockOwnerDeletion: false } : it)), signal); // prettier-ignore
    }
    if (!this.#d.types.areSynced) {
      this.#d.hold(key);
      return undefined;
    }
    return this.#removeFinalizer(node, FOREGROUND, signal);
  }

  /** Makes dependents objects of their own, and lets their owner go. */
  async #orphan(key: string, node: GraphNode, signal: AbortSignal): Promise<Reconciled> {
    // A dependent that is not known would be deleted when its owner is gone.
    if (!this.#d.types.areSynced || this.#d.types.isPartial) {
      this.#d.hold(key);
      return undefined;
    }
    const { uid, namespace = '' } = node.object.metadata;
    if (!(await this.#free(this.#d.graph.dependentsOf(uid), uid, signal))) return { againInMs: SOON_MS };
    const owned = await this.#d.census.of(namespace, signal);
    if (!(await this.#free(owned.get(uid) ?? [], uid, signal))) return { againInMs: SOON_MS };
    return this.#removeFinalizer(node, ORPHAN, signal);
  }

  /** @returns Whether none of the dependents has the owner any more. */
  async #free(dependents: readonly GraphNode[], owner: string, signal: AbortSignal): Promise<boolean> {
    let overtaken = 0;
    await inParallel(dependents, PARALLEL, async (dependent) => {
      const again = await this.#removeOwners(dependent, new Set([owner]), signal);
      if (again !== undefined) overtaken++;
    });
    return overtaken === 0;
  }

  #removeOwners(node: GraphNode, owners: ReadonlySet<string>, signal: AbortSignal): Promise<Reconciled> {
    return this.#changeOwners(node, (references) => references.filter(({ uid = '' }) => !owners.has(uid)), signal);
  }

  #changeOwners(
    node: GraphNode,
    change: (references: readonly OwnerReference[]) => readonly OwnerReference[],
    signal: AbortSignal,
  ): Promise<Reconciled> {
    const changed = (object: Metadata): object | undefined => {
      const ownerReferences = change(ownersOf(object));
      return isDeepStrictEqual(ownerReferences, ownersOf(object)) ? undefined : { ownerReferences: orNull(ownerReferences) }; // prettier-ignore
    };
    return this.#patch(node, changed, signal);
  }

  #removeFinalizer(node: GraphNode, finalizer: string, signal: AbortSignal): Promise<Reconciled> {
    const change = ({ metadata: { finalizers = [] } }: Metadata): object | undefined =>
      finalizers.includes(finalizer) ? { finalizers: orNull(finalizers.filter((it) => it !== finalizer)) } : undefined;
    return this.#patch(node, change, signal);
  }

  /** Changes the state that was seen, or, where that is not the newest one, the newest. */
  async #patch(
    { type, object: seen }: GraphNode,
    change: (object: Metadata) => object | undefined,
    signal: AbortSignal,
  ): Promise<Reconciled> {
    const objects = this.#d.client.metadata(type);
    let object: Metadata | undefined = seen;
    for (let attempt = 0; object !== undefined && attempt < ATTEMPTS; attempt++) {
      const changed = change(object);
      if (changed === undefined) return undefined;
      const { name, namespace, uid, resourceVersion } = object.metadata;
      const patch = { metadata: { uid, resourceVersion, ...changed } };
      const failure = await refused(objects.patch(nameIn(namespace, name), 'merge', patch, {}, signal));
      if (failure !== 'Conflict') return undefined;
      object = await this.#newest({ type, object: seen }, signal);
    }
    return object === undefined ? undefined : { againInMs: SOON_MS };
  }

  /** Deletes an object in the state that was looked at. */
  async #delete(
    node: GraphNode,
    propagationPolicy: DeletePolicy,
    signal: AbortSignal,
  ): Promise<undefined | 'overtaken'> {
    const { name, namespace, uid, resourceVersion } = node.object.metadata;
    const options = { propagationPolicy, preconditions: { uid, resourceVersion } };
    const deleting = this.#d.client.metadata(node.type).delete(nameIn(namespace, name), options, signal);
    return (await refused(deleting)) === 'Conflict' ? 'overtaken' : undefined;
  }

  /** undefined: it is gone. */
  async #newest({ type, object: { metadata } }: GraphNode, signal: AbortSignal): Promise<Metadata | undefined> {
    const objects: Pick<ResourceClient<AnyObject>, 'get'> = this.#d.client.metadata(type);
    try {
      const object = await objects.get(nameIn(metadata.namespace, metadata.name), signal);
      return object.metadata.uid === metadata.uid ? object : undefined;
    } catch (err) {
      if (isApiError(err, 'NotFound')) return undefined;
      throw err;
    }
  }

  #tellOfMisplaced(node: GraphNode, misplaced: readonly OwnerReference[]): void {
    const { namespace = '' } = node.object.metadata;
    const elsewhere = ownersOf(node.object).filter((it) => this.#d.graph.isElsewhere(it, node));
    for (const { apiVersion = '', kind = '', name = '', uid = '' } of new Set([...elsewhere, ...misplaced])) {
      const owner = `${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}`;
      const message = `ownerRef [${owner}] does not exist in namespace "${namespace}"`;
      this.#d.events.record({ about: node.object, type: 'Warning', reason: 'OwnerRefInvalidNamespace', message });
    }
  }
}

const nameIn = (namespace: string | undefined, name: string): { name: string; namespace?: string } => ({
  name,
  ...(namespace !== undefined && { namespace }),
});

/** A merge patch removes what is null. */
const orNull = <T>(list: readonly T[]): readonly T[] | null => (list.length === 0 ? null : list);

/** Why a write was not done that another one may have overtaken; undefined: it was done. */
async function refused(writing: Promise<unknown>): Promise<'NotFound' | 'Conflict' | undefined> {
  try {
    await writing;
    return undefined;
  } catch (err) {
    if (isApiError(err, 'NotFound')) return 'NotFound';
    if (isApiError(err, 'Conflict')) return 'Conflict';
    throw err;
  }
}
