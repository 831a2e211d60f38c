import { KindUnderTest } from '../testing/cases.js';
import { LABEL, LABEL_VALUE, PORT, QUALIFIED, SUBDOMAIN, TOO_LONG } from '../testing/words.js';

const group = 'networking.k8s.io';
const apiVersion = `${group}/v1`;
const metadata = { name: 'x', namespace: 'default' };

describe('validation of ingresses', () => {
  const kind = new KindUnderTest({ group, resource: 'ingresses', type: `${group}/v1.Ingress` });
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const ingress = {
    apiVersion,
    kind: 'Ingress',
    metadata,
    spec: {
      ingressClassName: 'nginx',
      tls: [{ hosts: ['example.com', '*.example.com'], secretName: 'cert' }],
      rules: [{ host: 'example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
    },
  };
  const P = 'spec.rules.0.http.paths.0';
  const A = 'spec.rules[0].http.paths[0]';
  kind.acceptsManifest('an ingress', ingress);
  kind.accepts(ingress, [
    { 'spec.rules': undefined, 'spec.defaultBackend': { resource: { apiGroup: 'a.b', kind: 'Bucket', name: 'x' } } },
    { 'spec.rules': undefined, 'spec.defaultBackend': { resource: { kind: 'Bucket', name: 'x' } } },
    { 'spec.rules.0.host': '*.example.com' },
    { 'spec.rules.0.http': undefined },
    { [`${P}.pathType`]: 'ImplementationSpecific', [`${P}.path`]: undefined },
    { [`${P}.pathType`]: 'ImplementationSpecific', [`${P}.path`]: '//' },
    { [`${P}.backend.service.port`]: { name: 'http' } },
    { 'spec.ingressClassName': undefined, 'metadata.annotations': { 'kubernetes.io/ingress.class': 'nginx' } },
  ]);
  kind.refuses(ingress, [
    [{ 'spec.rules': [] }, 'spec', 'Invalid value: []: either `defaultBackend` or `rules` must be specified'],
    [
      { 'spec.defaultBackend': {} },
      'spec.defaultBackend',
      'Invalid value: "": resource or service backend is required',
    ],
    [
      { [`${P}.backend.resource`]: { kind: 'a', name: 'a' } },
      `${A}.backend`,
      'Invalid value: "": cannot set both resource and service backends',
    ],
    [
      { [`${P}.backend`]: { resource: { apiGroup: 'A', name: 'a/b' } } },
      `${A}.backend.resource.apiGroup`,
      `Invalid value: "A": ${SUBDOMAIN}`,
      `${A}.backend.resource.kind`,
      'Required value: kind is required',
      `${A}.backend.resource.name`,
      `Invalid value: "a/b": may not contain '/'`,
    ],
    [{ [`${P}.backend.service.name`]: '' }, `${A}.backend.service.name`, 'Required value'],
    [{ [`${P}.backend.service.port`]: {} }, `${A}.backend`, 'Required value: port name or number is required'],
    [
      { [`${P}.backend.service.port`]: { name: 'http', number: 80 } },
      `${A}.backend`,
      'Invalid value: "": cannot set both port name & port number',
    ],
    [
      { [`${P}.backend.service.port`]: { number: 65536 } },
      `${A}.backend.service.port.number`,
      `Invalid value: 65536: ${PORT}`,
    ],
    [
      { [`${P}.backend.service.port`]: { name: 'a_b' } },
      `${A}.backend.service.port.name`,
      'Invalid value: "a_b": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    ],
    [{ [`${P}.pathType`]: undefined }, `${A}.pathType`, 'Required value: pathType must be specified'],
    [
      { [`${P}.pathType`]: 'Regex' },
      `${A}.pathType`,
      'Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"',
    ],
    [{ [`${P}.path`]: 'a' }, `${A}.path`, 'Invalid value: "a": must be an absolute path'],
    [{ [`${P}.path`]: undefined }, `${A}.path`, 'Invalid value: "": must be an absolute path'],
    [
      { [`${P}.pathType`]: 'ImplementationSpecific', [`${P}.path`]: 'a' },
      `${A}.path`,
      'Invalid value: "a": must be an absolute path',
    ],
    [
      { [`${P}.path`]: '/a//b/..' },
      `${A}.path`,
      `Invalid value: "/a//b/..": must not contain '//'`,
      `${A}.path`,
      `Invalid value: "/a//b/..": cannot end with '/..'`,
    ],
    [{ 'spec.rules.0.http.paths': [] }, 'spec.rules[0].http.paths', 'Required value'],
    [
      { 'spec.rules.0.host': '10.0.0.1' },
      'spec.rules[0].host',
      'Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
    ],
    [{ 'spec.rules.0.host': 'A' }, 'spec.rules[0].host', `Invalid value: "A": ${SUBDOMAIN}`],
    [{ 'spec.tls.0.hosts': ['A'] }, 'spec.tls[0].hosts[0]', `Invalid value: "A": ${SUBDOMAIN}`],
    [{ 'spec.tls.0.secretName': 'A' }, 'spec.tls[0].secretName', `Invalid value: "A": ${SUBDOMAIN}`],
    [{ 'spec.ingressClassName': 'A' }, 'spec.ingressClassName', `Invalid value: "A": ${SUBDOMAIN}`],
    [
      { 'metadata.annotations': { 'kubernetes.io/ingress.class': 'nginx' } },
      'annotations.kubernetes.io/ingress.class',
      'Invalid value: "nginx": can not be set when the class field is also set',
    ],
  ]);
  kind.acceptsUpdates(ingress, [{ 'metadata.annotations': { 'kubernetes.io/ingress.class': 'nginx' } }]);
  kind.refusesPart('status', ingress, [
    [
      { 'status.loadBalancer.ingress': [{ ip: 'a' }] },
      'status.loadBalancer.ingress[0].ip',
      'Invalid value: "a": must be a valid IP address',
    ],
    [
      { 'status.loadBalancer.ingress': [{ hostname: '10.0.0.1' }] },
      'status.loadBalancer.ingress[0].hostname',
      'Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
    ],
  ]);
});

describe('validation of ingress classes', () => {
  const kind = new KindUnderTest({ group, resource: 'ingressclasses', type: `${group}/v1.IngressClass` });
  const parameters = { apiGroup: 'example.com', kind: 'Parameters', name: 'x' };
  const ingressClass = {
    apiVersion,
    kind: 'IngressClass',
    metadata: { name: 'x' },
    spec: { controller: 'example.com/ingress', parameters },
  };
  const S = 'spec.parameters';
  const DOMAIN = 'must be a domain-prefixed path (such as "acme.io/foo")';
  kind.acceptsManifest('a class', ingressClass);
  kind.accepts(ingressClass, [{ [S]: undefined }, { [`${S}.scope`]: 'Namespace', [`${S}.namespace`]: 'default' }]);
  kind.refuses(ingressClass, [
    [{ 'spec.controller': '' }, 'spec.controller', 'Required value'],
    [{ 'spec.controller': 'nginx' }, 'spec.controller', `Invalid value: "nginx": ${DOMAIN}`],
    [{ 'spec.controller': 'example.com/' }, 'spec.controller', `Invalid value: "example.com/": ${DOMAIN}`],
    [{ 'spec.controller': 'A/b' }, 'spec.controller', `Invalid value: "A": ${SUBDOMAIN}`],
    [
      { 'spec.controller': 'a.b/c d' },
      'spec.controller',
      String.raw`Invalid value: "c d": Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')`,
    ],
    [{ 'spec.controller': `a.b/${'c'.repeat(247)}` }, 'spec.controller', TOO_LONG(250)],
    [
      { [S]: { kind: '', name: '' } },
      `${S}.kind`,
      'Required value: kind is required',
      `${S}.name`,
      'Required value: name is required',
    ],
    [
      { [`${S}.scope`]: 'Planet' },
      `${S}.scope`,
      'Unsupported value: "Planet": supported values: "Cluster", "Namespace"',
    ],
    [{ [`${S}.namespace`]: 'a' }, `${S}.namespace`, "Forbidden: `parameters.scope` is set to 'Cluster'"],
    [{ [`${S}.scope`]: 'Namespace' }, `${S}.namespace`, "Required value: `parameters.scope` is set to 'Namespace'"],
    [{ [`${S}.scope`]: 'Namespace', [`${S}.namespace`]: 'a.b' }, `${S}.namespace`, `Invalid value: "a.b": ${LABEL}`],
  ]);
});

describe('validation of network policies', () => {
  const kind = new KindUnderTest({ group, resource: 'networkpolicies', type: `${group}/v1.NetworkPolicy` });
  const policy = {
    apiVersion,
    kind: 'NetworkPolicy',
    metadata,
    spec: {
      podSelector: { matchLabels: { role: 'db' } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [
            { ipBlock: { cidr: '172.17.0.0/16', except: ['172.17.1.0/24'] } },
            { namespaceSelector: { matchLabels: { project: 'x' } }, podSelector: {} },
          ],
          ports: [{ protocol: 'TCP', port: 6379 }],
        },
      ],
      egress: [{ to: [{ ipBlock: { cidr: 'fd00::/8' } }], ports: [{ port: 32000, endPort: 32768 }] }],
    },
  };
  const I = 'spec.ingress.0';
  const A = 'spec.ingress[0]';
  const SUBSET = 'must be a strict subset of `cidr`';
  kind.acceptsManifest('a policy', policy);
  kind.accepts(policy, [
    { 'spec.podSelector': {}, 'spec.ingress': [{}] },
    { [`${I}.ports`]: [{ protocol: 'SCTP' }, { port: 'http' }] },
    { [`${I}.from`]: [{ ipBlock: { cidr: '::/0', except: ['fd00::/8'] } }] },
  ]);
  kind.refuses(policy, [
    [
      { 'spec.podSelector': { matchLabels: { a: 'b c' } } },
      'spec.podSelector.matchLabels',
      `Invalid value: "b c": ${LABEL_VALUE}`,
    ],
    [
      { [`${I}.ports`]: [{ protocol: 'ICMP' }] },
      `${A}.ports[0].protocol`,
      'Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"',
    ],
    [{ [`${I}.ports`]: [{ port: 0 }] }, `${A}.ports[0].port`, `Invalid value: 0: ${PORT}`],
    [
      { [`${I}.ports`]: [{ port: 'a_b' }] },
      `${A}.ports[0].port`,
      'Invalid value: "a_b": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    ],
    [
      { [`${I}.ports`]: [{ port: 10, endPort: 9 }] },
      `${A}.ports[0].endPort`,
      'Invalid value: 10: must be greater than or equal to `port`',
    ],
    [{ [`${I}.ports`]: [{ port: 10, endPort: 65536 }] }, `${A}.ports[0].endPort`, `Invalid value: 65536: ${PORT}`],
    [
      { [`${I}.ports`]: [{ endPort: 9 }] },
      `${A}.ports[0].endPort`,
      'Invalid value: 9: may not be specified when `port` is not specified',
    ],
    [
      { [`${I}.ports`]: [{ port: 'http', endPort: 9 }] },
      `${A}.ports[0].endPort`,
      'Invalid value: 9: may not be specified when `port` is non-numeric',
    ],
    [{ [`${I}.from`]: [{}] }, `${A}.from[0]`, 'Required value: must specify a peer'],
    [
      { [`${I}.from`]: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] },
      `${A}.from[0]`,
      'Forbidden: may not specify both ipBlock and another peer',
    ],
    [
      { [`${I}.from`]: [{ namespaceSelector: { matchExpressions: [{ key: 'a b', operator: 'Exists' }] } }] },
      `${A}.from[0].namespaceSelector.matchExpressions[0].key`,
      `Invalid value: "a b": ${QUALIFIED}`,
    ],
    [{ [`${I}.from`]: [{ ipBlock: {} }] }, `${A}.from[0].ipBlock.cidr`, 'Required value'],
    [
      { [`${I}.from`]: [{ ipBlock: { cidr: '10.0.0.1' } }] },
      `${A}.from[0].ipBlock.cidr`,
      'Invalid value: "10.0.0.1": not a valid CIDR',
    ],
    [
      { [`${I}.from`]: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.0/8', '11.0.0.0/9', 'fd00::/64', 'a'] } }] },
      `${A}.from[0].ipBlock.except[0]`,
      `Invalid value: "10.0.0.0/8": ${SUBSET}`,
      `${A}.from[0].ipBlock.except[1]`,
      `Invalid value: "11.0.0.0/9": ${SUBSET}`,
      `${A}.from[0].ipBlock.except[2]`,
      `Invalid value: "fd00::/64": ${SUBSET}`,
      `${A}.from[0].ipBlock.except[3]`,
      'Invalid value: "a": not a valid CIDR',
    ],
    [{ 'spec.egress': [{ to: [{}] }] }, 'spec.egress[0].to[0]', 'Required value: must specify a peer'],
    [{ 'spec.egress.0.ports': [{ port: 0 }] }, 'spec.egress[0].ports[0].port', `Invalid value: 0: ${PORT}`],
    [
      { 'spec.policyTypes': ['Both'] },
      'spec.policyTypes[0]',
      'Unsupported value: "Both": supported values: "Ingress", "Egress"',
    ],
    [
      { 'spec.policyTypes': ['Ingress', 'Egress', 'Egress'] },
      'spec.policyTypes',
      'Invalid value: ["Ingress","Egress","Egress"]: may not specify more than two policyTypes',
    ],
  ]);
});
