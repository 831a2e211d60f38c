import { SIGNING_REQUEST } from './signing-request.js';

const selector = { matchLabels: { a: 'b' } };
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const jobTemplate = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
const workload = { selector, template };
const conditions = [{ type: 'Checked', status: 'True', lastTransitionTime: '2021-01-01T00:00:00Z', reason: 'r', message: 'm' }]; // prettier-ignore

const resourceRules = [
  { operations: ['CREATE'], apiGroups: ['far.example.com'], apiVersions: ['v1'], resources: ['x'] },
];
const matching = { matchConstraints: { resourceRules } };

interface Least {
  /** What a new object needs besides its name. */
  readonly body: object;
  /** A state that it may be in. */
  readonly status: object;
}

/** The kinds with a status, by resource. */
export const WITH_STATUS: Readonly<Record<string, Least>> = {
  namespaces: { body: {}, status: { phase: 'Active' } },
  nodes: { body: {}, status: { capacity: { cpu: '2' } } },
  persistentvolumes: {
    body: { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } },
    status: { phase: 'Available' },
  },
  persistentvolumeclaims: {
    body: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    status: { phase: 'Bound' },
  },
  pods: { body: { spec: template.spec }, status: { phase: 'Running' } },
  replicationcontrollers: { body: { spec: { selector: { a: 'b' }, template } }, status: { replicas: 1 } },
  resourcequotas: { body: { spec: { hard: { pods: '3' } } }, status: { hard: { pods: '3' } } },
  services: { body: { spec: { ports: [{ port: 80 }] } }, status: { conditions } },
  apiservices: {
    body: { spec: { group: 'far.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 100, service: { name: 'x', namespace: 'default' } } }, // prettier-ignore
    status: { conditions },
  },
  daemonsets: {
    body: { spec: workload },
    status: { currentNumberScheduled: 1, numberMisscheduled: 0, desiredNumberScheduled: 1, numberReady: 1 },
  },
  deployments: { body: { spec: workload }, status: { replicas: 1 } },
  replicasets: { body: { spec: workload }, status: { replicas: 1 } },
  statefulsets: { body: { spec: { ...workload, serviceName: 's' } }, status: { replicas: 1 } },
  horizontalpodautoscalers: {
    body: { spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'x', apiVersion: 'apps/v1' } } },
    status: { currentReplicas: 1, desiredReplicas: 1 },
  },
  cronjobs: {
    body: { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobTemplate } } } },
    status: { lastScheduleTime: '2021-01-01T00:00:00Z' },
  },
  jobs: { body: { spec: { template: jobTemplate } }, status: { active: 1 } },
  certificatesigningrequests: {
    body: { spec: { request: SIGNING_REQUEST, signerName: 'example.com/signer', usages: ['client auth'] } },
    status: { conditions: [{ type: 'Checked', status: 'True' }] },
  },
  ingresses: {
    body: { spec: { defaultBackend: { service: { name: 'x', port: { number: 80 } } } } },
    status: { loadBalancer: { ingress: [{ ip: '10.1.1.1' }] } },
  },
  networkpolicies: { body: { spec: { podSelector: {} } }, status: {} },
  poddisruptionbudgets: {
    body: { spec: { minAvailable: 1, selector } },
    status: { currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0, expectedPods: 1 },
  },
  volumeattachments: {
    body: { spec: { attacher: 'x', nodeName: 'n', source: { persistentVolumeName: 'p' } } },
    status: { attached: true },
  },
  customresourcedefinitions: {
    body: {
      spec: {
        group: 'e.example.com',
        scope: 'Namespaced',
        names: { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    },
    status: { acceptedNames: { plural: 'foos', kind: 'Foo' }, conditions, storedVersions: ['v1'] },
  },
  validatingadmissionpolicies: {
    body: { spec: { ...matching, validations: [{ expression: 'true' }] } },
    status: { observedGeneration: 1 },
  },
  flowschemas: {
    body: { spec: { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 100 } },
    status: { conditions },
  },
  prioritylevelconfigurations: {
    body: { spec: { type: 'Limited', limited: { assuredConcurrencyShares: 5, limitResponse: { type: 'Reject' } } } },
    status: { conditions },
  },
};

const anything = { rule: 'RunAsAny' };
const roleRef = { apiGroup: 'rbac.authorization.platform.io', kind: 'ClusterRole', name: 'view' };
const endpoint = { addresses: ['10.0.0.1'], ports: [{ port: 80 }] };

/** What a new object of a kind without a status needs besides its name, by resource; those that need nothing are not here. */
const WITHOUT_STATUS: Readonly<Record<string, object>> = {
  endpoints: { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] },
  limitranges: { spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } },
  podtemplates: { template },
  controllerrevisions: { data: {}, revision: 1 },
  leases: { spec: {} },
  mutatingadmissionpolicies: {
    spec: {
      ...matching,
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
      reinvocationPolicy: 'Never',
    },
  },
  mutatingadmissionpolicybindings: { spec: { policyName: 'none' } },
  validatingadmissionpolicybindings: { spec: { policyName: 'none', validationActions: ['Deny'] } },
  endpointslices: { addressType: 'IPv4', endpoints: [endpoint], ports: [{ port: 80 }] },
  ingressclasses: { spec: { controller: 'example.com/c' } },
  runtimeclasses: { handler: 'h' },
  podsecuritypolicies: {
    spec: { seLinux: anything, runAsUser: anything, supplementalGroups: anything, fsGroup: anything },
  },
  rolebindings: { roleRef, subjects: [{ kind: 'User', apiGroup: roleRef.apiGroup, name: 'u' }] },
  clusterrolebindings: { roleRef },
  roles: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  priorityclasses: { value: 1 },
  storageclasses: { provisioner: 'example.com/p' },
  csidrivers: { spec: {} },
  csinodes: { spec: { drivers: [{ name: 'd', nodeID: 'n' }] } },
  csistoragecapacities: { storageClassName: 'c' },
};

/** What a new object needs besides its name; events are about something, and say so as their group does. */
export function leastBody(
  { group, resource }: { readonly group: string; readonly resource: string },
  namespace: string,
): object {
  if (resource !== 'events') return WITH_STATUS[resource]?.body ?? WITHOUT_STATUS[resource] ?? {};
  if (group === '') return { involvedObject: { kind: 'Pod', name: 'p', namespace } };
  const about = { regarding: { namespace }, reason: 'r', action: 'a', type: 'Normal' };
  return { ...about, eventTime: '2021-01-01T00:00:00.000000Z', reportingController: 'c/c', reportingInstance: 'i' };
}

/** Names that follow from what is in the object. */
const NAMES: Readonly<Record<string, string>> = {
  apiservices: 'v1.far.example.com',
  customresourcedefinitions: 'foos.e.example.com',
};
let made = 0;

/** A name that a new object of the kind may have. */
export const leastName = (resource: string): string => NAMES[resource] ?? `least-${process.pid}-${++made}`;
