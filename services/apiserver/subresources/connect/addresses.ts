import { BlockList, isIP } from 'node:net';

/** Addresses that lead back to this machine, or to whoever happens to be near it. */
const REFUSED = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
] as const) {
  REFUSED.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  REFUSED.addSubnet(network, prefix, 'ipv6');
}

/**
 * Whether a client may have the server connect to an address. What is refused is not the client's business: the server's
 * own ports, and the services that clouds offer to a machine on link-local addresses.
 */
export function isAllowed(address: string): boolean {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return false; // a zone names an interface of this machine
  return !REFUSED.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
