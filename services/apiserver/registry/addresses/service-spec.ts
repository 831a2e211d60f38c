import type { ApiObject } from '../../../machinery/meta/object.js';
import { parseIp, formatIp } from './ip.js';

export interface ServicePort {
  name?: string;
  protocol?: string;
  port?: number;
  nodePort?: number;
}

/** The fields of a service that decide which addresses and ports it has. Its own copy: members may be set. */
export interface ServiceSpec {
  type?: string;
  ports?: ServicePort[];
  selector?: Readonly<Record<string, string>>;
  clusterIP?: string;
  clusterIPs?: string[];
  ipFamilies?: string[];
  ipFamilyPolicy?: string;
  externalTrafficPolicy?: string;
  healthCheckNodePort?: number;
  allocateLoadBalancerNodePorts?: boolean;
  loadBalancerClass?: string;
}

export const HEADLESS = 'None';

export const specOf = (service: ApiObject): ServiceSpec => service['spec'] ?? {}; // decoded

export const isHeadless = ({ clusterIP = '', clusterIPs = [] }: ServiceSpec): boolean =>
  (clusterIPs[0] ?? clusterIP) === HEADLESS;

/** A name for something elsewhere has no address here. */
export const hasClusterIp = ({ type = 'ClusterIP' }: ServiceSpec): boolean => type !== 'ExternalName';

/** Whether it can be had on the machines' own addresses. */
export const isOnNodes = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer';

/** Whether each of its ports gets one on the machines. */
export const getsNodePorts = ({ type, allocateLoadBalancerNodePorts: allocate = true }: ServiceSpec): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocate);

/** Whether machines say on a port of their own if they have something to send traffic to. */
export const isHealthChecked = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local';

export const nodePortsOf = ({ ports = [] }: ServiceSpec): number[] =>
  ports.flatMap(({ nodePort = 0 }) => (nodePort === 0 ? [] : [nodePort]));

/** The allocation of an address, however it is written; undefined for what is none. */
export function ipAllocation(text: string): string | undefined {
  const ip = parseIp(text);
  return ip === undefined ? undefined : `clusterip/${formatIp(ip)}`;
}

/** Node ports are had for all protocols at once: one service may use the same for several of them. */
export const portAllocation = (port: number): string => `nodeport/${port}`;

/** Everything that a service has to itself. */
export function serviceAllocations(service: ApiObject): readonly string[] {
  const spec = specOf(service);
  if (!hasClusterIp(spec)) return [];
  const { clusterIP = '', clusterIPs = [clusterIP], healthCheckNodePort = 0 } = spec;
  const addresses = clusterIPs.flatMap((text) => ipAllocation(text) ?? []);
  const ports = [...nodePortsOf(spec), ...(healthCheckNodePort === 0 ? [] : [healthCheckNodePort])];
  return [...new Set([...addresses, ...ports.map(portAllocation)])];
}
