import { isDeepStrictEqual } from 'node:util';
import { apiVersionOf, type ApiObject } from '../../../machinery/meta/object.js';
import type { OwnerReference } from '../../../machinery/types/generated/meta.v1.js';
import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import type { Attributes, Decision } from '../../authorization/authorizer.js';
import type { ServedApi } from '../../registry/served.js';
import type { UserInfo } from '../../request/request.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { refused } from '../refusal.js';

export interface OwnerReferencesDeps {
  /** What is served just now. */
  readonly served: () => Pick<ServedApi, 'groups'>;
  /** Asks all authorizers. */
  readonly decide: (user: UserInfo, attributes: Attributes) => Promise<Decision> | Decision;
}

/**
 * Owners take what they own with them, and may be kept by it. To change the owners of an object needs the right to delete it; a
 * new reference that keeps its owner needs the right to update the finalizers of the owner (spec 2, 4.4).
 */
export const ownerReferencesPermissionEnforcement = (d: OwnerReferencesDeps): AdmissionPlugin => ({
  operations: ['CREATE', 'UPDATE'],
  validate: async (request) => {
    const { object, oldObject, resource, subresource } = request;
    const owners = ownersOf(object);
    const before = ownersOf(oldObject);
    if (isDeepStrictEqual(owners, before)) return;
    // Agents write the status of pods, and own none of what is in it.
    if (resource.group === '' && resource.resource === 'pods' && subresource === 'status') return;
    if (oldObject !== undefined) await mayDelete(d, request);
    const kept = new Set(before.filter(isBlocking).map(({ uid }) => uid));
    for (const owner of owners.filter((it) => isBlocking(it) && !kept.has(it.uid))) await mayBlock(d, request, owner);
  },
});

const ownersOf = (object: ApiObject | undefined): readonly OwnerReference[] => object?.metadata.ownerReferences ?? [];

const isBlocking = ({ blockOwnerDeletion = false }: OwnerReference): boolean => blockOwnerDeletion;

async function mayDelete({ decide }: OwnerReferencesDeps, request: AdmissionRequest): Promise<void> {
  const { resource, subresource, namespace, name, user } = request;
  const { group, version } = resource;
  const attributes = { group, version, resource: resource.resource, subresource, namespace, name };
  const decision = await decide(user, { kind: 'resource', verb: 'delete', ...attributes });
  refuseUnless(decision, request, "cannot set an ownerRef on a resource you can't delete");
}

async function mayBlock(d: OwnerReferencesDeps, request: AdmissionRequest, owner: OwnerReference): Promise<void> {
  const { apiVersion = '', kind = '', name = '' } = owner;
  const { namespace, user } = request;
  const found = ofKind(d.served(), apiVersion, kind);
  if (found.length === 0) {
    const why = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`;
    const where = `RESTMapping for APIVersion ${apiVersion} Kind ${kind}`;
    throw refused(request, `cannot set blockOwnerDeletion in this case because cannot find ${where}: ${why}`);
  }
  for (const { group, version, resource, namespaced } of found) {
    const attributes = { group, version, resource, subresource: 'finalizers', name };
    const where = { namespace: namespaced ? namespace : '' };
    const decision = await d.decide(user, { kind: 'resource', verb: 'update', ...attributes, ...where });
    const why = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
    refuseUnless(decision, request, why);
  }
}

const ofKind = (
  { groups }: Pick<ServedApi, 'groups'>,
  apiVersion: string,
  kind: string,
): readonly ResourceDeclaration[] =>
  groups
    .flatMap(({ versions }) => versions)
    .flatMap(({ resources }) => resources)
    .filter((resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion);

function refuseUnless({ decision, reason, error = '<nil>' }: Decision, request: AdmissionRequest, why: string): void {
  if (decision !== 'allow') throw refused(request, `${why}: ${reason}, ${error}`);
}
