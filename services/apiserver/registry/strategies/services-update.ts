import { same } from '../addresses/families.js';
import {
  getsNodePorts,
  hasClusterIp,
  isHealthChecked,
  isOnNodes,
  nodePortsOf,
  type ServiceSpec,
} from '../addresses/service-spec.js';

/*
 * Writes of a service that leave out or repeat allocated addresses and ports: clients send back what they
 * read, or what they wrote themselves, and mean neither to lose an address nor to keep one that the new type cannot
 * have. `next` is changed in place.
 */

/** Allocated addresses and ports stay where a write leaves them out. */
export function keepAllocated(next: ServiceSpec, old: ServiceSpec): void {
  if (hasClusterIp(next) && hasClusterIp(old)) {
    if ((next.clusterIP ?? '') === '' && old.clusterIP !== undefined) next.clusterIP = old.clusterIP;
    if ((next.clusterIPs ?? []).length === 0 && next.clusterIP === old.clusterIP) setAddresses(next, old.clusterIPs);
  }
  if (getsNodePorts(next) && isOnNodes(old)) keepNodePorts(next, old);
  if (isHealthChecked(next) && isHealthChecked(old) && (next.healthCheckNodePort ?? 0) === 0) {
    const { healthCheckNodePort: kept } = old;
    if (kept !== undefined) next.healthCheckNodePort = kept;
  }
}

/** Ports are known by their names; a number that is given to another port belongs to that one. */
function keepNodePorts(next: ServiceSpec, old: ServiceSpec): void {
  const used = new Set(nodePortsOf(next));
  const byName = new Map(old.ports?.map(({ name = '', nodePort = 0 }) => [name, nodePort]));
  for (const port of next.ports ?? []) {
    const kept = byName.get(port.name ?? '') ?? 0;
    if ((port.nodePort ?? 0) !== 0 || kept === 0 || used.has(kept)) continue;
    port.nodePort = kept;
    used.add(kept);
  }
}

/** Brings the list of addresses in line with its first one, where a client changed only what it knew of. */
export function settleAddresses(next: ServiceSpec, old: ServiceSpec): void {
  const address = next.clusterIP ?? '';
  const before = old.clusterIP ?? '';
  if (address === before) {
    if ((next.clusterIPs ?? []).length === 0) setAddresses(next, old.clusterIPs);
  } else if (same(next.clusterIPs, old.clusterIPs)) {
    setAddresses(next, address === '' ? undefined : [address]);
  }
}

function setAddresses(spec: ServiceSpec, addresses: readonly string[] | undefined): void {
  if (addresses === undefined || addresses.length === 0) delete spec.clusterIPs;
  else spec.clusterIPs = [...addresses];
}

/** Fields that the new type cannot have go, unless they change in the same write: then validation refuses them. */
export function dropWhatTypeLeaves(next: ServiceSpec, old: ServiceSpec): void {
  if (hasClusterIp(old) && !hasClusterIp(next)) dropAddresses(next, old);
  if (isOnNodes(old) && !isOnNodes(next) && hasNoNewPort(next, old)) {
    for (const port of next.ports ?? []) delete port.nodePort;
  }
  const drop = (member: keyof ServiceSpec, applies: (spec: ServiceSpec) => boolean): void => {
    if (applies(old) && !applies(next) && next[member] === old[member]) Reflect.deleteProperty(next, member);
  };
  drop('healthCheckNodePort', isHealthChecked);
  drop('allocateLoadBalancerNodePorts', isLoadBalancer);
  drop('loadBalancerClass', isLoadBalancer);
  drop('externalTrafficPolicy', isOnNodes);
}

export const isLoadBalancer = ({ type }: ServiceSpec): boolean => type === 'LoadBalancer';

function dropAddresses(next: ServiceSpec, old: ServiceSpec): void {
  if (same(next.clusterIPs, old.clusterIPs)) {
    delete next.clusterIP;
    delete next.clusterIPs;
  }
  if (same(next.ipFamilies, old.ipFamilies)) delete next.ipFamilies;
  if (next.ipFamilyPolicy === old.ipFamilyPolicy) delete next.ipFamilyPolicy;
}

function hasNoNewPort(next: ServiceSpec, old: ServiceSpec): boolean {
  const had = new Set(nodePortsOf(old));
  return nodePortsOf(next).every((port) => had.has(port));
}
