import { type TextRule, dns1123Label, dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import type * as discovery from '../../../../machinery/types/generated/discovery.v1.js';
import { type At, checkRule, each } from '../checks/at.js';
import { ipVersion, publicAddress } from '../checks/text.js';
import type { TypeRules } from '../types.js';

const MAX_ENDPOINTS = 1000;
const MAX_TOPOLOGY = 16;

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

export const discoveryRules: TypeRules<discovery.Types> = {
  Endpoint: (at, { deprecatedTopology = {} }) => {
    const labels = Object.keys(deprecatedTopology).length;
    if (labels > MAX_TOPOLOGY) at.tooMany('deprecatedTopology', labels, MAX_TOPOLOGY);
  },
  EndpointSlice: (at, { addressType = '', endpoints }) => {
    const checkAddress = ADDRESS_CHECKS.get(addressType);
    if (checkAddress === undefined || (endpoints ?? []).length > MAX_ENDPOINTS) return;
    each(at, 'endpoints', endpoints, ({ addresses }, endpointAt) =>
      each(endpointAt, 'addresses', addresses, (address, addressAt) => checkAddress(addressAt, address)),
    );
  },
};
