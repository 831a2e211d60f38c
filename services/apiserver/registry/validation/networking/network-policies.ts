import { At } from '../checks/at.js';
import type { LabelSelector } from '../checks/labels.js';
import { checkLabelSelector } from '../checks/labels.js';
import { checkEnum, checkPort, checkPortOrName, each } from '../checks/members.js';
import { cidrVersion } from '../checks/text.js';
import { BITS, parseIp } from '../../addresses/ip.js';
import type { KindValidation } from '../types.js';

interface PolicyPort {
  readonly protocol?: string;
  readonly port?: number | string;
  readonly endPort?: number;
}

interface IpBlock {
  readonly cidr?: string;
  readonly except?: readonly string[];
}

interface Peer {
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly ipBlock?: IpBlock;
}

interface PolicySpec {
  readonly podSelector?: LabelSelector | null;
  readonly ingress?: readonly { readonly ports?: readonly PolicyPort[]; readonly from?: readonly Peer[] }[];
  readonly egress?: readonly { readonly ports?: readonly PolicyPort[]; readonly to?: readonly Peer[] }[];
  readonly policyTypes?: readonly string[];
}

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];

function checkPolicyPort({ protocol, port, endPort }: PolicyPort, at: At): void {
  checkEnum(at, 'protocol', protocol, PROTOCOLS);
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
  /** What all addresses have in front, as a number. */
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

function checkIpBlock(at: At, { cidr = '', except = [] }: IpBlock): void {
  if (cidr === '') {
    at.required('cidr');
    return;
  }
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

function checkPeer({ podSelector, namespaceSelector, ipBlock }: Peer, at: At): void {
  checkLabelSelector(at, 'podSelector', podSelector);
  checkLabelSelector(at, 'namespaceSelector', namespaceSelector);
  if (ipBlock !== undefined) checkIpBlock(at.child('ipBlock'), ipBlock);
  if (podSelector !== undefined || namespaceSelector !== undefined) {
    if (ipBlock !== undefined) at.forbidden('', 'may not specify both ipBlock and another peer');
  } else if (ipBlock === undefined) {
    at.required('', 'must specify a peer');
  }
}

const POLICY_TYPES = ['Ingress', 'Egress'];

function checkPolicyTypes(at: At, types: readonly string[] = []): void {
  if (types.length > POLICY_TYPES.length) {
    at.invalid('policyTypes', types, 'may not specify more than two policyTypes');
    return;
  }
  each(at, 'policyTypes', types, (type, typeAt) => {
    if (!POLICY_TYPES.includes(type)) typeAt.notSupported('', type, POLICY_TYPES);
  });
}

export const networkPolicies: KindValidation = {
  object: (object, problems) => {
    const at = At.root(problems, 'spec');
    const { podSelector, ingress, egress, policyTypes } = (object['spec'] ?? {}) as PolicySpec;
    checkLabelSelector(at, 'podSelector', podSelector);
    each(at, 'ingress', ingress, ({ ports, from }, ruleAt) => {
      each(ruleAt, 'ports', ports, checkPolicyPort);
      each(ruleAt, 'from', from, checkPeer);
    });
    each(at, 'egress', egress, ({ ports, to }, ruleAt) => {
      each(ruleAt, 'ports', ports, checkPolicyPort);
      each(ruleAt, 'to', to, checkPeer);
    });
    checkPolicyTypes(at, policyTypes);
  },
};
