import type { CachedObject } from '../../cache/cached-object.js';
import type { CacheFollower } from '../../cache/follow.js';
import type { Change } from '../../cache/history.js';
import { readObject } from '../rbac/rules.js';
import {
  attachedNode,
  podReferences,
  volumeReferences,
  type PodReferences,
  type Reference,
  type VolumeReferences,
} from './references.js';

/** For each key how often each node, or volume, is led to: pods come and go, and the last one takes the way along. */
class Counts {
  readonly #counts = new Map<string, Map<string, number>>();

  add(from: string, to: string, by: 1 | -1): void {
    let of = this.#counts.get(from);
    if (of === undefined) this.#counts.set(from, (of = new Map<string, number>()));
    const count = (of.get(to) ?? 0) + by;
    if (count > 0) of.set(to, count);
    else of.delete(to);
    if (of.size === 0) this.#counts.delete(from);
  }

  has(from: string, to: string): boolean {
    return this.#counts.get(from)?.has(to) ?? false;
  }

  of(from: string): Iterable<string> {
    return this.#counts.get(from)?.keys() ?? [];
  }
}

/** Applies the changes of one resource at the next question, not when they happen. */
class Pending {
  /** The newest state of what has changed since; undefined: it is gone. At most one of each key. */
  readonly #changed = new Map<string, CachedObject | undefined>();
  readonly #applied: ReadonlyMap<string, unknown>;

  /** @param applied By key, what has been applied. */
  constructor(applied: ReadonlyMap<string, unknown>) {
    this.#applied = applied;
  }

  follower(): CacheFollower {
    return {
      loaded: (objects) => {
        this.#changed.clear();
        for (const key of this.#applied.keys()) this.#changed.set(key, undefined);
        for (const object of objects) this.#changed.set(object.key, object);
      },
      changed: ({ object, deleted }: Change) => {
        if (!deleted) this.#changed.set(object.key, object);
        else if (this.#applied.has(object.key)) this.#changed.set(object.key, undefined);
        else this.#changed.delete(object.key); // it came and went between two questions
      },
    };
  }

  *drain(): Generator<readonly [key: string, object: CachedObject | undefined]> {
    for (const [key, object] of this.#changed) {
      this.#changed.delete(key);
      yield [key, object];
    }
  }
}

/**
 * Paths from objects to nodes, by way of pods and volumes, in step with the caches. Nothing is read until the first
 * agent of a node asks: where there are none, pods cost nothing here. After that each change is read once.
 */
export class NodeGraph {
  readonly #pods = new Map<string, PodReferences>();
  readonly #volumes = new Map<string, VolumeReferences & { readonly name: string }>();
  readonly #attachments = new Map<string, { readonly name: string; readonly node: string }>();
  /** From objects that pods name to the nodes of those pods. */
  readonly #nodes = new Counts();
  /** Secrets that volumes name, to the claims on those volumes. */
  readonly #claims = new Counts();
  readonly #pending = {
    pods: new Pending(this.#pods),
    volumes: new Pending(this.#volumes),
    attachments: new Pending(this.#attachments),
  };
  readonly #claimOfVolume = new Map<string, Reference>();
  readonly #nodeOfAttachment = new Map<string, string>();
  readonly #mirrorAnnotation: string;

  constructor(mirrorAnnotation: string) {
    this.#mirrorAnnotation = mirrorAnnotation;
  }

  followers(): Readonly<Record<'pods' | 'volumes' | 'attachments', CacheFollower>> {
    const { pods, volumes, attachments } = this.#pending;
    return { pods: pods.follower(), volumes: volumes.follower(), attachments: attachments.follower() };
  }

  /** Whether a pod of the node names it, or claims a volume that does. */
  leadsTo(node: string, of: Reference): boolean {
    this.#catchUp();
    if (this.#nodes.has(of, node)) return true;
    for (const claim of this.#claims.of(of)) if (this.#nodes.has(claim, node)) return true;
    return false;
  }

  /** Whether a pod of the node claims the volume. */
  claimsVolume(node: string, volume: string): boolean {
    this.#catchUp();
    const claim = this.#claimOfVolume.get(volume);
    return claim !== undefined && this.#nodes.has(claim, node);
  }

  isAttachedTo(node: string, attachment: string): boolean {
    this.#catchUp();
    return this.#nodeOfAttachment.get(attachment) === node;
  }

  #catchUp(): void {
    for (const [key, object] of this.#pending.pods.drain()) this.#setPod(key, object);
    for (const [key, object] of this.#pending.volumes.drain()) this.#setVolume(key, object);
    for (const [key, object] of this.#pending.attachments.drain()) this.#setAttachment(key, object);
  }

  #setPod(key: string, object: CachedObject | undefined): void {
    const before = this.#pods.get(key);
    if (before !== undefined) this.#countPod(before, -1);
    this.#pods.delete(key);
    if (object === undefined) return;
    const pod = podReferences(readObject(object), this.#mirrorAnnotation);
    if (pod.node === '') return;
    this.#pods.set(key, pod);
    this.#countPod(pod, 1);
  }

  #countPod({ node, references }: PodReferences, by: 1 | -1): void {
    for (const of of references) this.#nodes.add(of, node, by);
  }

  #setVolume(key: string, object: CachedObject | undefined): void {
    const before = this.#volumes.get(key);
    if (before !== undefined) this.#countVolume(before, -1);
    this.#volumes.delete(key);
    if (object === undefined) return;
    const volume = { name: object.name, ...volumeReferences(readObject(object)) };
    if (volume.claim === undefined) return;
    this.#volumes.set(key, volume);
    this.#countVolume(volume, 1);
  }

  #countVolume({ name, claim, secrets }: VolumeReferences & { readonly name: string }, by: 1 | -1): void {
    if (claim === undefined) return;
    if (by === 1) this.#claimOfVolume.set(name, claim);
    else this.#claimOfVolume.delete(name);
    for (const secret of secrets) this.#claims.add(secret, claim, by);
  }

  #setAttachment(key: string, object: CachedObject | undefined): void {
    const before = this.#attachments.get(key);
    if (before !== undefined) this.#nodeOfAttachment.delete(before.name);
    this.#attachments.delete(key);
    if (object === undefined) return;
    const { name } = object;
    const node = attachedNode(readObject(object));
    this.#attachments.set(key, { name, node });
    this.#nodeOfAttachment.set(name, node);
  }
}
