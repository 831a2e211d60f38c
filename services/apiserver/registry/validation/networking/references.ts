import { dns1123Label, dns1123Subdomain, pathSegment } from '../../../../machinery/meta/metadata.js';
import type { TypedLocalObjectReference } from '../../../../machinery/types/generated/core.v1.js';
import type {
  IngressClassParametersReference,
  IngressClassSpec,
} from '../../../../machinery/types/generated/networking.v1.js';
import { type At, checkRule, requireText } from '../checks/at.js';
import { httpPath } from '../checks/text.js';

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

/** `example.com/controller`: whose it is, and which. */
export function checkController(at: At, { controller = '' }: IngressClassSpec): void {
  if (controller === '') return;
  const slash = controller.indexOf('/');
  if (slash <= 0 || slash === controller.length - 1) {
    at.invalid('controller', controller, 'must be a domain-prefixed path (such as "acme.io/foo")');
    return;
  }
  checkRule(at, 'controller', controller.slice(0, slash), dns1123Subdomain);
  checkRule(at, 'controller', controller.slice(slash + 1), httpPath);
}
