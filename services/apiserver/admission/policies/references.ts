import { isDeepStrictEqual } from 'node:util';
import { parseApiVersion } from '../../../machinery/meta/gvk.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { field, invalid, qualified } from '../../../machinery/meta/status.js';
import type { ParamKind, ParamRef } from '../../../machinery/types/generated/admissionregistration.v1.js';
import type { ResourceAttributes } from '../../authorization/authorizer.js';
import type { LiveCatalog } from '../../registry/live-catalog.js';
import { PRIVILEGED_GROUP } from '../../request/users.js';
import type { AdmissionObjects } from '../objects.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import type { Decide } from './asking.js';

export interface ReferencesDeps {
  /** The API group of policies. */
  readonly group: string;
  readonly live: Pick<LiveCatalog, 'current'>;
  readonly objects: Pick<AdmissionObjects, 'cached'>;
  readonly decide: Decide;
}

const KINDS = ['mutating', 'validating'] as const;

/**
 * Policies show their parameters to whoever is told why he is refused: who writes a policy or a binding has to be allowed to
 * read them himself.
 */
export const policyReferences = (d: ReferencesDeps): AdmissionPlugin => ({
  operations: ['CREATE', 'UPDATE'],
  resources: KINDS.flatMap((kind) => [`${kind}admissionpolicies`, `${kind}admissionpolicybindings`]).map((resource) =>
    qualified({ group: d.group, resource }),
  ),
  validate: (request) => {
    const { object, oldObject, subresource, user } = request;
    if (object === undefined || subresource !== '' || user.groups.includes(PRIVILEGED_GROUP)) return undefined;
    const isBinding = request.resource.resource.endsWith('bindings');
    return isBinding ? checkBinding(d, request, object, oldObject) : checkPolicy(d, request, object, oldObject);
  },
});

interface Spec {
  readonly policyName?: string;
  readonly paramKind?: ParamKind;
  readonly paramRef?: ParamRef;
}
const specOf = (object: ApiObject | undefined): Spec => object?.['spec'] ?? {};

async function checkPolicy(
  d: ReferencesDeps,
  request: AdmissionRequest,
  object: ApiObject,
  old: ApiObject | undefined,
): Promise<void> {
  const { paramKind } = specOf(object);
  if (paramKind === undefined || isDeepStrictEqual(paramKind, specOf(old).paramKind)) return;
  if (await may(d, request, { ...resourceOf(d, paramKind), verb: 'get', namespace: '*', name: '*' })) return;
  const { kind = '', apiVersion = '' } = paramKind;
  const who = `user ${JSON.stringify(request.user.name)}`;
  const why = `${who} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  throw refusal(request, 'spec.paramKind', why);
}

async function checkBinding(
  d: ReferencesDeps,
  request: AdmissionRequest,
  object: ApiObject,
  old: ApiObject | undefined,
): Promise<void> {
  const { paramRef, policyName = '' } = specOf(object);
  const before = specOf(old);
  if (paramRef === undefined) return;
  if (isDeepStrictEqual(paramRef, before.paramRef) && policyName === before.policyName) return;
  const resource = request.resource.resource.replace('policybindings', 'policies');
  const policy = d.objects.cached({ group: d.group, resource }, '', policyName);
  const { paramKind } = specOf(policy?.parse() as ApiObject | undefined); // we encoded it
  const { name = '', namespace = '' } = paramRef;
  const verb = name === '' ? 'list' : 'get';
  if (await may(d, request, { ...resourceOf(d, paramKind), verb, namespace, name })) return;
  const who = `user ${JSON.stringify(request.user.name)}`;
  const why = `${who} does not have "${verb}" permission on the object referenced by paramRef`;
  throw refusal(request, 'spec.paramRef', why);
}

/** What is not known may be anything: only who may read all may name it. */
function resourceOf(
  { live }: ReferencesDeps,
  paramKind: ParamKind | undefined,
): Pick<ResourceAttributes, 'group' | 'version' | 'resource'> {
  const parsed = parseApiVersion(paramKind?.apiVersion ?? '');
  if (paramKind === undefined || parsed === undefined) return { group: '*', version: '*', resource: '*' };
  const { group, version } = parsed;
  const served = live.current.api.groups
    .find(({ name }) => name === group)
    ?.versions.find((it) => it.version === version);
  const declaration = served?.resources.find(({ kind }) => kind === paramKind.kind);
  return { group, version, resource: declaration?.resource ?? '*' };
}

async function may(
  { decide }: ReferencesDeps,
  request: AdmissionRequest,
  about: Omit<ResourceAttributes, 'kind' | 'subresource'>,
): Promise<boolean> {
  request.leaveTurn();
  const { decision } = await decide(request.user, { kind: 'resource', subresource: '', ...about });
  return decision === 'allow';
}

const refusal = ({ resource, name, object }: AdmissionRequest, at: string, why: string): Error =>
  invalid(resource, name || (object?.metadata.name ?? ''), [field.forbidden(at, why)]);
