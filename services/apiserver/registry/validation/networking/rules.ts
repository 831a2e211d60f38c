import type * as networking from '../../../../machinery/types/generated/networking.v1.js';
import { checkLoadBalancerIngress } from '../checks/load-balancers.js';
import { ipVersion } from '../checks/text.js';
import type { TypeRules } from '../types.js';
import { checkBackend, checkIngress, checkPath } from './ingresses.js';
import { checkIpBlock, checkPeer, checkPolicyPort } from './network-policies.js';
import { checkController, checkScope } from './references.js';

export const networkingRules: TypeRules<networking.Types> = {
  HTTPIngressPath: checkPath,
  IPBlock: checkIpBlock,
  IngressBackend: checkBackend,
  IngressClassParametersReference: checkScope,
  IngressClassSpec: checkController,
  IngressLoadBalancerIngress: checkLoadBalancerIngress,
  IngressRule: (at, { host = '' }) => {
    if (ipVersion(host) !== 0) at.invalid('host', host, 'must be a DNS name, not an IP address');
  },
  IngressSpec: checkIngress,
  NetworkPolicyPeer: checkPeer,
  NetworkPolicyPort: checkPolicyPort,
  NetworkPolicySpec: (at, { policyTypes: types = [] }) => {
    if (types.length > 2) at.invalid('policyTypes', types, 'may not specify more than two policyTypes');
  },
};
