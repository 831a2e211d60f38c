import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { reading, type Library } from '../functions.js';
import { CelError, CelMap, type Opaque, type Value } from '../values.js';

const IP = 'net.IP';
const CIDR = 'net.CIDR';
const URL_TYPE = 'kubernetes.URL';

interface Ip extends Opaque {
  readonly family: 4 | 6;
}
interface Cidr extends Opaque {
  readonly address: Ip;
  readonly bits: number;
}
interface Url extends Opaque {
  readonly url: URL;
  readonly isPath: boolean;
}

const text = (value: Value | undefined): string => value as string;
const ip = (value: Value | undefined): Ip => value as unknown as Ip;
const cidr = (value: Value | undefined): Cidr => value as unknown as Cidr;
const url = (value: Value | undefined): Url => value as unknown as Url;

/** An IPv6 address in its one short form; RFC 5952. */
function canonical(address: string): string {
  if (isIPv4(address)) return address;
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

/** Undefined for what is none: with a zone, with leading zeros, IPv4 inside of IPv6. */
function readIp(source: string): Ip | undefined {
  const family = isIP(source);
  if (family === 0 || source.includes('%') || /^::ffff:\d+\./i.test(source)) return undefined;
  return { opaque: IP, key: canonical(source), family: family === 4 ? 4 : 6 };
}

function wantIp(source: string): Ip {
  const found = readIp(source);
  if (found === undefined)
    throw new CelError(`IP Address ${JSON.stringify(source)} parse error during conversion from string`);
  return found;
}

function readCidr(source: string): Cidr | undefined {
  const [, address = '', digits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(source) ?? [];
  const found = readIp(address);
  const bits = Number(digits);
  if (found === undefined || (digits.startsWith('0') && digits !== '0') || bits > (found.family === 4 ? 32 : 128))
    return undefined;
  return { opaque: CIDR, key: `${found.key}/${bits}`, address: found, bits };
}

function wantCidr(source: string): Cidr {
  const found = readCidr(source);
  if (found === undefined)
    throw new CelError(`network address parse error during conversion from string: ${JSON.stringify(source)}`);
  return found;
}

function listOf({ address, bits }: Cidr): BlockList {
  const list = new BlockList();
  list.addSubnet(address.key, bits, address.family === 4 ? 'ipv4' : 'ipv6');
  return list;
}

const holds = (network: Cidr, address: Ip): boolean =>
  network.address.family === address.family &&
  listOf(network).check(address.key, address.family === 4 ? 'ipv4' : 'ipv6');

const within =
  (range: string) =>
  ({ key }: Ip): boolean => {
    const network = wantCidr(range);
    const family = isIPv6(key) ? 6 : 4;
    return family === network.address.family && holds(network, { opaque: IP, key, family });
  };

const isUnspecified = ({ key }: Ip): boolean => key === '0.0.0.0' || key === '::';
const isLoopback = (address: Ip): boolean => within('127.0.0.0/8')(address) || address.key === '::1';
const isLinkLocalUnicast = (address: Ip): boolean => within('169.254.0.0/16')(address) || within('fe80::/10')(address);
const isLocal = (address: Ip): boolean => isUnspecified(address) || isLoopback(address) || isLinkLocalUnicast(address);

/** By what the ranges of RFC 1122, 3927, 4291 and 5771 say. */
const KINDS = {
  isUnspecified,
  isLoopback,
  isLinkLocalMulticast: (address: Ip) => within('224.0.0.0/24')(address) || /^ff[0-9a-f]2:/.test(address.key),
  isLinkLocalUnicast,
  isGlobalUnicast: (address: Ip) =>
    !isLocal(address) &&
    address.key !== '255.255.255.255' &&
    !within('224.0.0.0/4')(address) &&
    !within('ff00::/8')(address),
};

/** The network with all bits beyond its length cleared. */
function masked({ address, bits }: Cidr): Cidr {
  const length = address.family === 4 ? 32 : 128;
  const number = numberOf(address);
  const cleared = (number >> BigInt(length - bits)) << BigInt(length - bits);
  return wantCidr(`${textOf(cleared, address.family)}/${bits}`);
}

function numberOf({ key, family }: Ip): bigint {
  if (family === 4) return key.split('.').reduce((sum, part) => (sum << 8n) + BigInt(part), 0n);
  const [head = '', tail] = key.split('::');
  const parts = (half: string): string[] => (half === '' ? [] : half.split(':'));
  const [front, back] = [parts(head), parts(tail ?? '')];
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - front.length - back.length }, () => '0');
  return [...front, ...zeros, ...back].reduce((sum, part) => (sum << 16n) + BigInt(`0x${part}`), 0n);
}

function textOf(number: bigint, family: 4 | 6): string {
  const [count, size, base, by] = family === 4 ? [4, 8n, 10, '.'] : [8, 16n, 16, ':'];
  const mask = (1n << size) - 1n;
  const parts = Array.from({ length: count }, (_, i) =>
    ((number >> (size * BigInt(count - 1 - i))) & mask).toString(base),
  );
  return parts.join(by);
}

/** An absolute URL, or an absolute path. */
function readUrl(source: string): Url | undefined {
  const isPath = source.startsWith('/');
  if (/[\u0000-\u0020\u007f]/.test(source) || (!isPath && !/^[a-z][a-z0-9+.-]*:/i.test(source))) return undefined;
  const whole = isPath ? `http://path.invalid${source}` : source;
  if (/%(?![0-9a-f]{2})/i.test(source) || !URL.canParse(whole)) return undefined;
  return { opaque: URL_TYPE, key: source, url: new URL(whole), isPath };
}

function wantUrl(source: string): Url {
  const found = readUrl(source);
  if (found === undefined)
    throw new CelError(`URL parse error during conversion from string: ${JSON.stringify(source)}`);
  return found;
}

const ofHost =
  (read: (url: URL) => string) =>
  ([value]: readonly Value[]): string => {
    const { url: parsed, isPath } = url(value);
    return isPath ? '' : read(parsed);
  };

function query({ url: { searchParams } }: Url): CelMap {
  const names = [...new Set(searchParams.keys())];
  return CelMap.of(names.map((name) => [name, searchParams.getAll(name)] as const));
}

const opaque = (value: Ip | Cidr | Url): Value => value;

/** Functions of addresses of the network, networks, and URLs. */
export const ADDRESSES: Library = reading({
  'ip(string): net.IP': ([value]) => opaque(wantIp(text(value))),
  'isIP(string): bool': ([value]) => readIp(text(value)) !== undefined,
  '"ip".isCanonical(string): bool': ([value]) => wantIp(text(value)).key === text(value),
  'net.IP.family(): int': ([value]) => BigInt(ip(value).family),
  ...Object.fromEntries(
    Object.entries(KINDS).map(([name, is]) => [`net.IP.${name}(): bool`, ([value]: readonly Value[]) => is(ip(value))]),
  ),
  'string(net.IP): string': ([value]) => ip(value).key,
  'cidr(string): net.CIDR': ([value]) => opaque(wantCidr(text(value))),
  'isCIDR(string): bool': ([value]) => readCidr(text(value)) !== undefined,
  'net.CIDR.containsIP(net.IP): bool': ([network, address]) => holds(cidr(network), ip(address)),
  'net.CIDR.containsIP(string): bool': ([network, address]) => holds(cidr(network), wantIp(text(address))),
  'net.CIDR.containsCIDR(net.CIDR): bool': ([network, other]) => includes(cidr(network), cidr(other)),
  'net.CIDR.containsCIDR(string): bool': ([network, other]) => includes(cidr(network), wantCidr(text(other))),
  'net.CIDR.ip(): net.IP': ([network]) => opaque(cidr(network).address),
  'net.CIDR.masked(): net.CIDR': ([network]) => opaque(masked(cidr(network))),
  'net.CIDR.prefixLength(): int': ([network]) => BigInt(cidr(network).bits),
  'string(net.CIDR): string': ([network]) => cidr(network).key,
  'url(string): kubernetes.URL': ([value]) => opaque(wantUrl(text(value))),
  'isURL(string): bool': ([value]) => readUrl(text(value)) !== undefined,
  'kubernetes.URL.getScheme(): string': ofHost(({ protocol }) => protocol.slice(0, -1)),
  'kubernetes.URL.getHost(): string': ofHost(({ host }) => host),
  'kubernetes.URL.getHostname(): string': ofHost(({ hostname }) => hostname.replace(/^\[(.*)\]$/, '$1')),
  'kubernetes.URL.getPort(): string': ofHost(({ port }) => port),
  'kubernetes.URL.getEscapedPath(): string': ([value]) => pathOf(url(value)),
  'kubernetes.URL.getQuery(): map<string, list<string>>': ([value]) => query(url(value)),
});

const pathOf = ({ key, url: { pathname } }: Url): string =>
  pathname === '/' && !key.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').includes('/') ? '' : pathname;

const includes = (network: Cidr, other: Cidr): boolean => other.bits >= network.bits && holds(network, other.address);
