import { FlagError } from '../../../machinery/flags/flags.js';
import { BITS, formatIp, parseIp, type Ip, type IpFamily } from './ip.js';

/** Numbers from `first` on, `size` of them, as a picker sees them: by their offsets. */
interface Offsets {
  readonly size: number;
  /** The first so many are chosen last, so that those who ask for one of them mostly get it. */
  readonly lastChosen: number;
}

/** A network whose addresses services get; without the addresses that stand for the network and for all of it. */
export interface AddressRange extends Offsets {
  readonly family: IpFamily;
  /** As networks are written. */
  readonly text: string;
  readonly first: bigint;
}

export interface PortRange extends Offsets {
  readonly text: string;
  readonly first: number;
}

/** More than 2^20 addresses are refused: other programs keep a bit for each. */
const MOST_HOST_BITS = 20;
const FEWEST_ADDRESSES = 8;

/**
 * Reads the networks of a flag: one, or one of each family, the first of which is the family of services that do not
 * say.
 *
 * @throws {FlagError}
 */
export function parseAddressRanges(flag: string, texts: readonly string[]): readonly [AddressRange, ...AddressRange[]] {
  const wrong = (why: string): FlagError => new FlagError(`Cannot parse --${flag}: ${JSON.stringify(texts.join(','))} ${why}`); // prettier-ignore
  if (texts.length > 2) throw wrong('has more than two ranges');
  const [first, second] = texts.map((text) => addressRange(text, wrong));
  if (first === undefined) throw wrong('has no range');
  if (second?.family === first.family) throw wrong(`has two ranges of ${first.family}: at most one of each family`);
  return second === undefined ? [first] : [first, second];
}

function addressRange(text: string, wrong: (why: string) => FlagError): AddressRange {
  const { ip, prefixBits } = parseNetwork(text) ?? {};
  if (ip === undefined || prefixBits === undefined) throw wrong('is no network such as 10.96.0.0/12');
  const { family } = ip;
  const hostBits = BITS[family] - prefixBits;
  if (hostBits > MOST_HOST_BITS) {
    throw wrong(`is too large: an ${family} range needs a prefix of /${BITS[family] - MOST_HOST_BITS} or longer`);
  }
  if (2 ** hostBits < FEWEST_ADDRESSES) throw wrong(`is too small: it needs ${FEWEST_ADDRESSES} addresses or more`);
  const network = (ip.value >> BigInt(hostBits)) << BigInt(hostBits);
  const size = 2 ** hostBits - (family === 'IPv4' ? 2 : 1); // the last IPv4 address is for broadcasts
  return {
    family,
    text: `${formatIp({ family, value: network })}/${prefixBits}`,
    first: network + 1n,
    size,
    lastChosen: lastChosen(size, { part: 16, most: 256 }),
  };
}

/** An address with the length of a prefix, of which not all may be meant. */
function parseNetwork(text: string): { readonly ip: Ip; readonly prefixBits: number } | undefined {
  const [address = '', bits = '', ...more] = text.split('/');
  const ip = parseIp(address);
  if (ip === undefined || more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > BITS[ip.family])
    return undefined;
  return { ip, prefixBits: Number(bits) };
}

const MOST_PORT = 65_535;

/** Reads `30000-32767`, or `30000+2768`, which counts. @throws {FlagError} */
export function parsePortRange(flag: string, text: string): PortRange {
  const [, low = '', sign, high = ''] = /^(\d{1,5})([-+])(\d{1,5})$/.exec(text) ?? [];
  const first = Number(low);
  const last = sign === '+' ? first + Number(high) - 1 : Number(high);
  if (sign === undefined || first < 1 || last > MOST_PORT || last < first) {
    throw new FlagError(`Cannot parse --${flag}: ${JSON.stringify(text)} is no range of ports such as 30000-32767`);
  }
  const size = last - first + 1;
  return { text: `${first}-${last}`, first, size, lastChosen: lastChosen(size, { part: 32, most: 128 }) };
}

const FEWEST_LAST = 16;

function lastChosen(size: number, { part, most }: { readonly part: number; readonly most: number }): number {
  if (size <= FEWEST_LAST) return 0;
  return Math.min(Math.max(FEWEST_LAST, Math.floor(size / part)), most);
}

/** How far an address is into a range; undefined when it is not in it. */
export function offsetOf(range: AddressRange, ip: Ip): number | undefined {
  const offset = ip.value - range.first;
  return ip.family === range.family && offset >= 0n && offset < BigInt(range.size) ? Number(offset) : undefined;
}

export const addressAt = ({ family, first }: AddressRange, offset: number): string =>
  formatIp({ family, value: first + BigInt(offset) });

export const isPortIn = ({ first, size }: PortRange, port: number): boolean => port >= first && port < first + size;
