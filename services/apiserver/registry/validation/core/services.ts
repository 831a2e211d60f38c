import { dns1123Subdomain, qualifiedName } from '../../../../machinery/meta/metadata.js';
import type { Service, ServiceSpec } from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At, checkPortOrName, checkRule, checkText, each } from '../checks/at.js';
import { cidrVersion, ipAddress, ipVersion, publicAddress } from '../checks/text.js';
import type { KindValidation, TypeRule } from '../types.js';
import { checkClusterIps, checkServiceUpdate, isHeadlessService, isHealthChecked } from './service-addresses.js';

const NONE = 'None';

function checkServicePorts(at: At, ports: ServiceSpec['ports'] = []): void {
  each(at, 'ports', ports, (port, portAt) => {
    const { name = '', port: number = 0, targetPort = 0 } = port;
    if (name === '' && ports.length > 1) portAt.required('name');
    // Others may have stored what was left out, or its zero; the default is the port.
    checkPortOrName(portAt, 'targetPort', targetPort === 0 ? number : targetPort);
  });
}

/** A port can be had once for each protocol: in the service, and on the machines. */
function checkPortsOnce(at: At, ports: ServiceSpec['ports']): void {
  const onNodes = new Set<string>();
  const onService = new Set<string>();
  each(at, 'ports', ports, ({ protocol = 'TCP', nodePort = 0 }, portAt) => {
    const port = `${protocol}/${nodePort}`;
    if (nodePort !== 0 && onNodes.has(port)) portAt.duplicate('nodePort', nodePort);
    onNodes.add(port);
  });
  each(at, 'ports', ports, ({ protocol = 'TCP', port = 0 }, portAt) => {
    const key = `${protocol}/${port}`;
    if (onService.has(key)) portAt.duplicate('', { protocol, port });
    onService.add(key);
  });
}

/** Rules by the type of service. */
function checkType(at: At, spec: ServiceSpec, vocabulary: Vocabulary): void {
  const { type = 'ClusterIP', ports, clusterIP = '' } = spec;
  if ((ports ?? []).length === 0 && !isHeadlessService(spec) && type !== 'ExternalName') at.required('ports');
  if (type === 'LoadBalancer') checkNodeAgentPort(at, ports, vocabulary);
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadlessService(spec)) {
    at.invalid('clusterIPs[0]', NONE, `may not be set to 'None' for ${type} services`);
  }
  if (type === 'ExternalName') checkExternalName(at, spec, clusterIP);
}

const NODE_AGENT_PORT = 10250;

function checkNodeAgentPort(at: At, ports: ServiceSpec['ports'], { nodeAgent }: Vocabulary): void {
  each(at, 'ports', ports, ({ port }, portAt) => {
    if (port !== NODE_AGENT_PORT) return;
    const why = `may not expose port ${NODE_AGENT_PORT} externally since it is used by ${nodeAgent.name}`;
    portAt.invalid('', port, why);
  });
}

function checkExternalName(at: At, spec: ServiceSpec, clusterIP: string): void {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy, externalName = '' } = spec;
  const why = 'may not be set for ExternalName services';
  if (clusterIPs.length > 0 || clusterIP !== '') at.forbidden('clusterIPs', why);
  if (ipFamilies.length > 0) at.forbidden('ipFamilies', why);
  if (ipFamilyPolicy !== undefined) at.forbidden('ipFamilyPolicy', why);
  // One dot at the end says that the name is complete.
  const name = externalName.endsWith('.') ? externalName.slice(0, -1) : externalName;
  if (name === '') at.required('externalName');
  else checkRule(at, 'externalName', name, dns1123Subdomain);
}

const LONGEST_AFFINITY_SECONDS = 86_400;

function checkAffinity(at: At, { sessionAffinity, sessionAffinityConfig: config }: ServiceSpec): void {
  if (sessionAffinity === 'ClientIP') {
    const seconds = config?.clientIP?.timeoutSeconds; // absent: a default
    if (seconds === undefined || (seconds > 0 && seconds <= LONGEST_AFFINITY_SECONDS)) return;
    const why = `must be greater than 0 and less than ${LONGEST_AFFINITY_SECONDS}`;
    at.invalid('sessionAffinityConfig.clientIP.timeoutSeconds', seconds, why);
  } else if (config !== undefined && (sessionAffinity ?? 'None') === 'None') {
    at.forbidden('sessionAffinityConfig', 'must not be set when session affinity is None');
  }
}

const ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'";

function checkLoadBalancer(at: At, spec: ServiceSpec): void {
  const { type, loadBalancerSourceRanges: ranges = [], loadBalancerClass } = spec;
  if (ranges.length > 0) {
    if (type !== 'LoadBalancer') at.forbidden('LoadBalancerSourceRanges', ONLY_LOAD_BALANCER);
    if (ranges.some((range) => cidrVersion(range.trim()) === 0)) {
      const why = 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ';
      at.invalid('LoadBalancerSourceRanges', `[${ranges.join(' ')}]`, why);
    }
  }
  if (type === 'LoadBalancer') {
    checkText(at, 'loadBalancerClass', loadBalancerClass, qualifiedName);
    return;
  }
  if (spec.allocateLoadBalancerNodePorts !== undefined) {
    at.forbidden('allocateLoadBalancerNodePorts', ONLY_LOAD_BALANCER);
  }
  if (loadBalancerClass !== undefined) at.forbidden('loadBalancerClass', ONLY_LOAD_BALANCER);
}

function checkTraffic(at: At, spec: ServiceSpec): void {
  const { type, externalTrafficPolicy: policy, healthCheckNodePort: healthPort = 0 } = spec;
  if (policy !== undefined && policy !== 'Cluster' && policy !== 'Local') {
    at.invalid('externalTrafficPolicy', policy, 'ExternalTrafficPolicy must be empty, Cluster or Local');
  } else if (policy !== undefined && type !== 'LoadBalancer' && type !== 'NodePort') {
    const why = 'ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service';
    at.invalid('externalTrafficPolicy', policy, why);
  }
  if (healthPort < 0) {
    at.invalid('healthCheckNodePort', healthPort, 'HealthCheckNodePort must be not less than 0');
  } else if (healthPort !== 0 && !isHealthChecked(spec)) {
    const why = 'HealthCheckNodePort can only be set on LoadBalancer service with ExternalTrafficPolicy=Local';
    at.invalid('healthCheckNodePort', healthPort, why);
  }
}

function checkExternalIps(at: At, externalIPs: readonly string[] | undefined): void {
  each(at, 'externalIPs', externalIPs, (ip, ipAt) =>
    checkRule(ipAt, '', ip, ipVersion(ip) === 0 ? ipAddress : publicAddress),
  );
}

function checkService(at: At, spec: ServiceSpec, vocabulary: Vocabulary): void {
  checkType(at, spec, vocabulary);
  checkServicePorts(at, spec.ports);
  checkAffinity(at, spec);
  checkClusterIps(at, spec);
  checkExternalIps(at, spec.externalIPs);
  if ((spec.type ?? 'ClusterIP') === 'ClusterIP') {
    each(at, 'ports', spec.ports, ({ nodePort = 0 }, portAt) => {
      if (nodePort !== 0) portAt.forbidden('nodePort', "may not be used when `type` is 'ClusterIP'");
    });
  }
  checkPortsOnce(at, spec.ports);
  checkLoadBalancer(at, spec);
  checkTraffic(at, spec);
}

export const serviceRule =
  (vocabulary: Vocabulary): TypeRule<ServiceSpec> =>
  (at, spec) =>
    checkService(at, spec, vocabulary);

export const services: KindValidation<Service> = {
  update: ({ spec = {} }, { spec: old = {} }, problems) => checkServiceUpdate(At.root(problems, 'spec'), spec, old),
};
