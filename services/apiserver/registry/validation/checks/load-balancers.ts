import { dns1123Subdomain } from '../../../../machinery/meta/names.js';
import type { At } from './at.js';
import { checkText, each } from './members.js';
import { ipVersion } from './text.js';

export interface LoadBalancerStatus {
  readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[];
}

/** Where traffic from outside comes in. */
export function checkLoadBalancerStatus(at: At, loadBalancer: LoadBalancerStatus | undefined): void {
  each(at, 'ingress', loadBalancer?.ingress, ({ ip = '', hostname = '' }, ingressAt) => {
    if (ip !== '' && ipVersion(ip) === 0) ingressAt.invalid('ip', ip, 'must be a valid IP address');
    checkText(ingressAt, 'hostname', hostname, dns1123Subdomain);
    if (ipVersion(hostname) !== 0) ingressAt.invalid('hostname', hostname, 'must be a DNS name, not an IP address');
  });
}
