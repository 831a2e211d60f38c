import { hasFired } from '../../../machinery/loop/repeat.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../../cache/cached-object.js';
import { runOnChanges } from '../../cache/changes.js';
import type { ResourceCache } from '../../cache/resource-cache.js';
import type { Log } from '../../../machinery/log/log.js';
import { declaredResource, type StoredResource, type ResourceTable } from '../../registry/resources.js';
import type { WriteDecision, Writer } from '../../registry/writer.js';
import { aggregatedRules, sameRules, writtenRule, type SelectableRole } from '../../../machinery/rbac/aggregation.js';
import { memberOf, rulesOf } from '../../../machinery/rbac/policy-rule.js';
import { readObject } from './rules.js';

export interface AggregationDeps {
  readonly resources: ResourceTable;
  readonly writer: Writer;
  readonly vocabulary: Vocabulary;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * Keeps the rules of roles that gather them in step with the roles that they gather from, until `signal` fires. Every
 * server does; what one has written, the others find in place. Never throws.
 */
export async function runAggregation(d: AggregationDeps, signal: AbortSignal): Promise<void> {
  const aggregation = new Aggregation(d);
  await runOnChanges(
    {
      caches: [aggregation.cache],
      pass: async () => {
        await aggregation.pass(signal);
        return 0;
      },
      onFailure: (err) => d.log.warn('Rules of a role that gathers them could not be written yet', { err }),
    },
    signal,
  );
}

/** The part of a role that aggregation reads; read once for each state. */
interface KnownRole extends SelectableRole {
  readonly aggregationRule: unknown;
}

/** The roles of the cluster as of the cache. */
class Aggregation {
  readonly #d: AggregationDeps;
  readonly #stored: StoredResource;
  /** Read at the first look after a change. */
  readonly #known = new WeakMap<CachedObject, KnownRole>();

  constructor(d: AggregationDeps) {
    this.#d = d;
    this.#stored = declaredResource(d.resources, d.vocabulary.groups.rbac, 'clusterroles');
  }

  get cache(): ResourceCache {
    return this.#stored.cache;
  }

  /**
   * Looks at every role once. Roles that gather from each other bring it back by their changes.
   *
   * @throws What the last role that could not be written failed with; the others have been.
   */
  async pass(signal: AbortSignal): Promise<void> {
    let failure: unknown;
    for (const { name } of this.#gathering()) {
      if (hasFired(signal)) return;
      try {
        await this.#d.writer.write({ stored: this.#stored, namespace: '', name }, (current) => this.#judge(current));
      } catch (err) {
        failure = err;
      }
    }
    if (failure !== undefined) throw failure as Error;
  }

  /** Those whose rules are not what they should be. */
  #gathering(): readonly CachedObject[] {
    return [...this.#stored.cache.objects()].filter((object) => this.#rulesFor(object) !== undefined);
  }

  /** The rules that a role should have; undefined when it has them, or when they are its own. */
  #rulesFor(object: CachedObject): readonly object[] | undefined {
    const role = this.#read(object);
    if (role.aggregationRule === undefined) return undefined;
    const all = [...this.#stored.cache.objects()].map((other) => this.#read(other));
    const rules = aggregatedRules(role, all);
    return rules === undefined || sameRules(rules, role.rules) ? undefined : rules.map(writtenRule);
  }

  /** A role that is gone gathers nothing. */
  #judge(current: CachedObject | undefined): WriteDecision {
    const rules = current === undefined ? undefined : this.#rulesFor(current);
    if (current === undefined || rules === undefined) return { do: 'nothing' };
    const object = { ...(current.parse() as ApiObject), rules }; // we encoded it
    return { do: 'put', object: this.#d.resources.served(this.#stored.hub)?.decode(object) ?? object };
  }

  #read(object: CachedObject): KnownRole {
    let known = this.#known.get(object);
    if (known === undefined) this.#known.set(object, (known = knownRole(object)));
    return known;
  }
}

function knownRole(object: CachedObject): KnownRole {
  const role = readObject(object);
  const labels = memberOf(memberOf(role, 'metadata'), 'labels');
  return {
    name: object.name,
    labels: (labels ?? {}) as Readonly<Record<string, string>>, // checked on write
    rules: rulesOf(role),
    aggregationRule: memberOf(role, 'aggregationRule'),
  };
}
