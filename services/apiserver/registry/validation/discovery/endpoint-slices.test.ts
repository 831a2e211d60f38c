import { KindUnderTest } from '../testing/cases.js';
import { LABEL, LABEL_VALUE, QUALIFIED, SUBDOMAIN } from '../testing/words.js';

const group = 'discovery.k8s.io';

describe('validation of endpoint slices', () => {
  const kind = new KindUnderTest({ group, resource: 'endpointslices', type: `${group}/v1.EndpointSlice` });
  const slice = {
    apiVersion: `${group}/v1`,
    kind: 'EndpointSlice',
    metadata: { name: 'x', namespace: 'default', labels: { 'kubernetes.io/service-name': 'x' } },
    addressType: 'IPv4',
    ports: [
      { name: 'http', protocol: 'TCP', port: 80, appProtocol: 'example.com/x' },
      { name: 'dns', protocol: 'UDP', port: 53 },
    ],
    endpoints: [
      {
        addresses: ['10.1.2.3'],
        conditions: { ready: true },
        hostname: 'pod-1',
        nodeName: 'node-1',
        zone: 'a',
        hints: { forZones: [{ name: 'a' }] },
      },
    ],
  };
  const E = 'endpoints.0';
  const A = 'endpoints[0]';
  const many = <T>(n: number, make: (i: number) => T): readonly T[] => Array.from({ length: n }, (_, i) => make(i));
  kind.acceptsManifest('a slice', slice);
  kind.accepts(slice, [
    { endpoints: [], ports: [] },
    { ports: null },
    { addressType: 'IPv6', [`${E}.addresses`]: ['2001:db8::1'] },
    { addressType: 'FQDN', [`${E}.addresses`]: ['a.example.com.', 'b.example.com'] },
  ]);
  kind.refuses(slice, [
    [{ addressType: '' }, 'addressType', 'Required value'],
    [{ addressType: 'IP' }, 'addressType', 'Unsupported value: "IP": supported values: "FQDN", "IPv4", "IPv6"'],
    [{ endpoints: many(1001, () => ({})) }, 'endpoints', 'Too many: 1001: must have at most 1000 items'],
    [{ [`${E}.addresses`]: [] }, `${A}.addresses`, 'Required value: must contain at least 1 address'],
    [
      { [`${E}.addresses`]: many(101, (i) => `10.0.0.${i}`) },
      `${A}.addresses`,
      'Too many: 101: must have at most 100 items',
    ],
    [
      { [`${E}.addresses`]: ['2001:db8::1'] },
      `${A}.addresses[0]`,
      'Invalid value: "2001:db8::1": must be a valid IPv4 address',
    ],
    [
      { [`${E}.addresses`]: ['a'] },
      `${A}.addresses[0]`,
      'Invalid value: "a": must be a valid IPv4 address',
      `${A}.addresses[0]`,
      'Invalid value: "a": must be a valid IP address',
    ],
    [
      { [`${E}.addresses`]: ['127.0.0.1'] },
      `${A}.addresses[0]`,
      'Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    ],
    [{ addressType: 'IPv6' }, `${A}.addresses[0]`, 'Invalid value: "10.1.2.3": must be a valid IPv6 address'],
    [
      { addressType: 'FQDN', [`${E}.addresses`]: ['', 'com', 'A.b', `${'a'.repeat(64)}.b`] },
      `${A}.addresses[0]`,
      'Required value',
      `${A}.addresses[1]`,
      'Invalid value: "com": should be a domain with at least two segments separated by dots',
      `${A}.addresses[2]`,
      `Invalid value: "A.b": ${SUBDOMAIN}`,
      `${A}.addresses[3]`,
      `Invalid value: "${'a'.repeat(64)}": must be no more than 63 characters`,
    ],
    [{ [`${E}.nodeName`]: 'A' }, `${A}.nodeName`, `Invalid value: "A": ${SUBDOMAIN}`],
    [{ [`${E}.hostname`]: 'a.b' }, `${A}.hostname`, `Invalid value: "a.b": ${LABEL}`],
    [
      { [`${E}.deprecatedTopology`]: Object.fromEntries(many(17, (i) => [`k${i}`, 'v'])) },
      `${A}.deprecatedTopology`,
      'Too many: 17: must have at most 16 items',
    ],
    [{ [`${E}.deprecatedTopology`]: { 'a b': 'c' } }, `${A}.deprecatedTopology`, `Invalid value: "a b": ${QUALIFIED}`],
    [
      { [`${E}.hints.forZones`]: many(9, (i) => ({ name: `z${i}` })) },
      `${A}.hints.forZones`,
      'Too many: 9: must have at most 8 items',
    ],
    [
      { [`${E}.hints.forZones`]: [{ name: 'a' }, { name: 'a' }, { name: 'b c' }] },
      `${A}.hints.forZones[1].name`,
      'Duplicate value: "a"',
      `${A}.hints.forZones[2].name`,
      `Invalid value: "b c": ${LABEL_VALUE}`,
    ],
    [{ ports: many(101, (i) => ({ name: `p${i}` })) }, 'ports', 'Too many: 101: must have at most 100 items'],
    [{ 'ports.0.name': 'A' }, 'ports[0].name', `Invalid value: "A": ${LABEL}`],
    [{ 'ports.0.name': 'dns' }, 'ports[1].name', 'Duplicate value: "dns"'],
    [{ ports: [{}, {}] }, 'ports[1].name', 'Duplicate value: ""'],
    [
      { 'ports.0.protocol': 'ICMP' },
      'ports[0].protocol',
      'Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
    ],
    [{ 'ports.0.appProtocol': 'a b' }, 'ports[0].appProtocol', `Invalid value: "a b": ${QUALIFIED}`],
  ]);
});
