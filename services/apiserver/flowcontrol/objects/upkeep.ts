import type { ApiObject } from '../../../machinery/meta/object.js';
import { now } from '../../../machinery/meta/time.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../../cache/cached-object.js';
import { prepareForUpdate } from '../../registry/prepare.js';
import type { Part } from '../../registry/parts.js';
import { keyOf, type StoredResource, type ResourceTable, type ServedResource } from '../../registry/resources.js';
import { settle } from '../../registry/settle.js';
import type { WriteDecision, Writer } from '../../registry/writer.js';
import { flowResource } from '../open-flow-control.js';
import { FLOW_RESOURCES, firstObjects, type FirstObject, type FlowResource } from './bootstrap-objects.js';
import { withDangling } from './dangling.js';
import { isOurs, reconciled } from './reconcile.js';

export interface UpkeepDeps {
  readonly resources: ResourceTable;
  readonly writer: Writer;
  readonly vocabulary: Vocabulary;
}

type Judge = (current: CachedObject) => WriteDecision;
const NOTHING: WriteDecision = { do: 'nothing' };

/**
 * Keeps the levels and schemas of every installation: makes those that are missing, gives those
 * that are kept the spec that this server proposes, removes those that are proposed no more, and says of each schema
 * whether its level is missing. Every server does; what one has written, the others find in place.
 */
export class Upkeep {
  readonly #d: UpkeepDeps;
  readonly #first: readonly FirstObject[];

  constructor(d: UpkeepDeps) {
    this.#d = d;
    // Decoded as if a client had sent it: with all defaults, and its members in the order in which they are stored.
    this.#first = firstObjects(d.vocabulary).map((first) => ({
      ...first,
      object: this.#served(first.resource).decode(first.object),
    }));
  }

  /** The resources that it reads and writes. */
  get caches(): readonly StoredResource['cache'][] {
    return FLOW_RESOURCES.map((resource) => this.#stored(resource).cache);
  }

  /**
   * Makes what is missing and brings the rest in line; what is in order is only read, and from the cache.
   *
   * @returns Whether anything was written. @throws {StatusError} When an object could not be. The rest may have been.
   */
  async settleFirst(): Promise<boolean> {
    let written = 0;
    for (const resource of FLOW_RESOURCES) written += await this.#settle(resource);
    return written > 0;
  }

  /** Looks at what is said of each object, and at those that are proposed no more. Returns and throws as `settleFirst`. */
  async settleRest(): Promise<boolean> {
    let written = await this.#each('flowschemas', (current) => this.#judgeStatus(current));
    for (const resource of FLOW_RESOURCES) {
      const names = new Set(this.#firstOf(resource).map(({ object }) => object.metadata.name));
      written += await this.#each(resource, (current) => this.#judgeLeftOver(current, names));
    }
    return written > 0;
  }

  async #settle(resource: FlowResource): Promise<number> {
    const missing = this.#firstOf(resource).filter((first) => !this.#isInLine(first));
    await Promise.all(missing.map((first) => this.#settleOne(first)));
    return missing.length;
  }

  #firstOf(resource: FlowResource): readonly FirstObject[] {
    return this.#first.filter((first) => first.resource === resource);
  }

  #isInLine({ resource, object, mandatory }: FirstObject): boolean {
    const stored = this.#stored(resource);
    const seen = stored.cache.newest(keyOf(stored, '', object.metadata.name ?? ''));
    return seen !== undefined && this.#judge(seen, resource, object, mandatory).do === 'nothing';
  }

  async #settleOne({ resource, object, mandatory }: FirstObject): Promise<void> {
    const stored = this.#stored(resource);
    const judge: Judge = (current) => this.#judge(current, resource, object, mandatory);
    await settle(this.#d.writer, stored, object, judge);
  }

  #judge(current: CachedObject, resource: FlowResource, wanted: ApiObject, mandatory: boolean): WriteDecision {
    const present = current.parse() as ApiObject; // we encoded it
    const autoupdate = this.#d.vocabulary.annotations.flowControlAutoupdate;
    return this.#put(resource, '', present, reconciled(present, wanted, { autoupdate, mandatory }));
  }

  #judgeStatus(current: CachedObject): WriteDecision {
    const levels = this.#stored('prioritylevelconfigurations');
    const exists = (level: string): boolean => levels.cache.newest(keyOf(levels, '', level)) !== undefined;
    const present = current.parse() as ApiObject; // we encoded it
    return this.#put('flowschemas', 'status', present, withDangling(present, exists, now()));
  }

  #judgeLeftOver(current: CachedObject, names: ReadonlySet<string | undefined>): WriteDecision {
    if (names.has(current.name)) return NOTHING;
    const present = current.parse() as ApiObject; // we encoded it
    return isOurs(present, this.#d.vocabulary.annotations.flowControlAutoupdate) ? { do: 'delete' } : NOTHING;
  }

  /** Writes each object that `judge` wants otherwise. @returns How many. */
  async #each(resource: FlowResource, judge: Judge): Promise<number> {
    const stored = this.#stored(resource);
    const { cache } = stored;
    const others = [...cache.objects()].filter((seen) => judge(cache.newest(seen.key) ?? seen).do !== 'nothing');
    await Promise.all(others.map(({ name }) => this.#change(stored, name, judge)));
    return others.length;
  }

  async #change(stored: StoredResource, name: string, judge: Judge): Promise<void> {
    const target = { stored, namespace: '', name };
    await this.#d.writer.write(target, (current) => (current === undefined ? NOTHING : judge(current)));
  }

  #put(resource: FlowResource, part: Part, present: ApiObject, next: ApiObject | undefined): WriteDecision {
    if (next === undefined) return NOTHING;
    const served = this.#served(resource);
    return { do: 'put', object: prepareForUpdate(served, part, served.decode(next), present) };
  }

  #stored(resource: FlowResource): StoredResource {
    return flowResource(this.#d.resources, this.#d.vocabulary, resource);
  }

  #served(resource: FlowResource): ServedResource {
    const { hub } = this.#stored(resource);
    const served = this.#d.resources.served(hub);
    if (served === undefined) throw new Error(`${hub.resource} are not served in the version in which they are stored`);
    return served;
  }
}
