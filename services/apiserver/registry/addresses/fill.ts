import { field, type FieldError } from '../../../machinery/meta/status.js';
import { wrongAddress } from './families.js';
import { parseIp } from './ip.js';
import { isPortIn, offsetOf, type AddressRange, type PortRange } from './ranges.js';
import {
  ipAllocation,
  getsNodePorts,
  hasClusterIp,
  isHeadless,
  isHealthChecked,
  isOnNodes,
  nodePortsOf,
  type ServicePort,
  type ServiceSpec,
} from './service-spec.js';

/** Gives out what is free. @throws {RangeFull} */
export interface Chooser {
  readonly address: (range: AddressRange) => string;
  readonly port: (what: string) => number;
}

/** Nothing is free any more, as far as is known. */
export class RangeFull extends Error {
  override readonly name = 'RangeFull';

  /** @param what As clients know it, e.g. `serviceIP`. */
  constructor(what: string) {
    super(`failed to allocate a ${what}: range is full`);
  }
}

/**
 * Gives a service an address of each of its families. What it had before it keeps, whatever the ranges are now.
 *
 * @param next Changed in place; its families are settled.
 * @returns What is wrong.
 */
export function fillAddresses(
  next: ServiceSpec,
  old: ServiceSpec | undefined,
  ranges: readonly AddressRange[],
  choose: Chooser,
): FieldError[] {
  if (!hasClusterIp(next) || isHeadless(next)) return [];
  const had = new Set(old?.clusterIPs?.map(ipAllocation));
  const problems: FieldError[] = [];
  const { ipFamilies = [], clusterIPs = [] } = next;
  for (const [i, family] of ipFamilies.entries()) {
    const range = ranges.find((r) => r.family === family);
    const asked = clusterIPs[i];
    if (asked === undefined) {
      if (range !== undefined) clusterIPs[i] = choose.address(range);
    } else if (!had.has(ipAllocation(asked)) && !isIn(range, asked)) {
      const why = `the provided IP (${asked}) is not in the valid range. The range of valid IPs is ${range?.text ?? ''}`;
      problems.push(notAllocated(next, asked, why));
    }
  }
  next.clusterIPs = clusterIPs;
  next.clusterIP = clusterIPs[0] ?? '';
  return problems;
}

function isIn(range: AddressRange | undefined, text: string): boolean {
  const ip = parseIp(text);
  return ip !== undefined && range !== undefined && offsetOf(range, ip) !== undefined;
}

export const notAllocated = (spec: ServiceSpec, ip: string, why: string): FieldError =>
  wrongAddress('spec.clusterIPs', spec, `failed to allocate IP ${ip}: ${why}`);

/** A write takes and releases ports in one transaction, which has room for some. */
const MOST_NODE_PORTS = 100;
const HEALTH_PORT = 'spec.healthCheckNodePort';
export const PORT_TAKEN = 'provided port is already allocated';

/**
 * Gives a service the ports on the machines that its type asks for.
 *
 * @param next Changed in place.
 * @returns What is wrong.
 */
export function fillPorts(
  next: ServiceSpec,
  old: ServiceSpec | undefined,
  range: PortRange,
  choose: Chooser,
): FieldError[] {
  const had = new Set(old === undefined ? [] : [...nodePortsOf(old), old.healthCheckNodePort]);
  const outside = (path: string, port: number): FieldError[] =>
    had.has(port) || isPortIn(range, port)
      ? []
      : [
          field.invalid(
            path,
            port,
            `provided port is not in the valid range. The range of valid ports is ${range.text}`,
          ),
        ];
  const problems = isOnNodes(next) ? fillNodePorts(next, outside, choose) : [];
  if (!isHealthChecked(next)) return problems;
  const { healthCheckNodePort: asked = 0 } = next;
  if (asked === 0) next.healthCheckNodePort = choose.port('HealthCheck NodePort');
  else if (nodePortsOf(next).includes(asked)) problems.push(field.invalid(HEALTH_PORT, asked, PORT_TAKEN));
  else problems.push(...outside(HEALTH_PORT, asked));
  return problems;
}

function fillNodePorts(
  next: ServiceSpec,
  outside: (path: string, port: number) => FieldError[],
  choose: Chooser,
): FieldError[] {
  const { ports = [] } = next;
  const asked = new Set(nodePortsOf(next)).size;
  const count = getsNodePorts(next) ? ports.length : asked;
  if (count > MOST_NODE_PORTS) return [field.tooMany('spec.ports', count, MOST_NODE_PORTS)];
  return ports.flatMap((port, i) => {
    const { nodePort = 0 } = port;
    if (nodePort !== 0) return outside(`spec.ports[${i}].nodePort`, nodePort);
    if (getsNodePorts(next)) port.nodePort = sharedPort(ports, port) ?? choose.port('nodePort');
    return [];
  });
}

/** The same port of another protocol is the same on the machines, too, if it can be. */
function sharedPort(ports: readonly ServicePort[], wanting: ServicePort): number | undefined {
  const found = ports.find(({ port, nodePort = 0 }) => port === wanting.port && nodePort !== 0)?.nodePort;
  const isHad = ports.some(({ protocol, nodePort }) => nodePort === found && protocol === wanting.protocol);
  return isHad ? undefined : found;
}

/** Where a service asks for a port on the machines. */
export function pathOfPort({ ports = [] }: ServiceSpec, port: number): string {
  const at = ports.findIndex(({ nodePort }) => nodePort === port);
  return at < 0 ? HEALTH_PORT : `spec.ports[${at}].nodePort`;
}
