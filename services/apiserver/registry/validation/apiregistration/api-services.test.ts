import { KindUnderTest } from '../testing/cases.js';
import { SUBDOMAIN } from '../testing/words.js';

const group = 'apiregistration.k8s.io';
const DNS_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

describe('validation of API services', () => {
  const kind = new KindUnderTest({ group, resource: 'apiservices', type: `${group}/v1.APIService` });
  const of = (name: string, spec: object): Readonly<Record<string, unknown>> => ({
    apiVersion: `${group}/v1`,
    kind: 'APIService',
    metadata: { name },
    spec: { groupPriorityMinimum: 100, versionPriority: 100, ...spec },
  });
  const metrics = of('v1beta1.metrics.k8s.io', {
    group: 'metrics.k8s.io',
    version: 'v1beta1',
    service: { namespace: 'kube-system', name: 'metrics-server' },
    insecureSkipTLSVerify: true,
  });
  kind.acceptsManifest('a service', metrics);
  kind.acceptsManifest('the group without a name', of('v1.', { version: 'v1', groupPriorityMinimum: 18000 }));
  kind.acceptsManifest('one with a bundle', of('v1.a.b', { group: 'a.b', version: 'v1', service: { namespace: 'a', name: 'b' }, caBundle: 'QQ==' })); // prettier-ignore
  kind.refuses(metrics, [
    [
      { 'metadata.name': 'metrics' },
      'metadata.name',
      'Invalid value: "metrics": must be `spec.version+"."+spec.group`: "v1beta1.metrics.k8s.io"',
    ],
    [
      { 'metadata.name': 'v1beta1.', 'spec.group': '' },
      'spec.group',
      'Required value: only v1 may have an empty group',
    ],
    [{ 'metadata.name': 'v1beta1.A', 'spec.group': 'A' }, 'spec.group', `Invalid value: "A": ${SUBDOMAIN}`],
    [{ 'metadata.name': '1.metrics.k8s.io', 'spec.version': '1' }, 'spec.version', `Invalid value: "1": ${DNS_1035}`],
    [
      { 'spec.groupPriorityMinimum': 20_001 },
      'spec.groupPriorityMinimum',
      'Invalid value: 20001: must be positive and less than 20000',
    ],
    [{ 'spec.versionPriority': 0 }, 'spec.versionPriority', 'Invalid value: 0: must be positive and less than 1000'],
    [
      { 'spec.service': undefined, 'spec.caBundle': 'QUJD' },
      'spec.caBundle',
      'Invalid value: "3 bytes": local APIServices may not have a caBundle',
      'spec.insecureSkipTLSVerify',
      'Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
    ],
    [{ 'spec.service': {} }, 'spec.service.namespace', 'Required value', 'spec.service.name', 'Required value'],
    [
      { 'spec.caBundle': 'QUJD' },
      'spec.insecureSkipTLSVerify',
      'Invalid value: true: may not be true if caBundle is present',
    ],
  ]);
  kind.refusesPart('status', metrics, [
    [
      { 'status.conditions': [{ type: 'Available', status: 'Yes' }] },
      'status.conditions[0].status',
      'Unsupported value: "Yes": supported values: "True", "False", "Unknown"',
    ],
  ]);
});
