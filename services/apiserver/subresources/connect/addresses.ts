import { BlockList, isIP } from 'node:net';
import { BITS, formatIp, parseIp, type Ip } from '../../registry/addresses/ip.js';

const FAMILY = { IPv4: 'ipv4', IPv6: 'ipv6' } as const;

type Network = readonly [address: string, prefix: number];

function blockList(...networks: readonly Network[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of networks) list.addSubnet(address, prefix, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  return list;
}

/** Addresses of this machine itself. */
const LOOPBACK = blockList(['127.0.0.0', 8], ['::1', 128]);

/** Addresses that lead back to this machine or its link, and the services that clouds offer to a machine alone. */
const REFUSED = blockList(
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
  ['::', 128],
  ['::1', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  ['64:ff9b:1::', 48], // NAT64 of a network's own (RFC 8215): where the IPv4 address stands is that network's choice
  ['100.100.100.200', 32], // metadata of Alibaba Cloud
  ['168.63.129.16', 32], // the host's agent of Azure
  ['192.0.0.192', 32], // metadata of Oracle Cloud
  ['fd00:ec2::254', 128], // metadata of Amazon
  ['fd20:ce::254', 128], // metadata of Google
);

/** A form of IPv6 addresses that stand for an IPv4 address. */
interface EmbeddingForm {
  readonly prefix: Ip;
  /** How many leading bits make the form. */
  readonly bits: number;
  /** How many bits follow the IPv4 address. */
  readonly after: number;
  /** Whether the IPv4 address stands there with all its bits turned over. */
  readonly inverted?: true;
}

const form = (prefix: string, bits: number, after: number): EmbeddingForm => {
  const ip = parseIp(prefix);
  if (ip === undefined) throw new TypeError(`${prefix} is no address`);
  return { prefix: ip, bits, after };
};

const EMBEDDING_FORMS: readonly EmbeddingForm[] = [
  form('::', 96, 0), // IPv4-compatible (RFC 4291, 2.5.5.1)
  form('::ffff:0:0', 96, 0), // IPv4-mapped (RFC 4291, 2.5.5.2)
  form('::ffff:0:0:0', 96, 0), // IPv4-translated (RFC 2765)
  form('64:ff9b::', 96, 0), // NAT64 (RFC 6052)
  form('2002::', 16, 80), // 6to4 (RFC 3056)
  { ...form('2001::', 32, 0), inverted: true }, // Teredo: the client's address (RFC 4380)
  form('2001::', 32, 64), // Teredo: its server's
];

/** ISATAP (RFC 5214, 6.1): any network, then this identifier of the interface, then the IPv4 address. */
const ISATAP = 0x5efen;
const ISATAP_BITS = 0xfdffffffn; // but for the bit that says whether the address is unique in the world

const IPV4_BITS = 0xffffffffn;

/** The IPv4 addresses, as numbers, that an IPv6 address stands for. */
function* embedded({ family, value }: Ip): Generator<bigint> {
  if (family !== 'IPv6') return;
  for (const { prefix, bits, after, inverted } of EMBEDDING_FORMS) {
    const rest = BigInt(BITS.IPv6 - bits);
    if (value >> rest !== prefix.value >> rest) continue;
    const ipv4 = (value >> BigInt(after)) & IPV4_BITS;
    yield inverted === true ? ipv4 ^ IPV4_BITS : ipv4;
  }
  if (((value >> 32n) & ISATAP_BITS) === ISATAP) yield value & IPV4_BITS;
}

/**
 * Whether a client may have the server connect to an address. What is refused is not the client's business: the server's
 * own ports, and the services that clouds offer to a machine alone, in all forms in which IPv6 can write them.
 */
export function isAllowed(address: string): boolean {
  const ip = parseIp(address); // none with a zone, which names an interface of this machine
  if (ip === undefined || REFUSED.check(address, FAMILY[ip.family])) return false;
  return [...embedded(ip)].every((ipv4) => !REFUSED.check(formatIp({ family: 'IPv4', value: ipv4 }), 'ipv4'));
}

/** The same, and addresses of this machine itself: for operators whose nodes run beside the server. */
export function isAllowedOrLoopback(address: string): boolean {
  const ip = parseIp(address);
  return ip !== undefined && (LOOPBACK.check(address, FAMILY[ip.family]) || isAllowed(address));
}
