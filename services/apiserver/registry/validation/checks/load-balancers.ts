import type { LoadBalancerIngress } from '../../../../machinery/types/generated/core.v1.js';
import type { At } from './at.js';
import { ipVersion } from './text.js';

/** Where traffic from outside comes in. */
export function checkLoadBalancerIngress(
  at: At,
  { ip = '', hostname = '' }: Pick<LoadBalancerIngress, 'ip' | 'hostname'>,
): void {
  if (ip !== '' && ipVersion(ip) === 0) at.invalid('ip', ip, 'must be a valid IP address');
  if (ipVersion(hostname) !== 0) at.invalid('hostname', hostname, 'must be a DNS name, not an IP address');
}
