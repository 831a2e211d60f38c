import type { ApiObject } from '../../../machinery/meta/object.js';
import { serviceAllocations, specOf } from '../addresses/service-spec.js';
import type { Strategy, StrategyOptions } from '../strategy.js';
import { dropWhatTypeLeaves, isLoadBalancer, keepAllocated, settleAddresses } from './services-update.js';

function prepareForCreate(service: ApiObject): void {
  service['status'] = { loadBalancer: {} };
  const spec = specOf(service);
  // Clients from before there were several know one address only.
  if ((spec.clusterIP ?? '') !== '' && spec.clusterIPs === undefined) spec.clusterIPs = [spec.clusterIP ?? ''];
}

function prepareForUpdate(next: ApiObject, old: ApiObject): void {
  const spec = specOf(next);
  const before = specOf(old);
  keepAllocated(spec, before);
  settleAddresses(spec, before);
  dropWhatTypeLeaves(spec, before);
  // The balancer is gone with the type, and what is known of it with the balancer.
  if (!isLoadBalancer(spec)) next['status'] = { ...(next['status'] as object | undefined), loadBalancer: {} };
}

/** A service has its addresses and ports to itself, and mostly leaves it to the server which they are. */
export const services = ({ addresses }: StrategyOptions): Partial<Strategy> => ({
  returnsDeleted: true,
  allocations: serviceAllocations,
  allocator: addresses,
  prepareForCreate,
  prepareForUpdate,
});
