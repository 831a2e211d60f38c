import { dns1123Label, dns1123Subdomain, qualifiedName } from '../../../../machinery/meta/names.js';
import { At } from '../checks/at.js';
import { checkEnum, checkPort, checkRule, checkText, each, PROTOCOLS, requireText } from '../checks/members.js';
import { ipAddress, publicAddress } from '../checks/text.js';
import type { KindValidation } from '../types.js';

interface Address {
  readonly ip?: string;
  readonly hostname?: string;
  readonly nodeName?: string;
}

interface Port {
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: string;
  readonly appProtocol?: string;
}

interface Subset {
  readonly addresses?: readonly Address[];
  readonly notReadyAddresses?: readonly Address[];
  readonly ports?: readonly Port[];
}

function checkAddress({ ip = '', hostname, nodeName }: Address, at: At): void {
  checkRule(at, 'ip', ip, ipAddress);
  checkText(at, 'hostname', hostname, dns1123Label);
  checkText(at, 'nodeName', nodeName, dns1123Subdomain);
  checkRule(at, 'ip', ip, publicAddress);
}

function checkSubset({ addresses = [], notReadyAddresses = [], ports = [] }: Subset, at: At): void {
  if (addresses.length + notReadyAddresses.length === 0) {
    at.required('', 'must specify `addresses` or `notReadyAddresses`');
  }
  each(at, 'addresses', addresses, checkAddress);
  each(at, 'notReadyAddresses', notReadyAddresses, checkAddress);
  each(at, 'ports', ports, ({ name, port = 0, protocol, appProtocol }, portAt) => {
    if (ports.length > 1) requireText(portAt, 'name', name, dns1123Label);
    else checkText(portAt, 'name', name, dns1123Label);
    checkPort(portAt, 'port', port);
    checkEnum(portAt, 'protocol', protocol, PROTOCOLS);
    if (appProtocol !== undefined) checkRule(portAt, 'appProtocol', appProtocol, qualifiedName);
  });
}

export const endpoints: KindValidation = {
  object: (object, problems) => {
    each(At.root(problems), 'subsets', object['subsets'] as readonly Subset[] | undefined, checkSubset);
  },
};
