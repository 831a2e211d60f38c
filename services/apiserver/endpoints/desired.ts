import type { IpFamily } from '../registry/addresses/ip.js';
import { formatIp, parseIp } from '../registry/addresses/ip.js';
import type { Member } from './members.js';

const PORT_NAME = 'https';
const portOf = (port: number): object => ({ name: PORT_NAME, port, protocol: 'TCP' });

/** Members that are reached in the same way. */
interface Group {
  readonly family: IpFamily;
  readonly port: number;
  readonly addresses: readonly string[];
}

/** IPv4 first, then by port; addresses in the order of their numbers. Equal sets of members give equal groups. */
export function groups(members: readonly Member[]): readonly Group[] {
  const found = new Map<string, { family: IpFamily; port: number; values: Set<bigint> }>();
  for (const { address, port } of members) {
    const ip = parseIp(address);
    if (ip === undefined) continue;
    const id = `${ip.family}/${String(port).padStart(5, '0')}`;
    const group = found.get(id) ?? { family: ip.family, port, values: new Set() };
    found.set(id, group);
    group.values.add(ip.value);
  }
  return [...found.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { family, port, values }]) => ({
      family,
      port,
      addresses: [...values].sort((a, b) => (a < b ? -1 : 1)).map((value) => formatIp({ family, value })),
    }));
}

/** The `subsets` of an Endpoints object: servers with different ports are in different ones. */
export const subsetsOf = (all: readonly Group[]): object[] =>
  all.map(({ port, addresses }) => ({ addresses: addresses.map((ip) => ({ ip })), ports: [portOf(port)] }));

/** The part of an EndpointSlice that follows from the members. */
export interface DesiredSlice {
  readonly name: string;
  readonly addressType: IpFamily;
  readonly endpoints: object[];
  readonly ports: object[];
}

/** One slice for each group: a slice has one kind of addresses and one list of ports. The first is named as the service. */
export const slicesOf = (service: string, all: readonly Group[]): DesiredSlice[] =>
  all.map(({ family, port, addresses }, i) => ({
    name: i === 0 ? service : `${service}-${family.toLowerCase()}-${port}`,
    addressType: family,
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [portOf(port)],
  }));

/** Whether a slice of the service is one of those that `slicesOf` could have made. */
export const isOwnSlice = (service: string, name: string): boolean =>
  name === service || (name.startsWith(`${service}-`) && /^ipv[46]-\d+$/.test(name.slice(service.length + 1)));
