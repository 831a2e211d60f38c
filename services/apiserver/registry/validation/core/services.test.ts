import { changed, KindUnderTest } from '../testing/cases.js';
import { IP, LABEL, LABEL_VALUE, PORT, QUALIFIED, SUBDOMAIN } from '../testing/words.js';

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80 }] },
};
const P = 'spec.ports[0]';

describe('validation of services', () => {
  const kind = new KindUnderTest({ resource: 'services', type: 'core/v1.Service' });

  describe('ports', () => {
    kind.refuses(service, [
      [{ 'spec.ports': [] }, 'spec.ports', 'Required value'],
      [{ 'spec.ports.0.port': 0, 'spec.ports.0.targetPort': 1 }, `${P}.port`, `Invalid value: 0: ${PORT}`],
      [{ 'spec.ports.0.port': 65536, 'spec.ports.0.targetPort': 1 }, `${P}.port`, `Invalid value: 65536: ${PORT}`],
      [
        { 'spec.ports.0.port': 0, 'spec.ports.0.targetPort': 0 },
        `${P}.port`,
        `Invalid value: 0: ${PORT}`,
        `${P}.targetPort`,
        `Invalid value: 0: ${PORT}`,
      ],
      [
        { 'spec.ports.0.port': 65536, 'spec.ports.0.targetPort': undefined },
        `${P}.port`,
        `Invalid value: 65536: ${PORT}`,
        `${P}.targetPort`,
        `Invalid value: 65536: ${PORT}`,
      ],
      [{ 'spec.ports.0.name': 'HTTP' }, `${P}.name`, `Invalid value: "HTTP": ${LABEL}`],
      [
        { 'spec.ports.0.protocol': 'HTTP' },
        `${P}.protocol`,
        'Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"',
      ],
      [{ 'spec.ports.0.targetPort': 65536 }, `${P}.targetPort`, `Invalid value: 65536: ${PORT}`],
      [
        { 'spec.ports.0.targetPort': 'much-too-long-a-name' },
        `${P}.targetPort`,
        'Invalid value: "much-too-long-a-name": must be no more than 15 characters',
      ],
      [{ 'spec.ports.0.appProtocol': 'a b' }, `${P}.appProtocol`, `Invalid value: "a b": ${QUALIFIED}`],
      [{ 'spec.ports.1': { port: 81 } }, 'spec.ports[1].name', 'Required value'],
      [{ 'spec.ports.1': { name: 'http', port: 81 } }, 'spec.ports[1].name', 'Duplicate value: "http"'],
      [{ 'spec.ports.1': { name: 'b', port: 80 } }, 'spec.ports[1]', 'Duplicate value: {"protocol":"TCP","port":80}'],
      [{ 'spec.ports.0.nodePort': 30000 }, `${P}.nodePort`, "Forbidden: may not be used when `type` is 'ClusterIP'"],
      [
        {
          'spec.type': 'NodePort',
          'spec.ports.0.nodePort': 30000,
          'spec.ports.1': { name: 'b', port: 1, nodePort: 30000 },
        },
        'spec.ports[1].nodePort',
        'Duplicate value: 30000',
      ],
    ]);
    kind.accepts(service, [
      { 'spec.ports.1': { name: 'b', port: 80, protocol: 'UDP' } },
      {
        'spec.type': 'NodePort',
        'spec.ports.0.nodePort': 30000,
        'spec.ports.1': { name: 'b', port: 1, nodePort: 30000, protocol: 'UDP' },
      },
    ]);
  });

  describe('types', () => {
    kind.refuses(service, [
      [
        { 'spec.type': 'Public' },
        'spec.type',
        'Unsupported value: "Public": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
      [
        { 'spec.type': 'NodePort', 'spec.clusterIP': 'None' },
        'spec.clusterIPs[0]',
        `Invalid value: "None": may not be set to 'None' for NodePort services`,
      ],
      [
        { 'spec.type': 'LoadBalancer', 'spec.ports.0.port': 10250 },
        P,
        'Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet',
      ],
      [{ 'spec.type': 'ExternalName' }, 'spec.externalName', 'Required value'],
      [
        {
          'spec.type': 'ExternalName',
          'spec.externalName': 'a',
          'spec.ipFamilies': ['IPv4'],
          'spec.ipFamilyPolicy': 'SingleStack',
        },
        'spec.ipFamilies',
        'Forbidden: may not be set for ExternalName services',
        'spec.ipFamilyPolicy',
        'Forbidden: may not be set for ExternalName services',
      ],
      [
        { 'spec.type': 'ExternalName', 'spec.externalName': 'a_b' },
        'spec.externalName',
        `Invalid value: "a_b": ${SUBDOMAIN}`,
      ],
      [
        { 'spec.type': 'ExternalName', 'spec.externalName': 'a.b', 'spec.clusterIP': '10.0.0.1' },
        'spec.clusterIPs',
        'Forbidden: may not be set for ExternalName services',
      ],
      [
        { 'spec.loadBalancerSourceRanges': ['10.0.0.0/8'] },
        'spec.LoadBalancerSourceRanges',
        "Forbidden: may only be used when `type` is 'LoadBalancer'",
      ],
      [
        { 'spec.type': 'LoadBalancer', 'spec.loadBalancerSourceRanges': ['10.0.0.0/8', '10.0.0.0/33'] },
        'spec.LoadBalancerSourceRanges',
        'Invalid value: "[10.0.0.0/8 10.0.0.0/33]": must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ',
      ],
      [
        { 'spec.loadBalancerClass': 'a' },
        'spec.loadBalancerClass',
        "Forbidden: may only be used when `type` is 'LoadBalancer'",
      ],
      [
        { 'spec.allocateLoadBalancerNodePorts': true },
        'spec.allocateLoadBalancerNodePorts',
        "Forbidden: may only be used when `type` is 'LoadBalancer'",
      ],
      [
        { 'spec.externalTrafficPolicy': 'Local' },
        'spec.externalTrafficPolicy',
        'Invalid value: "Local": ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service',
      ],
      [
        { 'spec.type': 'NodePort', 'spec.externalTrafficPolicy': 'Near' },
        'spec.externalTrafficPolicy',
        'Invalid value: "Near": ExternalTrafficPolicy must be empty, Cluster or Local',
      ],
      [
        { 'spec.healthCheckNodePort': 30000 },
        'spec.healthCheckNodePort',
        'Invalid value: 30000: HealthCheckNodePort can only be set on LoadBalancer service with ExternalTrafficPolicy=Local',
      ],
      [
        { 'spec.internalTrafficPolicy': 'Near' },
        'spec.internalTrafficPolicy',
        'Unsupported value: "Near": supported values: "Cluster", "Local"',
      ],
    ]);
  });

  describe('addresses', () => {
    kind.refuses(service, [
      [{ 'spec.selector': { a: 'b c' } }, 'spec.selector', `Invalid value: "b c": ${LABEL_VALUE}`],
      [{ 'spec.clusterIP': 'here' }, 'spec.clusterIPs[0]', `Invalid value: "here": ${IP}`],
      [
        { 'spec.clusterIP': '10.0.0.1', 'spec.clusterIPs': ['10.0.0.2'] },
        'spec.clusterIPs',
        'Invalid value: []string{"10.0.0.2"}: first value must match `clusterIP`',
      ],
      [
        { 'spec.clusterIPs': ['10.0.0.2'] },
        'spec.clusterIPs',
        'Invalid value: []string{"10.0.0.2"}: must be empty when `clusterIP` is not specified',
      ],
      [
        { 'spec.clusterIP': '10.0.0.1', 'spec.clusterIPs': ['10.0.0.1', '10.0.0.2'] },
        'spec.clusterIPs',
        'Invalid value: []string{"10.0.0.1", "10.0.0.2"}: may specify no more than one IP for each IP family',
      ],
      [
        { 'spec.clusterIP': 'None', 'spec.clusterIPs': ['None', '10.0.0.2'] },
        'spec.clusterIPs',
        `Invalid value: []string{"None", "10.0.0.2"}: 'None' must be the first and only value`,
      ],
      [
        { 'spec.clusterIP': '10.0.0.1', 'spec.clusterIPs': ['10.0.0.1', 'fd00::1', '10.0.0.3'] },
        'spec.clusterIPs',
        'Invalid value: []string{"10.0.0.1", "fd00::1", "10.0.0.3"}: may only hold up to 2 values',
        'spec.clusterIPs',
        'Invalid value: []string{"10.0.0.1", "fd00::1", "10.0.0.3"}: may specify no more than one IP for each IP family',
      ],
      [
        { 'spec.clusterIP': '10.0.0.1', 'spec.ipFamilies': ['IPv6'] },
        'spec.clusterIPs[0]',
        'Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
      ],
      [
        { 'spec.ipFamilies': ['IPv5'] },
        'spec.ipFamilies[0]',
        'Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
      ],
      [{ 'spec.ipFamilies': ['IPv4', 'IPv4'] }, 'spec.ipFamilies[1]', 'Duplicate value: "IPv4"'],
      [
        { 'spec.ipFamilyPolicy': 'Any' },
        'spec.ipFamilyPolicy',
        'Unsupported value: "Any": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
      ],
      [{ 'spec.externalIPs': ['x'] }, 'spec.externalIPs[0]', `Invalid value: "x": ${IP}`],
      [{ 'spec.externalIPs': [null] }, 'spec.externalIPs[0]', `Invalid value: "": ${IP}`],
      [
        { 'spec.externalIPs': ['127.0.0.1'] },
        'spec.externalIPs[0]',
        'Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
      [
        { 'spec.externalIPs': ['0.0.0.0'] },
        'spec.externalIPs[0]',
        'Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
      ],
      [
        { 'spec.sessionAffinity': 'Cookie' },
        'spec.sessionAffinity',
        'Unsupported value: "Cookie": supported values: "ClientIP", "None"',
      ],
      [
        {
          'spec.sessionAffinityConfig': { clientIP: { timeoutSeconds: 1 } },
          'spec.sessionAffinity': 'ClientIP',
          'spec.type': 'Public',
        },
        'spec.type',
        'Unsupported value: "Public": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
      [
        { 'spec.sessionAffinity': 'ClientIP', 'spec.sessionAffinityConfig': { clientIP: { timeoutSeconds: 86401 } } },
        'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
        'Invalid value: 86401: must be greater than 0 and less than 86400',
      ],
    ]);
  });

  describe('updates', () => {
    const old = changed(service, {
      'spec.clusterIP': '10.0.0.1',
      'spec.clusterIPs': ['10.0.0.1'],
      'spec.ipFamilies': ['IPv4'],
    });
    kind.refusesUpdates(old, [
      [
        { 'spec.clusterIP': '10.0.0.2', 'spec.clusterIPs': ['10.0.0.2'] },
        'spec.clusterIPs[0]',
        'Invalid value: []string{"10.0.0.2"}: may not change once set',
      ],
      [
        { 'spec.clusterIP': 'fd00::1', 'spec.clusterIPs': ['fd00::1'], 'spec.ipFamilies': ['IPv6'] },
        'spec.clusterIPs[0]',
        'Invalid value: []string{"fd00::1"}: may not change once set',
        'spec.ipFamilies[0]',
        'Invalid value: []string{"IPv6"}: may not change once set',
      ],
    ]);
    kind.acceptsUpdates(old, [
      { 'spec.clusterIP': undefined, 'spec.clusterIPs': undefined },
      { 'spec.clusterIPs.1': 'fd00::1', 'spec.ipFamilies.1': 'IPv6' },
      {
        'spec.type': 'ExternalName',
        'spec.externalName': 'a.b',
        'spec.clusterIP': undefined,
        'spec.clusterIPs': undefined,
        'spec.ipFamilies': undefined,
      },
    ]);
    kind.refusesUpdates(changed(old, { 'spec.clusterIPs.1': 'fd00::1' }), [
      [
        { 'spec.clusterIPs': ['10.0.0.1'] },
        'spec.ipFamilyPolicy',
        `Invalid value: "null": must be set to 'SingleStack' when releasing the secondary clusterIP`,
      ],
    ]);
    kind.refusesUpdates(changed(service, { 'spec.type': 'LoadBalancer', 'spec.loadBalancerClass': 'a/b' }), [
      [{ 'spec.loadBalancerClass': 'a/c' }, 'spec.loadBalancerClass', 'Invalid value: "a/c": may not change once set'],
    ]);
    const checked = changed(service, {
      'spec.type': 'LoadBalancer',
      'spec.externalTrafficPolicy': 'Local',
      'spec.healthCheckNodePort': 30000,
    });
    kind.refusesUpdates(checked, [
      [{ 'spec.healthCheckNodePort': 30001 }, 'spec.healthCheckNodePort', 'Forbidden: field is immutable'],
      [
        { 'spec.healthCheckNodePort': -1 },
        'spec.healthCheckNodePort',
        'Invalid value: -1: HealthCheckNodePort must be not less than 0',
        'spec.healthCheckNodePort',
        'Forbidden: field is immutable',
      ],
    ]);
    kind.refusesPart('status', service, [
      [
        { 'status.loadBalancer.ingress': [{ ip: 'x' }] },
        'status.loadBalancer.ingress[0].ip',
        'Invalid value: "x": must be a valid IP address',
      ],
      [
        { 'status.loadBalancer.ingress': [{ hostname: '1.2.3.4' }] },
        'status.loadBalancer.ingress[0].hostname',
        'Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
      ],
    ]);
  });
});

describe('validation of endpoints', () => {
  const kind = new KindUnderTest({ resource: 'endpoints', type: 'core/v1.Endpoints' });
  const endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'web', namespace: 'default' },
    subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }],
  };
  kind.refuses(endpoints, [
    [
      { 'subsets.0.addresses': undefined },
      'subsets[0]',
      'Required value: must specify `addresses` or `notReadyAddresses`',
    ],
    [
      { 'subsets.0.addresses.0.ip': 'x' },
      'subsets[0].addresses[0].ip',
      `Invalid value: "x": ${IP}`,
      'subsets[0].addresses[0].ip',
      'Invalid value: "x": must be a valid IP address',
    ],
    [
      { 'subsets.0.notReadyAddresses': [{ ip: '169.254.1.1' }] },
      'subsets[0].notReadyAddresses[0].ip',
      'Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
    ],
    [
      { 'subsets.0.addresses.0.ip': '224.0.0.1' },
      'subsets[0].addresses[0].ip',
      'Invalid value: "224.0.0.1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    ],
    [{ 'subsets.0.addresses.0.hostname': 'a.b' }, 'subsets[0].addresses[0].hostname', `Invalid value: "a.b": ${LABEL}`],
    [{ 'subsets.0.addresses.0.nodeName': 'A' }, 'subsets[0].addresses[0].nodeName', `Invalid value: "A": ${SUBDOMAIN}`],
    [{ 'subsets.0.ports.0.port': 0 }, 'subsets[0].ports[0].port', `Invalid value: 0: ${PORT}`],
    [{ 'subsets.0.ports.1': { name: 'b', port: 81 } }, 'subsets[0].ports[0].name', 'Required value'],
    [
      { 'subsets.0.ports.0.protocol': 'X' },
      'subsets[0].ports[0].protocol',
      'Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
    ],
  ]);
});
