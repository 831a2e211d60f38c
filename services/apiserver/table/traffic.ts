import { isIPv6 } from 'node:net';
import { listOf, numberOf, recordOf, shortened, textOf, type Show } from './cell.js';

const treesOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] => listOf(value).map(recordOf);
/** So many are shown where there may be thousands. */
const FEW = 3;

const balancerAddresses = (ingress: unknown): string =>
  [...new Set(treesOf(ingress).map(({ ip, hostname }) => textOf(ip) || textOf(hostname)))]
    .filter((address) => address !== '')
    .sort()
    .join(',');

/** Where a service is reached from outside, by its type. */
const EXTERNAL: ReadonlyMap<string, (own: string, balancer: string, name: string) => string> = new Map(
  Object.entries<(own: string, balancer: string, name: string) => string>({
    ClusterIP: (own) => own || '<none>',
    NodePort: (own) => own || '<none>',
    LoadBalancer: (own, balancer) => [balancer, own].filter((it) => it !== '').join(',') || '<pending>',
    ExternalName: (_own, _balancer, name) => name,
  }),
);

const hostAndPort = (host: string, port: unknown): string => `${isIPv6(host) ? `[${host}]` : host}:${numberOf(port)}`;

/** Each address with each port; a headless service may have no ports. */
function endpointTexts(subsets: unknown): readonly string[] {
  return treesOf(subsets).flatMap(({ addresses, ports }) => {
    const hosts = treesOf(addresses).map(({ ip }) => textOf(ip));
    const numbers = treesOf(ports);
    return numbers.length === 0 ? hosts : numbers.flatMap(({ port }) => hosts.map((host) => hostAndPort(host, port)));
  });
}

/** Functions for columns of services, endpoints and ingresses. */
export const TRAFFIC = {
  externalAddresses: ({ object }) => {
    const { spec, status } = recordOf(object);
    const { type, externalIPs, externalName } = recordOf(spec);
    const known = textOf(type);
    const shown = EXTERNAL.get(known);
    if (shown === undefined) return '<unknown>';
    const balancer = balancerAddresses(recordOf(recordOf(status)['loadBalancer'])['ingress']);
    return shown(listOf(externalIPs).map(textOf).join(','), balancer, textOf(externalName));
  },
  servicePorts: ({ first }) =>
    treesOf(first())
      .map(({ port, nodePort, protocol }) => {
        const onNodes = numberOf(nodePort) > 0 ? `:${numberOf(nodePort)}` : '';
        return `${numberOf(port)}${onNodes}/${textOf(protocol)}`;
      })
      .join(','),
  endpoints: ({ first }) => {
    const subsets = first();
    return listOf(subsets).length === 0 ? '<none>' : shortened(endpointTexts(subsets), FEW);
  },
  slicePorts: ({ first }) =>
    shortened(
      treesOf(first()).map(({ port, name }) => (typeof port === 'number' ? String(port) : textOf(name) || '*')),
      FEW,
    ),
  balancerAddresses: ({ first }) => balancerAddresses(first()),
  /** Hosts of the first rules; a rule without one is for all. */
  hosts: ({ first }) => {
    const rules = treesOf(first());
    const hosts = rules
      .slice(0, FEW)
      .map(({ host }) => textOf(host))
      .filter((host) => host !== '');
    if (hosts.length === 0) return '*';
    return rules.length > FEW ? `${hosts.join(',')} + ${rules.length - FEW} more...` : hosts.join(',');
  },
  ingressPorts: ({ first }) => (listOf(first()).length > 0 ? '80, 443' : '80'),
  parameters: ({ first }) => {
    const found = first();
    if (found === undefined) return undefined;
    const { kind, apiGroup, name } = recordOf(found);
    return `${textOf(kind)}${textOf(apiGroup) === '' ? '' : `.${textOf(apiGroup)}`}/${textOf(name)}`;
  },
} as const satisfies Readonly<Record<string, Show>>;
