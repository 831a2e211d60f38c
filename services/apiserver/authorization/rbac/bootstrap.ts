import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../../cache/cached-object.js';
import { type ResourceTable, declaredResource } from '../../registry/resources.js';
import { settle } from '../../registry/settle.js';
import type { WriteDecision, Writer } from '../../registry/writer.js';
import { bootstrapPolicy, type PolicyObject } from './bootstrap-policy.js';
import { reconciled } from './reconcile.js';

export interface PolicyDeps {
  readonly resources: ResourceTable;
  readonly writer: Writer;
  readonly vocabulary: Vocabulary;
}

/**
 * Brings the roles and bindings of every installation in line with the policy (spec 2, 5.9). Everything is written at the
 * same time; where nothing is missing, nothing is. The caches have to be loaded, and the first namespaces to be there.
 *
 * @throws {StatusError} When an object could not be written. The rest may have been.
 */
export async function reconcilePolicy(d: PolicyDeps): Promise<void> {
  await Promise.all(bootstrapPolicy(d.vocabulary).map((wanted) => keep(d, wanted)));
}

async function keep({ resources, writer, vocabulary }: PolicyDeps, wanted: PolicyObject): Promise<void> {
  const stored = declaredResource(resources, vocabulary.groups.rbac, wanted.resource);
  const { object } = wanted;
  const judge = (current: CachedObject): WriteDecision => {
    const step = reconciled(current.parse() as ApiObject, object, vocabulary.annotations.rbacAutoupdate); // we encoded it
    if (step.do === 'put')
      return { do: 'put', object: resources.served(stored.hub)?.decode(step.object) ?? step.object };
    return step.do === 'replace' ? { do: 'delete' } : { do: 'nothing' };
  };
  await settle(writer, stored, object, judge);
}
