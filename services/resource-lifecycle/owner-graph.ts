import type { Metadata, ResourceType } from '../client/rest/resource-type.js';
import type { OwnerReference } from '../machinery/types/generated/meta.v1.js';

/** Finalizers by which a deletion says what happens to dependents. */
export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

/** An object that was seen. */
export interface GraphNode {
  readonly type: ResourceType;
  /** Its last state that was seen. */
  readonly object: Metadata;
}

/** Told what a change may have made due. May be told again, and of what turns out not to be due. */
export interface GraphEffects {
  /** An object that its owners may no longer keep, or that waits for its dependents. */
  readonly examine: (uid: string) => void;
  /** An object that was deleted, and its dependents are to stay. */
  readonly orphan: (uid: string) => void;
}

/** How an object is being deleted: in the `foreground`, after its dependents; `undefined`: it is not. */
export function endingOf({ metadata }: Metadata): 'foreground' | 'orphan' | 'plain' | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  const { finalizers = [] } = metadata;
  if (finalizers.includes(FOREGROUND)) return 'foreground';
  return finalizers.includes(ORPHAN) ? 'orphan' : 'plain';
}

export const ownersOf = ({ metadata }: Metadata): readonly OwnerReference[] => metadata.ownerReferences ?? [];

/** The group of an apiVersion. References keep the version of the day on which they were made. */
export const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.lastIndexOf('/')));

/**
 * Who owns whom, by uid, as far as it was seen. An owner that has dependents and was not seen is in it too, by its uid
 * alone: it may come, or not be there.
 */
export class OwnerGraph {
  readonly #effects: GraphEffects;
  readonly #nodes = new Map<string, GraphNode>();
  /** Uids of the nodes that refer to an owner, by its uid. Never empty sets. */
  readonly #dependents = new Map<string, Set<string>>();

  constructor(effects: GraphEffects) {
    this.#effects = effects;
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  dependentsOf(uid: string): readonly GraphNode[] {
    return [...this.#nodesOf(uid)];
  }

  hasDependents(uid: string): boolean {
    return this.#dependents.has(uid);
  }

  /** A state of an object, new or the next one. */
  observe(node: GraphNode): void {
    const { uid } = node.object.metadata;
    const old = this.#nodes.get(uid);
    this.#nodes.set(uid, node);
    const hasOtherOwners = this.#link(uid, old, node);
    if (hasOtherOwners && !this.isKept(node)) this.#effects.examine(uid);
    const [before, ending] = [old && endingOf(old.object), endingOf(node.object)];
    const isForeground = ending === 'foreground' && before !== ending;
    if (isForeground) {
      this.#effects.examine(uid);
      this.#examineDependents(uid);
    }
    if (ending === 'orphan' && before !== ending) this.#effects.orphan(uid);
  }

  /** An object is gone. */
  forget(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node === undefined) return;
    this.#nodes.delete(uid);
    this.#link(uid, node, undefined);
    this.#examineDependents(uid);
  }

  /** Whether all owners of an object were seen, and none of them waits for it to go. */
  isKept(node: GraphNode): boolean {
    return ownersOf(node.object).every((reference) => this.keeps(reference, node));
  }

  /** Whether the owner of a reference was seen, and does not wait for the object to go. */
  keeps(reference: OwnerReference, { object: { metadata } }: GraphNode): boolean {
    const owner = this.#nodes.get(reference.uid ?? '');
    return (
      owner !== undefined && isMeant(owner, reference, metadata.namespace) && endingOf(owner.object) !== 'foreground'
    );
  }

  /** Whether the owner of a reference was seen in another namespace than that of the object. */
  isElsewhere(reference: OwnerReference, { object: { metadata } }: GraphNode): boolean {
    const owner = this.#nodes.get(reference.uid ?? '');
    if (owner === undefined || isMeant(owner, reference, metadata.namespace)) return false;
    return isMeant(owner, reference, owner.object.metadata.namespace);
  }

  /** Whether an object that is deleted in the foreground has to wait for a dependent. */
  isBlocked(uid: string): boolean {
    for (const dependent of this.#nodesOf(uid)) if (this.#blocks(dependent, uid)) return true;
    return false;
  }

  /** Owners that wait for an object which, by way of others that are deleted in the foreground, waits for them. */
  ownersInCycle(uid: string): ReadonlySet<string> {
    const node = this.#nodes.get(uid);
    const waiting = (node === undefined ? [] : ownersOf(node.object)).filter((reference) => this.#isForeground(reference.uid ?? '')); // prettier-ignore
    const owners = new Set(waiting.filter(blocks).map((reference) => reference.uid ?? ''));
    if (owners.size === 0) return owners;
    const reached = new Set([uid]);
    for (const at of reached) {
      for (const dependent of this.#nodesOf(at)) {
        const next = dependent.object.metadata.uid;
        if (this.#blocks(dependent, at) && this.#isForeground(next)) reached.add(next);
      }
    }
    return new Set([...owners].filter((owner) => owner !== uid && reached.has(owner)));
  }

  #isForeground(uid: string): boolean {
    const node = this.#nodes.get(uid);
    return node !== undefined && endingOf(node.object) === 'foreground';
  }

  /** Nobody waits for itself. */
  #blocks({ object }: GraphNode, owner: string): boolean {
    return object.metadata.uid !== owner && ownersOf(object).some((it) => it.uid === owner && blocks(it));
  }

  *#nodesOf(uid: string): Generator<GraphNode> {
    for (const dependent of this.#dependents.get(uid) ?? []) {
      const node = this.#nodes.get(dependent);
      if (node !== undefined) yield node;
    }
  }

  #examineDependents(uid: string): void {
    for (const dependent of this.#nodesOf(uid)) {
      const { object } = dependent;
      if (!ownersOf(object).every((it) => it.uid !== uid || this.keeps(it, dependent))) {
        this.#effects.examine(object.metadata.uid);
      }
    }
  }

  /** Puts an object among the dependents of its owners. @returns Whether its references are others than before. */
  #link(uid: string, old: GraphNode | undefined, next: GraphNode | undefined): boolean {
    const before = waitsByOwner(old);
    const after = waitsByOwner(next);
    let isChanged = false;
    for (const [owner, hasBlocked] of before) {
      if (!after.has(owner)) {
        this.#unlink(uid, owner);
        isChanged = true;
      }
      if (hasBlocked && after.get(owner) !== true && this.#isForeground(owner)) this.#effects.examine(owner);
    }
    for (const [owner, isBlocked] of after) {
      if (before.get(owner) === isBlocked) continue;
      isChanged = true;
      const dependents = this.#dependents.get(owner) ?? new Set();
      this.#dependents.set(owner, dependents.add(uid));
    }
    return isChanged;
  }

  #unlink(uid: string, owner: string): void {
    const dependents = this.#dependents.get(owner);
    dependents?.delete(uid);
    if (dependents?.size === 0) this.#dependents.delete(owner);
  }
}

const blocks = ({ blockOwnerDeletion }: OwnerReference): boolean => blockOwnerDeletion === true;

/** Whether owners are to wait, by their uids. */
function waitsByOwner(node: GraphNode | undefined): ReadonlyMap<string, boolean> {
  const waits = new Map<string, boolean>();
  for (const reference of node === undefined ? [] : ownersOf(node.object)) {
    const { uid = '' } = reference;
    waits.set(uid, blocks(reference) || waits.get(uid) === true);
  }
  return waits;
}

/** Whether an object is the one that a reference describes, in the namespace of who refers, beside its uid. */
function isMeant(
  { type, object }: GraphNode,
  { apiVersion = '', kind, name }: OwnerReference,
  namespace = '',
): boolean {
  const { metadata } = object;
  if (type.group !== groupOf(apiVersion) || type.kind !== kind || metadata.name !== name) return false;
  return !type.namespaced || metadata.namespace === namespace;
}
