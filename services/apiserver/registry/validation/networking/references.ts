import { dns1123Label, dns1123Subdomain, pathSegment } from '../../../../machinery/meta/metadata.js';
import type { TypedLocalObjectReference } from '../../../../machinery/types/generated/core.v1.js';
import type {
  IngressClassParametersReference,
  IngressClassSpec,
} from '../../../../machinery/types/generated/networking.v1.js';
import { type At, checkRule, requireText } from '../checks/at.js';
import { checkDomainPath } from '../checks/domain-path.js';

/** Something of any kind, named in its own words. */
export function checkReference(at: At, { apiGroup, kind, name }: TypedLocalObjectReference): void {
  if (apiGroup !== undefined && apiGroup !== null) checkRule(at, 'apiGroup', apiGroup, dns1123Subdomain);
  requireText(at, 'kind', kind, pathSegment, 'kind is required');
  requireText(at, 'name', name, pathSegment, 'name is required');
}

const CLUSTER = 'Cluster';
const NAMESPACE = 'Namespace';

export function checkScope(at: At, { scope, namespace }: IngressClassParametersReference): void {
  // Left out it is the cluster.
  if (scope !== undefined && scope !== null && scope !== CLUSTER && scope !== NAMESPACE) {
    at.notSupported('scope', scope, [CLUSTER, NAMESPACE]);
  } else if (scope === NAMESPACE) {
    if (namespace === undefined) at.required('namespace', "`parameters.scope` is set to 'Namespace'");
    else checkRule(at, 'namespace', namespace, dns1123Label);
  } else if (namespace !== undefined) {
    at.forbidden('namespace', "`parameters.scope` is set to 'Cluster'");
  }
}

export function checkController(at: At, { controller = '' }: IngressClassSpec): void {
  if (controller !== '') checkDomainPath(at, 'controller', controller);
}
