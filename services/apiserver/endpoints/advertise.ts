import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os';
import { parseIp, type Ip } from '../registry/addresses/ip.js';

export interface AdvertiseOptions {
  /** '' leaves it to the rest. */
  readonly advertiseAddress: string;
  readonly bindAddress: string;
}

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

const LOOPBACK = '127.0.0.1';

/**
 * The address under which others reach this server: what its operator says, else what it listens on when that is one
 * address, else the machine's first one that others can reach.
 */
export function advertisedAddress(
  { advertiseAddress, bindAddress }: AdvertiseOptions,
  interfaces: Interfaces = networkInterfaces(),
): string {
  if (advertiseAddress !== '') return advertiseAddress;
  if (bindAddress === 'localhost') return LOOPBACK;
  const bound = parseIp(bindAddress);
  return bound !== undefined && bound.value !== 0n ? bindAddress : firstOf(interfaces);
}

function firstOf(interfaces: Interfaces): string {
  const usable = Object.values(interfaces)
    .flatMap((infos) => infos ?? [])
    .filter(({ internal, address }) => !internal && isReachable(parseIp(address)));
  const found = usable.find(({ family }) => family === 'IPv4') ?? usable[0];
  return found?.address ?? LOOPBACK;
}

/** Addresses of one wire (169.254.0.0/16, fe80::/10) mean nothing to others. */
function isReachable(ip: Ip | undefined): boolean {
  if (ip === undefined) return false;
  return ip.family === 'IPv4' ? ip.value >> 16n !== 0xa9fen : ip.value >> 118n !== 0x3fan;
}
