import { isIP } from 'node:net';

export type IpFamily = 'IPv4' | 'IPv6';

/** An address as a number. */
export interface Ip {
  readonly family: IpFamily;
  readonly value: bigint;
}

/** How many bits an address has. */
export const BITS: Readonly<Record<IpFamily, number>> = { IPv4: 32, IPv6: 128 };

/** undefined for what is no address; zones (`fe80::1%eth0`) mean something on one machine only and are none here. */
export function parseIp(text: string): Ip | undefined {
  if (text.includes('%')) return undefined;
  const version = isIP(text);
  if (version === 4) return { family: 'IPv4', value: ipv4Value(text) };
  return version === 6 ? { family: 'IPv6', value: ipv6Value(text) } : undefined;
}

const ipv4Value = (text: string): bigint => text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);

/** `text` is known to be right. */
function ipv6Value(text: string): bigint {
  const dotted = /^(.*:)([\d.]+)$/.exec(text);
  if (dotted?.[2]?.includes('.') === true) {
    const value = ipv4Value(dotted[2]);
    return ipv6Value(`${dotted[1] ?? ''}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`);
  }
  const [head = '', tail] = text.split('::');
  const left = groups(head);
  const right = groups(tail ?? '');
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - left.length - right.length }, () => 0n);
  return [...left, ...zeros, ...right].reduce((value, group) => (value << 16n) | group, 0n);
}

const groups = (text: string): bigint[] => (text === '' ? [] : text.split(':').map((group) => BigInt(`0x${group}`)));

/** The one way to write an address (RFC 5952), so that texts can be compared. */
export const formatIp = ({ family, value }: Ip): string => (family === 'IPv4' ? ipv4Text(value) : ipv6Text(value));

const ipv4Text = (value: bigint): string =>
  [24n, 16n, 8n, 0n].map((shift) => ((value >> shift) & 0xffn).toString()).join('.');

function ipv6Text(value: bigint): string {
  const texts = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  const { start, length } = longestZeros(texts);
  if (length < 2) return texts.join(':');
  return `${texts.slice(0, start).join(':')}::${texts.slice(start + length).join(':')}`;
}

function longestZeros(texts: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [i, text] of texts.entries()) {
    if (text !== '0') start = i + 1;
    else if (i + 1 - start > best.length) best = { start, length: i + 1 - start };
  }
  return best;
}
