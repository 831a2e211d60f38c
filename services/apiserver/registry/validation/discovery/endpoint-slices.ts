import type { TextRule } from '../../../../machinery/meta/names.js';
import { dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../../../machinery/meta/names.js';
import { At } from '../checks/at.js';
import type { StringMap } from '../checks/labels.js';
import { checkLabels } from '../checks/labels.js';
import type { List } from '../checks/members.js';
import { checkEnum, checkRule, checkText, each, PROTOCOLS, requireEnum } from '../checks/members.js';
import { ipVersion, publicAddress } from '../checks/text.js';
import type { KindValidation } from '../types.js';

interface Endpoint {
  readonly addresses?: List<string>;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly deprecatedTopology?: StringMap;
  readonly hints?: { readonly forZones?: readonly { readonly name?: string }[] };
}

interface Port {
  readonly name?: string;
  readonly protocol?: string;
  readonly appProtocol?: string;
}

interface EndpointSlice {
  readonly addressType?: string;
  readonly endpoints?: List<Endpoint>;
  readonly ports?: List<Port>;
}

const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_TOPOLOGY = 16;
const MAX_PORTS = 100;
const MAX_ZONES = 8;

const ofVersion =
  (version: number): TextRule =>
  (text) =>
    ipVersion(text) === version ? [] : [`must be a valid IPv${version} address`];

/** A name and the domains it lies in; one dot at the end says that it is complete. */
function checkDomainName(at: At, text: string): void {
  if (text === '') {
    at.required('');
    return;
  }
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  const problems = dns1123Subdomain(name);
  const labels = name.split('.');
  const wrong = labels.find((label) => dns1123Label(label).length > 0);
  if (problems.length > 0) at.invalid('', name, problems.join(','));
  else if (labels.length < 2) at.invalid('', name, 'should be a domain with at least two segments separated by dots');
  else if (wrong !== undefined) at.invalid('', wrong, dns1123Label(wrong).join(','));
}

const checkIp =
  (version: number): ((at: At, text: string) => void) =>
  (at, text) => {
    checkRule(at, '', text, ofVersion(version));
    checkRule(at, '', text, publicAddress);
  };

const ADDRESS_CHECKS: ReadonlyMap<string, (at: At, text: string) => void> = new Map([
  ['FQDN', checkDomainName],
  ['IPv4', checkIp(4)],
  ['IPv6', checkIp(6)],
]);

function checkZones(at: At, { forZones }: NonNullable<Endpoint['hints']>): void {
  if (forZones !== undefined && forZones.length > MAX_ZONES) {
    at.tooMany('forZones', forZones.length, MAX_ZONES);
    return;
  }
  const seen = new Set<string>();
  each(at, 'forZones', forZones, ({ name = '' }, zoneAt) => {
    if (seen.has(name)) zoneAt.duplicate('name', name);
    seen.add(name);
    checkRule(zoneAt, 'name', name, labelValue);
  });
}

function checkEndpoint(endpoint: Endpoint, at: At, addressType: string): void {
  const { nodeName, deprecatedTopology, hostname, hints } = endpoint;
  const addresses = endpoint.addresses ?? [];
  if (addresses.length === 0) at.required('addresses', 'must contain at least 1 address');
  if (addresses.length > MAX_ADDRESSES) at.tooMany('addresses', addresses.length, MAX_ADDRESSES);
  const checkAddress = ADDRESS_CHECKS.get(addressType);
  if (checkAddress !== undefined)
    each(at, 'addresses', addresses, (address, addressAt) => checkAddress(addressAt, address));
  if (nodeName !== undefined) checkRule(at, 'nodeName', nodeName, dns1123Subdomain);
  const labels = Object.keys(deprecatedTopology ?? {}).length;
  if (labels > MAX_TOPOLOGY) at.tooMany('deprecatedTopology', labels, MAX_TOPOLOGY);
  checkLabels(at, 'deprecatedTopology', deprecatedTopology);
  if (hostname !== undefined) checkRule(at, 'hostname', hostname, dns1123Label);
  if (hints !== undefined) checkZones(at.child('hints'), hints);
}

function checkPorts(at: At, ports: readonly Port[]): void {
  if (ports.length > MAX_PORTS) {
    at.tooMany('ports', ports.length, MAX_PORTS);
    return;
  }
  const names = new Set<string>();
  each(at, 'ports', ports, ({ name = '', protocol, appProtocol }, portAt) => {
    checkText(portAt, 'name', name, dns1123Label);
    if (names.has(name)) portAt.duplicate('name', name);
    names.add(name);
    checkEnum(portAt, 'protocol', protocol, PROTOCOLS);
    if (appProtocol !== undefined) checkRule(portAt, 'appProtocol', appProtocol, qualifiedName);
  });
}

export const endpointSlices: KindValidation = {
  object: (object, problems) => {
    const at = At.root(problems);
    const { addressType = '', endpoints, ports } = object as EndpointSlice;
    requireEnum(at, 'addressType', addressType, [...ADDRESS_CHECKS.keys()]);
    if (endpoints !== null && endpoints !== undefined && endpoints.length > MAX_ENDPOINTS) {
      at.tooMany('endpoints', endpoints.length, MAX_ENDPOINTS);
    } else {
      each(at, 'endpoints', endpoints, (endpoint, endpointAt) => checkEndpoint(endpoint, endpointAt, addressType));
    }
    checkPorts(at, ports ?? []);
  },
};
