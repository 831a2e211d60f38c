import type {
  IPBlock,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from '../../../../machinery/types/generated/networking.v1.js';
import { type At, checkPort, checkPortOrName } from '../checks/at.js';
import { cidrVersion } from '../checks/text.js';
import { BITS, parseIp } from '../../addresses/ip.js';

export function checkPolicyPort(at: At, { port, endPort }: NetworkPolicyPort): void {
  if (typeof port === 'number') {
    checkPort(at, 'port', port);
    if (endPort === undefined) return;
    if (endPort < port) at.invalid('endPort', port, 'must be greater than or equal to `port`');
    checkPort(at, 'endPort', endPort);
    return;
  }
  if (endPort !== undefined) {
    const what = port === undefined ? 'not specified' : 'non-numeric';
    at.invalid('endPort', endPort, `may not be specified when \`port\` is ${what}`);
  }
  if (port !== undefined) checkPortOrName(at, 'port', port);
}

interface Network {
  readonly family: string;
  readonly bits: number;
  /** The first `bits` bits of all addresses, as a number. */
  readonly prefix: (bits: number) => bigint;
}

/** undefined for what is no range of addresses. */
function parseNetwork(text: string): Network | undefined {
  if (cidrVersion(text) === 0) return undefined;
  const [address = '', bits = ''] = text.split('/');
  const ip = parseIp(address);
  if (ip === undefined) return undefined;
  const { family, value } = ip;
  return { family, bits: Number(bits), prefix: (length) => value >> BigInt(BITS[family] - length) };
}

const isStrictlyWithin = (inner: Network, outer: Network): boolean =>
  inner.family === outer.family && inner.bits > outer.bits && inner.prefix(outer.bits) === outer.prefix(outer.bits);

const NOT_A_CIDR = 'not a valid CIDR';

export function checkIpBlock(at: At, { cidr = '', except = [] }: IPBlock): void {
  if (cidr === '') return;
  const outer = parseNetwork(cidr);
  if (outer === undefined) {
    at.invalid('cidr', cidr, NOT_A_CIDR);
    return;
  }
  const exceptAt = at.child('except');
  for (const [i, text] of except.entries()) {
    const inner = parseNetwork(text);
    if (inner === undefined) {
      exceptAt.index(i).invalid('', text, NOT_A_CIDR);
      return;
    }
    if (!isStrictlyWithin(inner, outer)) exceptAt.index(i).invalid('', text, 'must be a strict subset of `cidr`');
  }
}

export function checkPeer(at: At, { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer): void {
  if (podSelector !== undefined || namespaceSelector !== undefined) {
    if (ipBlock !== undefined) at.forbidden('', 'may not specify both ipBlock and another peer');
  } else if (ipBlock === undefined) {
    at.required('', 'must specify a peer');
  }
}
