import { dns1123Label, dns1123Subdomain, pathSegment } from '../../../../machinery/meta/names.js';
import type { At } from '../checks/at.js';
import { checkRule, requireText } from '../checks/members.js';

/** Something of any kind, named in its own words. */
export interface Reference {
  /** Written as null by kinds that always write it. */
  readonly apiGroup?: string | null;
  readonly kind?: string;
  readonly name?: string;
}

export function checkReference(at: At, { apiGroup, kind, name }: Reference): void {
  if (apiGroup !== undefined && apiGroup !== null) checkRule(at, 'apiGroup', apiGroup, dns1123Subdomain);
  requireText(at, 'kind', kind, pathSegment, 'kind is required');
  requireText(at, 'name', name, pathSegment, 'name is required');
}

export interface ScopedReference extends Reference {
  /** Always written. */
  readonly scope?: string | null;
  readonly namespace?: string;
}

const CLUSTER = 'Cluster';
const NAMESPACE = 'Namespace';

export function checkScopedReference(at: At, reference: ScopedReference): void {
  const { scope, namespace } = reference;
  checkReference(at, reference);
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
