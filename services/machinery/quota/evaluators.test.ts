import assert from 'node:assert/strict';
import type { ApiObject } from '../meta/object.js';
import type { ResourceQuotaSpec } from '../types/generated/core.v1.js';
import { vocabulary } from '../vocabulary/vocabulary.js';
import { Evaluators, isCounted, usageOf } from './evaluators.js';

const evaluators = new Evaluators(vocabulary('kubernetes'));

const object = (kind: string, spec: object, more: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'o', namespace: 'ns' },
  spec,
  ...more,
});
const container = (requests: object, limits: object = {}, name = 'c'): object => ({
  name,
  resources: { requests, limits },
});
const pod = (spec: object, more?: object): ApiObject => object('Pod', spec, more);
const plainPod = pod({ containers: [container({})] });
const PODS = { group: '', resource: 'pods' };
const SERVICES = { group: '', resource: 'services' };
const CLAIMS = { group: '', resource: 'persistentvolumeclaims' };

describe('what quotas count', () => {
  const rows: readonly (readonly [what: string, of: { group: string; resource: string }, ApiObject, object])[] = [
    ['a pod', PODS, plainPod, { pods: '1', 'count/pods': '1' }],
    ['a pod that succeeded', PODS, { ...plainPod, status: { phase: 'Succeeded' } }, { 'count/pods': '1' }],
    ['a pod that failed', PODS, { ...plainPod, status: { phase: 'Failed' } }, { 'count/pods': '1' }],
    ['a pod that runs', PODS, { ...plainPod, status: { phase: 'Running' } }, { pods: '1', 'count/pods': '1' }],
    [
      'requests and limits of all containers',
      PODS,
      pod({
        containers: [container({ cpu: '100m' }, { memory: '1Gi' }), container({ cpu: '1' }, { memory: '512Mi' })],
      }),
      { pods: '1', 'count/pods': '1', cpu: '1100m', 'requests.cpu': '1100m', 'limits.memory': '1536Mi' },
    ],
    [
      'the largest container that initializes, where it is more',
      PODS,
      pod({
        initContainers: [container({ cpu: '3' }, { cpu: '3' }), container({ cpu: '2' })],
        containers: [container({ cpu: '1' }, { cpu: '4' })],
      }),
      { pods: '1', 'count/pods': '1', cpu: '3', 'requests.cpu': '3', 'limits.cpu': '4' },
    ],
    [
      'overhead, as a limit only where there is one',
      PODS,
      pod({ overhead: { cpu: '250m', memory: '1Mi' }, containers: [container({ cpu: '1' }, { cpu: '2' })] }),
      {
        pods: '1',
        'count/pods': '1',
        cpu: '1250m',
        'requests.cpu': '1250m',
        memory: '1Mi',
        'requests.memory': '1Mi',
        'limits.cpu': '2250m',
      },
    ],
    [
      'extended resources and huge pages, as requests',
      PODS,
      pod({ containers: [container({ 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi', 'ephemeral-storage': '1Gi' })] }),
      {
        pods: '1',
        'count/pods': '1',
        'requests.example.com/gpu': '2',
        'hugepages-2Mi': '4Mi',
        'requests.hugepages-2Mi': '4Mi',
        'ephemeral-storage': '1Gi',
        'requests.ephemeral-storage': '1Gi',
      },
    ],
    ['no resource of the API itself', PODS, pod({ containers: [container({ 'kubernetes.io/x': '1' })] }), { pods: '1', 'count/pods': '1' }], // prettier-ignore
    ['a service', SERVICES, object('Service', { type: 'ClusterIP', ports: [{}] }), { services: '1', 'count/services': '1' }], // prettier-ignore
    [
      'node ports',
      SERVICES,
      object('Service', { type: 'NodePort', ports: [{}, {}] }),
      { services: '1', 'count/services': '1', 'services.nodeports': '2' },
    ],
    [
      'load balancers, which have node ports',
      SERVICES,
      object('Service', { type: 'LoadBalancer', ports: [{}, {}] }),
      { services: '1', 'count/services': '1', 'services.nodeports': '2', 'services.loadbalancers': '1' },
    ],
    [
      'load balancers that have as few node ports as they can',
      SERVICES,
      object('Service', {
        type: 'LoadBalancer',
        allocateLoadBalancerNodePorts: false,
        ports: [{ nodePort: 30000 }, {}, {}],
      }),
      { services: '1', 'count/services': '1', 'services.nodeports': '1', 'services.loadbalancers': '1' },
    ],
    [
      'a claim, for all and for its class',
      CLAIMS,
      object('PersistentVolumeClaim', { storageClassName: 'gold', resources: { requests: { storage: '3Gi' } } }),
      {
        'count/persistentvolumeclaims': '1',
        persistentvolumeclaims: '1',
        'requests.storage': '3Gi',
        'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
        'gold.storageclass.storage.k8s.io/requests.storage': '3Gi',
      },
    ],
    [
      'the class that the older annotation names',
      CLAIMS,
      {
        ...object('PersistentVolumeClaim', { storageClassName: 'gold' }),
        metadata: { name: 'c', annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } },
      },
      {
        'count/persistentvolumeclaims': '1',
        persistentvolumeclaims: '1',
        'old.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
      },
    ],
    ['a claim without a class', CLAIMS, object('PersistentVolumeClaim', {}), { 'count/persistentvolumeclaims': '1', persistentvolumeclaims: '1' }], // prettier-ignore
    ['a plain resource under both names', { group: '', resource: 'configmaps' }, object('ConfigMap', {}), { configmaps: '1', 'count/configmaps': '1' }], // prettier-ignore
    ['any resource by its group', { group: 'example.com', resource: 'widgets' }, object('Widget', {}), { 'count/widgets.example.com': '1' }], // prettier-ignore
    ['a resource of no group that has no old name', { group: '', resource: 'endpoints' }, object('Endpoints', {}), { 'count/endpoints': '1' }], // prettier-ignore
  ];
  for (const [what, of, counted, used] of rows) {
    it(`is ${what}`, () => {
      const evaluator = evaluators.of(of);
      const usage = evaluator.usage(counted);
      assert.deepEqual(Object.fromEntries(usage), used);
      for (const name of usage.keys()) {
        assert.ok(evaluator.counts(name), name);
        assert.deepEqual(evaluators.counted(name), of);
      }
    });
  }

  it('has no other names', () => {
    for (const name of ['foo', 'requests.foo', 'requests.kubernetes.io/x', 'limits.nvidia.com/gpu', 'cpus']) {
      assert.equal(evaluators.counted(name), undefined, name);
    }
  });
});

describe('scopes of quotas', () => {
  const limited = pod({ activeDeadlineSeconds: 0, containers: [container({ cpu: '1' })] });
  const prior = pod({ priorityClassName: 'high', containers: [container({})] });
  const affine = (term: object): ApiObject => pod({ containers: [], affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }); // prettier-ignore
  const select = (operator: string, ...values: string[]): ResourceQuotaSpec => ({
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values.length > 0 ? { values } : {}) }] }, // prettier-ignore
  });
  const rows: readonly (readonly [string, ResourceQuotaSpec, ApiObject, boolean])[] = [
    ['no scope has all', {}, plainPod, true],
    ['Terminating has those with a deadline', { scopes: ['Terminating'] }, limited, true],
    ['Terminating has no others', { scopes: ['Terminating'] }, plainPod, false],
    ['NotTerminating has those without', { scopes: ['NotTerminating'] }, plainPod, true],
    ['NotTerminating has no others', { scopes: ['NotTerminating'] }, limited, false],
    ['BestEffort has those that ask for nothing', { scopes: ['BestEffort'] }, plainPod, true],
    ['BestEffort has no others', { scopes: ['BestEffort'] }, limited, false],
    ['NotBestEffort has those that ask', { scopes: ['NotBestEffort'] }, limited, true],
    ['NotBestEffort has no others', { scopes: ['NotBestEffort'] }, plainPod, false],
    ['all scopes have to hold', { scopes: ['Terminating', 'BestEffort'] }, limited, false],
    ['PriorityClass in a list', select('In', 'low', 'high'), prior, true],
    ['PriorityClass not in the list', select('In', 'low'), prior, false],
    ['no class is in no list', select('In', 'low'), plainPod, false],
    ['PriorityClass outside a list', select('NotIn', 'low'), prior, true],
    ['PriorityClass inside it', select('NotIn', 'high'), prior, false],
    ['no class is outside every list', select('NotIn', 'high'), plainPod, true],
    ['PriorityClass there', select('Exists'), prior, true],
    ['PriorityClass not there', select('Exists'), plainPod, false],
    ['PriorityClass absent', select('DoesNotExist'), plainPod, true],
    ['PriorityClass not absent', select('DoesNotExist'), prior, false],
    ['an operator that is none', select('Maybe'), prior, false],
    ['the class as a plain scope', { scopes: ['PriorityClass'] }, prior, true],
    ['affinity to named namespaces', { scopes: ['CrossNamespacePodAffinity'] }, affine({ namespaces: ['z'] }), true],
    [
      'affinity to chosen namespaces',
      { scopes: ['CrossNamespacePodAffinity'] },
      affine({ namespaceSelector: {} }),
      true,
    ],
    ['affinity inside the namespace', { scopes: ['CrossNamespacePodAffinity'] }, affine({ topologyKey: 'a' }), false],
    [
      'anti-affinity that is preferred',
      { scopes: ['CrossNamespacePodAffinity'] },
      pod({ affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { namespaces: ['a'] } }] } } }), // prettier-ignore
      true,
    ],
    ['a scope that is none', { scopes: ['Other'] }, plainPod, false],
  ];
  for (const [what, quota, counted, is] of rows) {
    it(`${what}: ${is ? 'counted' : 'not counted'}`, () => {
      assert.equal(isCounted(evaluators.of(PODS), quota, counted), is);
      const used = usageOf(evaluators.of(PODS), { ...quota, hard: { pods: '1', services: '2' } }, counted);
      assert.deepEqual([...used], is ? [['pods', '1']] : []);
    });
  }

  it('are of pods alone: a quota with scopes counts nothing else', () => {
    const quota = { scopes: ['BestEffort'], hard: { services: '1' } };
    assert.equal(usageOf(evaluators.of(SERVICES), quota, object('Service', {})).size, 0);
  });
});

describe('what a quota makes new pods say', () => {
  const missing = (spec: object, ...hard: string[]): unknown => {
    return [...(evaluators.of(PODS).missing?.(pod(spec), hard) ?? [])];
  };
  const a = container({ cpu: '1' }, {}, 'a');
  const b = container({}, { cpu: '1', memory: '1' }, 'b');

  it('is what it limits of processors and memory', () => {
    const hard = ['requests.cpu', 'pods', 'limits.memory', 'cpu', 'requests.ephemeral-storage'];
    assert.deepEqual(missing({ containers: [b, a] }, ...hard), [
      ['cpu', ['b']],
      ['limits.memory', ['a']],
      ['requests.cpu', ['b']],
    ]);
  });

  it('is asked of containers that initialize, too, and told by names in order', () => {
    assert.deepEqual(missing({ initContainers: [container({}, {}, 'a')], containers: [container({}, {}, 'b')] }, 'memory'), [['memory', ['a', 'b']]]); // prettier-ignore
  });

  it('is nothing when all is said', () => {
    assert.deepEqual(missing({ containers: [a] }, 'requests.cpu', 'cpu', 'pods'), []);
  });
});
