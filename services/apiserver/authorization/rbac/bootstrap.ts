import type { ApiObject } from '../../../machinery/meta/object.js';
import { hasReason } from '../../../machinery/meta/status.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../../cache/cached-object.js';
import { prepareForCreate } from '../../registry/prepare.js';
import { keyOf, type StoredResource } from '../../registry/resource.js';
import type { ResourceTable } from '../../registry/resources.js';
import type { WriteDecision, Writer } from '../../registry/writer.js';
import { bootstrapPolicy, type PolicyObject } from './bootstrap-policy.js';
import { rbacResource } from './open.js';
import { reconciled } from './reconcile.js';

export interface PolicyDeps {
  readonly resources: ResourceTable;
  readonly writer: Writer;
  readonly vocabulary: Vocabulary;
}

/** Another server may be making or replacing the same object; it does so once. */
const MAX_ATTEMPTS = 5;

/**
 * Brings the roles and bindings of every installation in line with the policy (spec 2, 5.9). Everything is written at the
 * same time; where nothing is missing, nothing is. The caches have to be loaded, and the first namespaces to be there.
 *
 * @throws {StatusError} When an object could not be written. The rest may have been.
 */
export async function reconcilePolicy(d: PolicyDeps): Promise<void> {
  await Promise.all(bootstrapPolicy(d.vocabulary).map((wanted) => settle(d, wanted)));
}

async function settle({ resources, writer, vocabulary }: PolicyDeps, wanted: PolicyObject): Promise<void> {
  const stored = rbacResource(resources, vocabulary.groups.rbac, wanted.resource);
  const { object } = wanted;
  const judge = (current: CachedObject): WriteDecision => {
    const step = reconciled(current.parse() as ApiObject, object, vocabulary.annotations.rbacAutoupdate); // we encoded it
    if (step.do === 'put')
      return { do: 'put', object: resources.served(stored.hub)?.decode(step.object) ?? step.object };
    return step.do === 'replace' ? { do: 'delete' } : { do: 'nothing' };
  };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (await settled(writer, stored, object, judge)) return;
  }
  throw new Error(`${stored.hub.kind} ${object.metadata.name ?? ''} could not be brought in line with the policy`);
}

/** One round. @returns Whether the object is there as it should be. */
export async function settled(
  writer: Writer,
  stored: StoredResource,
  wanted: ApiObject,
  judge: (current: CachedObject) => WriteDecision,
): Promise<boolean> {
  const { name = '', namespace = '' } = wanted.metadata;
  const seen = stored.cache.newest(keyOf(stored, namespace, name));
  if (seen !== undefined && judge(seen).do === 'nothing') return true;
  try {
    if (seen !== undefined) {
      const { removed } = await writer.change(stored, namespace, name, judge);
      if (!removed) return true;
    }
    await create(writer, stored, wanted);
    return true;
  } catch (err) {
    if (hasReason(err, 'AlreadyExists') || hasReason(err, 'NotFound')) return false; // somebody was quicker
    throw err;
  }
}

async function create(writer: Writer, stored: StoredResource, wanted: ApiObject): Promise<void> {
  const object: ApiObject = { ...wanted, metadata: { ...wanted.metadata } };
  prepareForCreate(stored, object);
  await writer.create(stored, object);
}
