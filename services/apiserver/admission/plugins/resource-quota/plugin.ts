import type { ApiObject } from '../../../../machinery/meta/object.js';
import { forbidden, qualified, type ResourceName } from '../../../../machinery/meta/status.js';
import { addAmount } from '../../../../machinery/quota/amounts.js';
import { Evaluators, isCounted, usageOf } from '../../../../machinery/quota/evaluators.js';
import { scopesOf } from '../../../../machinery/quota/scopes.js';
import type { ResourceQuota, ResourceQuotaSpec } from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../../../cache/cached-object.js';
import type { Companion } from '../../../registry/companions.js';
import type { ResourceTable } from '../../../registry/resources.js';
import { derived, type AdmissionObjects } from '../../objects.js';
import type { AdmissionPlugin, StoredChange } from '../../plugin.js';
import { charged, type Counted, type PresentUse } from './charge.js';
import { refuseUncovered, type LimitedResource } from './limited.js';

const QUOTAS = { group: '', resource: 'resourcequotas' };

export interface ResourceQuotaDeps {
  readonly vocabulary: Vocabulary;
  readonly objects: AdmissionObjects;
  readonly resources: Pick<ResourceTable, 'stored'>;
  /** Ends with the server. */
  readonly signal: AbortSignal;
  /** Used only where a quota limits them. */
  readonly limited: readonly LimitedResource[];
}

/** Of one quota, as far as it is the same for all changes. */
interface Compiled {
  readonly name: string;
  readonly spec: ResourceQuotaSpec;
  readonly hard: readonly string[];
  /** Names whose use its status does not tell. */
  readonly untold: readonly string[];
}

/**
 * Counts what is written against the quotas of its namespace, in the transaction that writes it (spec 2, 4.4). What is removed
 * or uses less is given back by the transaction that does it.
 */
export function resourceQuota(d: ResourceQuotaDeps): AdmissionPlugin {
  const evaluators = new Evaluators(d.vocabulary);
  const compiled = derived(compile);
  const isCountable = (name: string): boolean => countedBy(name, evaluators, d) !== undefined;
  const presentUse = presentUseOf(d, evaluators);
  const isIgnored = ignored(d.vocabulary);

  const charge = async (change: StoredChange, quotas: readonly CachedObject[]): Promise<Companion[]> => {
    const { hub } = change.stored;
    const evaluator = evaluators.of(hub);
    const all = quotas.map((quota) => ({ quota, ...compiled(quota) }));
    const counting = all.filter(({ hard }) => hard.some((name) => evaluator.counts(name)));
    if (counting.length === 0 && d.limited.length === 0) return [];
    const old = change.current?.parse() as ApiObject | undefined; // we encoded it
    const counted: Counted = { resource: hub, name: change.name, evaluator, old, next: change.next };
    for (const quota of counting) refuseMissing(counted, quota);
    refuseUnlimited(d.limited, counted, counting);
    if (counting.some(({ untold }) => untold.some(isCountable))) await d.objects.whenFresh({ signal: d.signal });
    return counting.map(({ quota: { namespace, name } }) => ({
      stored: d.objects.stored(QUOTAS),
      namespace,
      name,
      next: (current) => (current === undefined ? undefined : charged(current, counted, presentUse)),
    }));
  };

  return {
    operations: [],
    charge: (change) => {
      const { hub } = change.stored;
      if (!hub.namespaced || isIgnored(qualified(hub))) return [];
      const isUpdate = change.current !== undefined && change.next !== undefined;
      if (isUpdate && evaluators.of(hub).isConstant === true) return [];
      const quotas = d.objects.list(QUOTAS, change.namespace);
      return quotas.length === 0 && d.limited.length === 0 ? [] : charge(change, quotas);
    },
  };
}

function compile(quota: ApiObject): Compiled {
  const { spec = {}, status = {} } = quota as ApiObject & ResourceQuota;
  const hard = Object.keys(spec.hard ?? {});
  const { used = {} } = status;
  return { name: quota.metadata.name ?? '', spec, hard, untold: hard.filter((name) => !Object.hasOwn(used, name)) };
}

/** Events come and go by themselves. */
function ignored({ groups }: Vocabulary): (name: string) => boolean {
  const names = new Set(['events', `events.${groups.events}`]);
  return (name) => names.has(name);
}

/** @throws {StatusError} Forbidden when a new object leaves open what a quota has to know */
function refuseMissing({ resource, name, evaluator, old, next }: Counted, { name: quota, spec, hard }: Compiled): void {
  if (old !== undefined || next === undefined || evaluator.missing === undefined) return;
  if (!isCounted(evaluator, spec, next)) return;
  const missing = [...evaluator.missing(next, hard)].map(([of, parts]) => `${of} for: ${parts.join(',')}`);
  if (missing.length === 0) return;
  throw forbidden(resource, name, `failed quota: ${quota}: must specify ${missing.join('; ')}`);
}

/** @throws {StatusError} Forbidden when a new object uses what only quotas give, and none does */
function refuseUnlimited(
  limited: readonly LimitedResource[],
  { resource, name, evaluator, old, next }: Counted,
  counting: readonly Compiled[],
): void {
  if (limited.length === 0 || next === undefined || (old !== undefined && !evaluator.checksUpdates)) return;
  const covering = counting.filter(({ spec }) => isCounted(evaluator, spec, next));
  const names = new Set(covering.flatMap(({ hard }) => hard));
  const scopes = covering.flatMap(({ spec }) => scopesOf(spec));
  refuseUncovered(limited, { resource, name, object: next, usage: evaluator.usage(next), names, scopes });
}

/** The resource that a name of a quota counts, if it is served. */
function countedBy(name: string, evaluators: Evaluators, { resources }: ResourceQuotaDeps): ResourceName | undefined {
  const of = evaluators.counted(name);
  return of === undefined || resources.stored(of.group, of.resource) === undefined ? undefined : of;
}

/** Counts the objects of the caches: for a quota of which nothing is known yet. Of what counts nothing it says nothing. */
const presentUseOf =
  (d: ResourceQuotaDeps, evaluators: Evaluators): PresentUse =>
  (quota, name) => {
    const of = countedBy(name, evaluators, d);
    if (of === undefined) return undefined;
    const { spec = {}, metadata = {} } = quota;
    const evaluator = evaluators.of(of);
    const sum = new Map([[name, '0']]);
    for (const object of d.objects.list(of, metadata.namespace ?? '')) {
      const used = usageOf(evaluator, spec, object.parse() as ApiObject).get(name); // we encoded it
      if (used !== undefined) addAmount(sum, name, used);
    }
    return sum.get(name) ?? '0';
  };
