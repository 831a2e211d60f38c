import { LRUCache } from 'lru-cache';
import { metadataSpan } from '../../../machinery/codec/metadata-span.js';
import { hasReason } from '../../../machinery/meta/status.js';
import type { CachedObject } from '../../cache/cached-object.js';
import type { Reader } from '../../registry/reader.js';
import type { StoredResource } from '../../registry/resources.js';

/** Something that has to be there for a token to be good. */
export interface Reference {
  /** Of this very thing, whatever else may have its name. */
  readonly id: string;
  readonly stored: StoredResource;
  /** Where it lies in the cache. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** Tells it from others of the same name. Quick: asked for every request. */
  isMeant(object: CachedObject): boolean;
}

export interface ObjectsDeps {
  readonly reader: Pick<Reader, 'getStored' | 'revision'>;
  readonly nowMs: () => number;
}

/** The store's answer about an object that the cache does not have. */
interface Answer {
  readonly untilMs: number;
  readonly object: CachedObject | undefined;
}

/** An object that is being deleted is good for so long, as others give their programs time to end, too. */
const GRACE_MS = 60_000;
/** How long the store's word is taken before it is asked again. */
const ANSWER_MS = 1_000;
const MAX_ANSWERS = 4_096;

/**
 * Whether what tokens name is there. The watch cache tells, at no cost to speak of. What it does not know, another server
 * may have made just now: then the store is asked, once for all who ask at the same time and once in a second at most.
 */
export class ReferencedObjects {
  readonly #d: ObjectsDeps;
  readonly #answers = new LRUCache<string, Answer>({ max: MAX_ANSWERS });
  readonly #asking = new Map<string, Promise<Answer>>();

  constructor(d: ObjectsDeps) {
    this.#d = d;
  }

  /** @throws {StoreError} When the store has to be asked and does not answer. */
  present(reference: Reference): boolean | Promise<boolean> {
    const cached = this.#inCache(reference);
    if (cached !== undefined) return cached;
    const answer = this.#answers.get(reference.id);
    if (answer !== undefined && this.#d.nowMs() < answer.untilMs) return this.#holds(answer);
    return this.#ask(reference).then((fresh) => this.#inCache(reference) ?? this.#holds(fresh)); // it may have come there
  }

  /** undefined when the cache has none. */
  #inCache(reference: Reference): boolean | undefined {
    const cached = reference.stored.cache.get(reference.key);
    return cached !== undefined && reference.isMeant(cached) ? this.#lives(cached) : undefined;
  }

  /** An object that the cache does not have though it is as new as the store's answer is gone. */
  #holds({ object }: Answer): boolean {
    return object !== undefined && this.#d.reader.revision < object.revision && this.#lives(object);
  }

  #lives(object: CachedObject): boolean {
    return this.#d.nowMs() < deletedAtMs(object) + GRACE_MS;
  }

  #ask(reference: Reference): Promise<Answer> {
    const { id } = reference;
    let asking = this.#asking.get(id);
    if (asking === undefined) {
      asking = this.#fromStore(reference).finally(() => this.#asking.delete(id));
      this.#asking.set(id, asking);
    }
    return asking;
  }

  async #fromStore(reference: Reference): Promise<Answer> {
    const { id, stored, namespace, name } = reference;
    const found = await this.#d.reader.getStored(stored, namespace, name).catch((err: unknown) => {
      if (hasReason(err, 'NotFound')) return undefined;
      throw err;
    });
    const object = found !== undefined && reference.isMeant(found) ? found : undefined;
    const answer = { object, untilMs: this.#d.nowMs() + ANSWER_MS };
    this.#answers.set(id, answer);
    return answer;
  }
}

interface Life {
  readonly uid: string;
  /** Infinity: it is not being deleted. */
  readonly deletedAtMs: number;
}

/** Read once for each version of an object. */
const lives = new WeakMap<CachedObject, Life>();

export const uidOf = (object: CachedObject): string => lifeOf(object).uid;
export const deletedAtMs = (object: CachedObject): number => lifeOf(object).deletedAtMs;

/** Reads nothing but the metadata: of pods there is a new version with every change of their status. */
function lifeOf(object: CachedObject): Life {
  let life = lives.get(object);
  if (life === undefined) {
    const json = metadataSpan(object.bytes, object.layout.prefixLength).toString('utf8');
    const { uid = '', deletionTimestamp } = JSON.parse(json) as { uid?: string; deletionTimestamp?: string | null };
    const isDeleted = (deletionTimestamp ?? '') !== '';
    life = { uid, deletedAtMs: isDeleted ? Date.parse(deletionTimestamp ?? '') || 0 : Infinity };
    lives.set(object, life);
  }
  return life;
}
