import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ApiObject } from '../meta/object.js';
import { decodeObject } from '../schema/decode.js';
import { loadCatalog } from '../types/catalog.js';
import { arbitraryOf } from '../types/testing/arbitrary.js';
import { vocabulary } from '../vocabulary/vocabulary.js';
import { Defaulter } from './defaulter.js';

const words = vocabulary('platform');
const catalog = loadCatalog(words);
const defaulter = new Defaulter(words);
const decoded = (type: string, object: unknown): ApiObject =>
  decodeObject(catalog.types.of(type), object).value as ApiObject;

function defaulted(type: string, members: object): ApiObject {
  const object = decoded(type, members);
  defaulter.apply(catalog.types.of(type), object);
  return object;
}

/** What defaulting makes of one member; everything else of the object is as long as it is tested elsewhere. */
const spec = (type: string, given: object): unknown => defaulted(type, { spec: given })['spec'];

const group = words.groups;
const container = { name: 'c', image: 'nginx:1.25' };
const filledContainer = {
  name: 'c',
  image: 'nginx:1.25',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
};
const filledTemplate = {
  metadata: { creationTimestamp: null, labels: { app: 'web' } },
  spec: {
    containers: [filledContainer],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  },
};
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } };
const selector = { matchLabels: { app: 'web' } };

describe('Defaulter', () => {
  it('leaves every kind in canonical form, and changes nothing the second time', () => {
    for (const { type } of catalog.resources) {
      fc.assert(
        fc.property(arbitraryOf(catalog, type), (made) => {
          const object = defaulted(type, made);
          const once = JSON.stringify(object);
          assert.equal(JSON.stringify(decoded(type, object)), once);
          defaulter.apply(catalog.types.of(type), object);
          assert.equal(JSON.stringify(object), once);
        }),
        { numRuns: 8 },
      );
    }
  });

  it('changes nothing that is given', () => {
    const type = 'apps/v1.Deployment';
    const given = decoded(type, {
      spec: {
        replicas: 0,
        revisionHistoryLimit: 0,
        progressDeadlineSeconds: 1,
        strategy: { type: 'Recreate' },
        template: {
          spec: {
            restartPolicy: 'Never',
            terminationGracePeriodSeconds: 0,
            dnsPolicy: 'None',
            securityContext: { runAsUser: 0 },
            schedulerName: 'mine',
          },
        },
      },
    });
    const before = JSON.stringify(given);
    defaulter.apply(catalog.types.of(type), given);
    assert.equal(JSON.stringify(given), before);
  });

  it('does nothing to types without defaults', () => {
    const types = catalog.types.with(new Map([['__proto__', {}]]), []);
    for (const type of ['core/v1.ConfigMap', '__proto__']) {
      const object = { kind: 'X', apiVersion: 'v1', metadata: {} };
      defaulter.apply(types.of(type), object);
      assert.deepEqual(object, { kind: 'X', apiVersion: 'v1', metadata: {} });
    }
  });

  it('gives each object values of its own', () => {
    const type = `${group.admissionregistration}/v1.ValidatingWebhookConfiguration`;
    const [first, second] = [1, 2].map(() => defaulted(type, { webhooks: [{ name: 'w' }] }));
    const selectorOf = (object: ApiObject | undefined): Record<string, unknown> =>
      (object?.['webhooks'] as { objectSelector: Record<string, unknown> }[])[0]?.objectSelector ?? {};
    selectorOf(first)['matchLabels'] = {};
    assert.deepEqual(selectorOf(second), {});
  });

  it('speaks the vocabulary', () => {
    const kubernetes = vocabulary('kubernetes');
    const { types } = loadCatalog(kubernetes);
    const type = `${kubernetes.groups.rbac}/v1.RoleBinding`;
    const binding = decodeObject(types.of(type), { subjects: [{ kind: 'User', name: 'u' }] }).value as ApiObject;
    new Defaulter(kubernetes).apply(types.of(type), binding);
    assert.equal((binding['roleRef'] as { apiGroup: string }).apiGroup, 'rbac.authorization.k8s.io');
    const space = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'n' }, spec: {}, status: {} };
    new Defaulter(kubernetes).apply(types.of('core/v1.Namespace'), space);
    assert.deepEqual(space.metadata, { name: 'n', labels: { 'kubernetes.io/metadata.name': 'n' } });
  });
});

describe('defaults of workloads', () => {
  it('of a Deployment are a rolling update by quarters and ten old revisions', () => {
    assert.deepEqual(spec('apps/v1.Deployment', { selector, template }), {
      replicas: 1,
      selector,
      template: filledTemplate,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
  });

  it('of a Deployment complete a rolling update that is given in part', () => {
    const strategy = { rollingUpdate: { maxSurge: 0 } };
    assert.deepEqual((spec('apps/v1.Deployment', { strategy }) as { strategy: unknown }).strategy, {
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: '25%', maxSurge: 0 },
    });
  });

  it('of a DaemonSet replace one pod at a time', () => {
    assert.deepEqual(spec('apps/v1.DaemonSet', { selector, template }), {
      selector,
      template: filledTemplate,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 10,
    });
  });

  it('of a StatefulSet are ordered, and those of its claims those of claims', () => {
    const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } };
    assert.deepEqual(spec('apps/v1.StatefulSet', { selector, template, volumeClaimTemplates: [claim] }), {
      replicas: 1,
      selector,
      template: filledTemplate,
      volumeClaimTemplates: [
        {
          kind: 'PersistentVolumeClaim',
          apiVersion: 'v1',
          metadata: { name: 'data', creationTimestamp: null },
          spec: { accessModes: ['ReadWriteOnce'], resources: {}, volumeMode: 'Filesystem' },
          status: { phase: 'Pending' },
        },
      ],
      serviceName: '',
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 10,
    });
  });

  const updateStrategies = [
    [{ type: 'OnDelete' }, { type: 'OnDelete' }],
    [{ type: 'RollingUpdate' }, { type: 'RollingUpdate' }],
    [
      { type: 'RollingUpdate', rollingUpdate: {} },
      { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    ],
  ] as const;
  for (const [updateStrategy, expected] of updateStrategies) {
    it(`of a StatefulSet with ${JSON.stringify(updateStrategy)} are ${JSON.stringify(expected)}`, () => {
      const filled = spec('apps/v1.StatefulSet', { updateStrategy }) as { updateStrategy: unknown };
      assert.deepEqual(filled.updateStrategy, expected);
    });
  }

  it('of a ReplicaSet are one replica', () => {
    assert.equal((spec('apps/v1.ReplicaSet', {}) as { replicas: number }).replicas, 1);
  });

  it('of a ReplicationController take labels and selector from the template', () => {
    const controller = defaulted('core/v1.ReplicationController', { spec: { template } });
    assert.deepEqual(controller.metadata.labels, { app: 'web' });
    assert.deepEqual(controller['spec'], { replicas: 1, selector: { app: 'web' }, template: filledTemplate });
    controller.metadata.labels['app'] = 'changed';
    assert.deepEqual((controller['spec'] as { selector: unknown }).selector, { app: 'web' });
  });

  it('of a Job are one completion by one pod, and labels of the template', () => {
    const job = defaulted('batch/v1.Job', { spec: { template } });
    assert.deepEqual(job.metadata.labels, { app: 'web' });
    assert.deepEqual(job['spec'], {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      template: filledTemplate,
      completionMode: 'NonIndexed',
      suspend: false,
    });
  });

  it('of a Job with parallelism leave completions open: a work queue', () => {
    const { completions, parallelism } = spec('batch/v1.Job', { parallelism: 3 }) as Record<string, unknown>;
    assert.deepEqual([completions, parallelism], [undefined, 3]);
    assert.equal((spec('batch/v1.Job', { completions: 2 }) as Record<string, unknown>)['parallelism'], 1);
  });

  for (const version of ['v1', 'v1beta1']) {
    it(`of a CronJob in ${version} are its own and those of pods, not those of Jobs`, () => {
      const jobTemplate = { spec: { template } };
      assert.deepEqual(spec(`batch/${version}.CronJob`, { schedule: '* * * * *', jobTemplate }), {
        schedule: '* * * * *',
        concurrencyPolicy: 'Allow',
        suspend: false,
        jobTemplate: { metadata: { creationTimestamp: null }, spec: { template: filledTemplate } },
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      });
    });
  }
});

describe('defaults of a Pod', () => {
  const pod = (given: object): Record<string, unknown> => spec('core/v1.Pod', given) as Record<string, unknown>;
  const first = (given: object): Record<string, unknown> =>
    (pod({ containers: [{ ...container, ...given }] })['containers'] as Record<string, unknown>[])[0] ?? {};

  it('are those of its template, and links to services', () => {
    assert.deepEqual(pod({ containers: [container] }), { ...filledTemplate.spec, enableServiceLinks: true });
  });

  const images = [
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['nginx:1.25', 'IfNotPresent'],
    ['registry:5000/team/nginx', 'Always'],
    ['registry:5000/team/nginx:v1', 'IfNotPresent'],
    ['localhost/nginx:latest', 'Always'],
    ['nginx@sha256:0d17b565c37bcbd895e9d92315a05c1c3c9a29f762b011a10c54a66cd53c9b31', 'IfNotPresent'],
    ['nginx:latest@sha256:0d17b565c37bcbd895e9d92315a05c1c3c9a29f762b011a10c54a66cd53c9b31', 'Always'],
    ['NGINX', 'IfNotPresent'],
    ['', 'IfNotPresent'],
  ] as const;
  for (const [image, policy] of images) {
    it(`pull ${JSON.stringify(image)} ${policy}`, () => assert.equal(first({ image })['imagePullPolicy'], policy));
  }

  it('request what is limited, if the pod stands for itself', () => {
    const limits = { cpu: '1', memory: '1Gi' };
    const resources = { limits, requests: { memory: '1Mi', 'example.com/gpu': '1' } };
    const requests = { cpu: '1', 'example.com/gpu': '1', memory: '1Mi' };
    assert.deepEqual(first({ resources })['resources'], { limits, requests });
    assert.deepEqual(first({ resources: { limits } })['resources'], { limits, requests: limits });
    const inTemplate = spec('apps/v1.Deployment', {
      template: { spec: { containers: [{ ...container, resources: { limits } }] } },
    }) as { template: typeof filledTemplate };
    assert.deepEqual(inTemplate.template.spec.containers[0]?.resources, { limits });
  });

  it('round amounts up to thousandths', () => {
    const limits = {
      cpu: '100u',
      'example.com/a': '1500001n',
      'example.com/b': '-1u',
      'example.com/c': '1e-6',
      memory: '1Gi',
    };
    assert.deepEqual((first({ resources: { limits } })['resources'] as { limits: unknown }).limits, {
      cpu: '1m',
      'example.com/a': '2m',
      'example.com/b': '-1m',
      'example.com/c': '1e-3',
      memory: '1Gi',
    });
  });

  it('open ports of the host when the pod uses its network', () => {
    const ports = [{ containerPort: 80 }, { containerPort: 53, hostPort: 5353, protocol: 'UDP' }];
    assert.deepEqual(first({ ports })['ports'], [
      { containerPort: 80, protocol: 'TCP' },
      { hostPort: 5353, containerPort: 53, protocol: 'UDP' },
    ]);
    const onHost = pod({ hostNetwork: true, containers: [{ name: 'c', ports }] })['containers'] as { ports: unknown }[];
    assert.deepEqual(onHost[0]?.ports, [
      { hostPort: 80, containerPort: 80, protocol: 'TCP' },
      { hostPort: 5353, containerPort: 53, protocol: 'UDP' },
    ]);
  });

  it('show a service account under both its names', () => {
    const both = { serviceAccountName: 'a', serviceAccount: 'a' };
    for (const given of [{ serviceAccountName: 'a' }, { serviceAccount: 'a' }, { ...both, serviceAccount: 'old' }]) {
      const { serviceAccountName, serviceAccount } = pod(given);
      assert.deepEqual({ serviceAccountName, serviceAccount }, both);
    }
  });

  const times = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  const probes = [
    [{ httpGet: { port: 80 } }, { httpGet: { path: '/', port: 80, scheme: 'HTTP' }, ...times }],
    [{ tcpSocket: { port: 'http' } }, { tcpSocket: { port: 'http' }, ...times }],
    [
      { exec: { command: ['x'] }, periodSeconds: 5 },
      { exec: { command: ['x'] }, ...times, periodSeconds: 5 },
    ],
    [{ grpc: { port: 1 } }, { grpc: { port: 1, service: '' }, ...times }],
  ] as const;
  for (const [given, expected] of probes) {
    it(`complete the probe ${JSON.stringify(given)}`, () => {
      for (const kind of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
        assert.deepEqual(first({ [kind]: given })[kind], expected);
      }
    });
  }

  it('complete requests of life-cycle hooks, and references to members', () => {
    const { lifecycle, env } = first({
      lifecycle: { preStop: { httpGet: { port: 1, scheme: 'HTTPS' } } },
      env: [{ name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    });
    assert.deepEqual(lifecycle, { preStop: { httpGet: { path: '/', port: 1, scheme: 'HTTPS' } } });
    assert.deepEqual(env, [{ name: 'N', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } }]);
  });

  it('are the same for initial and ephemeral containers', () => {
    const { initContainers, ephemeralContainers } = pod({
      initContainers: [container],
      ephemeralContainers: [{ ...container, targetContainerName: 'c' }],
    });
    assert.deepEqual(initContainers, [filledContainer]);
    assert.deepEqual(ephemeralContainers, [{ ...filledContainer, targetContainerName: 'c' }]);
  });

  const volumes = [
    [{}, { emptyDir: {} }],
    [{ emptyDir: { medium: 'Memory' } }, { emptyDir: { medium: 'Memory' } }],
    [{ configMap: { name: 'x' } }, { configMap: { name: 'x', defaultMode: 420 } }],
    [{ secret: { secretName: 'x', defaultMode: 0 } }, { secret: { secretName: 'x', defaultMode: 0 } }],
    [{ hostPath: { path: '/x' } }, { hostPath: { path: '/x', type: '' } }],
    [
      { rbd: { monitors: ['m'], image: 'i' } },
      { rbd: { monitors: ['m'], image: 'i', pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } },
    ],
    [
      { iscsi: { targetPortal: 't', iqn: 'i', lun: 0 } },
      { iscsi: { targetPortal: 't', iqn: 'i', lun: 0, iscsiInterface: 'default' } },
    ],
    [
      { azureDisk: { diskName: 'd', diskURI: 'u' } },
      {
        azureDisk: {
          diskName: 'd',
          diskURI: 'u',
          cachingMode: 'ReadWrite',
          fsType: 'ext4',
          readOnly: false,
          kind: 'Shared',
        },
      },
    ],
    [
      { scaleIO: { gateway: 'g', system: 's', secretRef: null } },
      { scaleIO: { gateway: 'g', system: 's', secretRef: null, storageMode: 'ThinProvisioned', fsType: 'xfs' } },
    ],
    [
      { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.labels' } }] } },
      {
        downwardAPI: {
          items: [{ path: 'p', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' } }],
          defaultMode: 420,
        },
      },
    ],
    [
      { projected: { sources: [{ serviceAccountToken: { path: 'p' } }] } },
      { projected: { sources: [{ serviceAccountToken: { expirationSeconds: 3600, path: 'p' } }], defaultMode: 420 } },
    ],
    [
      { ephemeral: { volumeClaimTemplate: { spec: {} } } },
      {
        ephemeral: {
          volumeClaimTemplate: {
            metadata: { creationTimestamp: null },
            spec: { resources: {}, volumeMode: 'Filesystem' },
          },
        },
      },
    ],
  ] as const;
  for (const [given, expected] of volumes) {
    it(`complete the volume ${JSON.stringify(given)}`, () => {
      assert.deepEqual(pod({ volumes: [{ name: 'v', ...given }] })['volumes'], [{ name: 'v', ...expected }]);
    });
  }
});

describe('defaults of a Service', () => {
  const service = (given: object): unknown => spec('core/v1.Service', given);
  const none = { sessionAffinity: 'None' };
  const cases = [
    [{}, { ...none, type: 'ClusterIP', internalTrafficPolicy: 'Cluster' }],
    [{ type: 'ExternalName' }, { ...none, type: 'ExternalName' }],
    [
      { type: 'NodePort' },
      { ...none, type: 'NodePort', externalTrafficPolicy: 'Cluster', internalTrafficPolicy: 'Cluster' },
    ],
    [
      { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
      {
        ...none,
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Local',
        allocateLoadBalancerNodePorts: true,
        internalTrafficPolicy: 'Cluster',
      },
    ],
    [
      { sessionAffinity: 'ClientIP' },
      {
        type: 'ClusterIP',
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
        internalTrafficPolicy: 'Cluster',
      },
    ],
    [
      { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
      { ...none, type: 'ClusterIP', internalTrafficPolicy: 'Cluster' },
    ],
  ] as const;
  for (const [given, expected] of cases) {
    it(`make ${JSON.stringify(expected)} of ${JSON.stringify(given)}`, () =>
      assert.deepEqual(service(given), expected));
  }

  it('send what comes in at a port to the same port', () => {
    const ports = [{ port: 80 }, { port: 53, protocol: 'UDP', targetPort: '' }, { port: 1, targetPort: 'http' }];
    assert.deepEqual((service({ ports }) as { ports: unknown }).ports, [
      { protocol: 'TCP', port: 80, targetPort: 80 },
      { protocol: 'UDP', port: 53, targetPort: 53 },
      { protocol: 'TCP', port: 1, targetPort: 'http' },
    ]);
  });
});

describe('defaults of a HorizontalPodAutoscaler', () => {
  const hpa = (version: string, given: object, metadata: object = {}): Record<string, unknown> => {
    const type = `autoscaling/${version}.HorizontalPodAutoscaler`;
    const { scaleTargetRef: _, ...rest } = defaulted(type, { metadata, spec: { maxReplicas: 2, ...given } })[
      'spec'
    ] as Record<string, unknown>;
    return rest;
  };
  const cpu = [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
  ];

  it('aim at 80 percent of the CPU in every version', () => {
    const base = { minReplicas: 1, maxReplicas: 2 };
    assert.deepEqual(hpa('v1', {}), { ...base, targetCPUUtilizationPercentage: 80 });
    assert.deepEqual(hpa('v2', {}), { ...base, metrics: cpu });
    assert.deepEqual(hpa('v2beta2', {}), { ...base, metrics: cpu });
    assert.deepEqual(hpa('v2beta1', {}), {
      ...base,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 80 } }],
    });
  });

  it('leave a v1 object alone that keeps other metrics in an annotation', () => {
    const annotations = { 'autoscaling.alpha.platform.io/metrics': '[]' };
    assert.deepEqual(hpa('v1', { minReplicas: 0 }, { annotations }), { minReplicas: 0, maxReplicas: 2 });
  });

  for (const version of ['v2', 'v2beta2']) {
    it(`complete a behavior in ${version}, if there is one`, () => {
      const scaleDown = { stabilizationWindowSeconds: 60, selectPolicy: 'Min' };
      assert.deepEqual(hpa(version, { behavior: { scaleDown } })['behavior'], {
        scaleUp: {
          stabilizationWindowSeconds: 0,
          selectPolicy: 'Max',
          policies: [
            { type: 'Pods', value: 4, periodSeconds: 15 },
            { type: 'Percent', value: 100, periodSeconds: 15 },
          ],
        },
        scaleDown: { ...scaleDown, policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
      });
      assert.equal(hpa(version, {})['behavior'], undefined);
    });
  }
});

describe('defaults of other kinds', () => {
  const rest = (type: string, given: object): Record<string, unknown> => {
    const { kind: _, apiVersion: __, metadata: ___, ...members } = defaulted(type, given);
    return members;
  };

  it('of a NetworkPolicy say what it is about', () => {
    const policy = (given: object): Record<string, unknown> =>
      spec(`${group.networking}/v1.NetworkPolicy`, given) as Record<string, unknown>;
    assert.deepEqual(policy({})['policyTypes'], ['Ingress']);
    assert.deepEqual(policy({ egress: [{ ports: [{ port: 53 }] }] }), {
      podSelector: {},
      egress: [{ ports: [{ protocol: 'TCP', port: 53 }] }],
      policyTypes: ['Ingress', 'Egress'],
    });
    assert.deepEqual(policy({ policyTypes: ['Egress'] })['policyTypes'], ['Egress']);
  });

  it('of an IngressClass give its parameters a scope', () => {
    const type = `${group.networking}/v1.IngressClass`;
    const parameters = { kind: 'K', name: 'n' };
    assert.deepEqual(spec(type, { parameters }), { parameters: { ...parameters, scope: 'Cluster' } });
    assert.deepEqual(spec(type, {}), {});
  });

  it('of an Ingress are none', () => {
    const ingress = { defaultBackend: { service: { name: 's', port: { number: 1 } } } };
    assert.deepEqual(spec(`${group.networking}/v1.Ingress`, ingress), ingress);
  });

  it('of storage are to delete with the claim, to bind at once, and to be file systems', () => {
    assert.deepEqual(rest(`${group.storage}/v1.StorageClass`, { provisioner: 'p', allowVolumeExpansion: true }), {
      provisioner: 'p',
      reclaimPolicy: 'Delete',
      allowVolumeExpansion: true,
      volumeBindingMode: 'Immediate',
    });
    assert.deepEqual(rest('core/v1.PersistentVolume', { spec: { hostPath: { path: '/x' } } }), {
      spec: { hostPath: { path: '/x', type: '' }, persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    });
    assert.deepEqual(rest('core/v1.PersistentVolumeClaim', {}), {
      spec: { resources: {}, volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    });
    assert.deepEqual(spec(`${group.storage}/v1.CSIDriver`, {}), {
      attachRequired: true,
      podInfoOnMount: false,
      volumeLifecycleModes: ['Persistent'],
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
    });
  });

  it('of webhooks are to be asked about everything, and to fail', () => {
    const type = (kind: string): string => `${group.admissionregistration}/v1.${kind}WebhookConfiguration`;
    const webhook = {
      name: 'w',
      clientConfig: { service: { namespace: 'n', name: 's' } },
      rules: [{ operations: ['*'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    };
    const filled = {
      name: 'w',
      clientConfig: { service: { namespace: 'n', name: 's', port: 443 } },
      rules: [{ operations: ['*'], scope: '*' }],
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      sideEffects: 'None',
      timeoutSeconds: 10,
      admissionReviewVersions: ['v1'],
    };
    const validating = rest(type('Validating'), { webhooks: [webhook] });
    assert.deepEqual(validating, { webhooks: [filled] });
    const mutating = rest(type('Mutating'), { webhooks: [webhook] });
    assert.deepEqual(mutating, { webhooks: [{ ...filled, reinvocationPolicy: 'Never' }] });
  });

  for (const kind of ['RoleBinding', 'ClusterRoleBinding']) {
    it(`of a ${kind} name the group of what it binds`, () => {
      const subjects = [
        { kind: 'User', name: 'u' },
        { kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', name: 's', namespace: 'n' },
      ];
      assert.deepEqual(rest(`${group.rbac}/v1.${kind}`, { subjects, roleRef: { kind: 'ClusterRole', name: 'r' } }), {
        subjects: [
          { kind: 'User', apiGroup: group.rbac, name: 'u' },
          { kind: 'Group', apiGroup: group.rbac, name: 'g' },
          { kind: 'ServiceAccount', name: 's', namespace: 'n' },
        ],
        roleRef: { apiGroup: group.rbac, kind: 'ClusterRole', name: 'r' },
      });
    });
  }

  it('of a LimitRange: what is most is usual, what is usual is requested, else what is least', () => {
    const limits = [
      { type: 'Container', max: { cpu: '2' }, min: { cpu: '1', memory: '1Mi' } },
      { type: 'Pod', max: { cpu: '2' } },
    ];
    assert.deepEqual(spec('core/v1.LimitRange', { limits }), {
      limits: [
        {
          type: 'Container',
          max: { cpu: '2' },
          min: { cpu: '1', memory: '1Mi' },
          default: { cpu: '2' },
          defaultRequest: { cpu: '2', memory: '1Mi' },
        },
        { type: 'Pod', max: { cpu: '2' } },
      ],
    });
  });

  it('of a ResourceQuota round up', () => {
    assert.deepEqual(spec('core/v1.ResourceQuota', { hard: { cpu: '1u' } }), { hard: { cpu: '1m' } });
  });

  it('of Endpoints and EndpointSlices are TCP ports', () => {
    assert.deepEqual(rest('core/v1.Endpoints', { subsets: [{ ports: [{ port: 1 }] }] }), {
      subsets: [{ ports: [{ port: 1, protocol: 'TCP' }] }],
    });
    for (const version of ['v1', 'v1beta1']) {
      const { ports } = rest(`${group.discovery}/${version}.EndpointSlice`, { ports: [{ port: 1 }] });
      assert.deepEqual(ports, [{ name: '', protocol: 'TCP', port: 1 }]);
    }
  });

  it('of a CustomResourceDefinition give it names, a conversion and the version that is stored', () => {
    const versions = [
      { name: 'v1', served: true, storage: false },
      { name: 'v2', served: true, storage: true },
    ];
    const type = `${group.apiextensions}/v1.CustomResourceDefinition`;
    const { spec, status } = rest(type, { spec: { names: { kind: 'Widget', plural: 'widgets' }, versions } });
    assert.deepEqual(spec, {
      group: '',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      scope: '',
      versions,
      conversion: { strategy: 'None' },
    });
    assert.deepEqual((status as { storedVersions: unknown }).storedVersions, ['v2']);
  });

  it('of a Namespace are its state and a label with its name, among the others in their order', () => {
    const space = defaulted('core/v1.Namespace', {
      metadata: { name: 'n', labels: { z: '1', a: '2', constructor: '3' } },
    });
    assert.equal(
      JSON.stringify(space.metadata.labels),
      '{"a":"2","constructor":"3","platform.io/metadata.name":"n","z":"1"}',
    );
    assert.deepEqual(space['status'], { phase: 'Active' });
    assert.equal(defaulted('core/v1.Namespace', {}).metadata.labels, undefined);
  });

  it('of a Node let everything be allocated', () => {
    const { status } = rest('core/v1.Node', { status: { capacity: { cpu: '4' } } });
    assert.deepEqual((status as { allocatable: unknown }).allocatable, { cpu: '4' });
  });

  it('of a Secret, a PriorityClass and a TokenRequest', () => {
    assert.deepEqual(rest('core/v1.Secret', { data: { a: '' } }), { data: { a: '' }, type: 'Opaque' });
    assert.deepEqual(rest(`${group.scheduling}/v1.PriorityClass`, { value: 1 }), {
      value: 1,
      preemptionPolicy: 'PreemptLowerPriority',
    });
    const { spec } = rest(`${group.authentication}/v1.TokenRequest`, {});
    assert.deepEqual((spec as { expirationSeconds: number }).expirationSeconds, 3600);
  });

  for (const version of ['v1beta1', 'v1beta2']) {
    it(`of flow control in ${version}`, () => {
      const type = (kind: string): string => `${group.flowcontrol}/${version}.${kind}`;
      const flow = spec(type('FlowSchema'), {}) as { matchingPrecedence: number };
      assert.equal(flow.matchingPrecedence, 1000);
      const limited = { limitResponse: { type: 'Queue', queuing: { queues: 2 } } };
      assert.deepEqual(spec(type('PriorityLevelConfiguration'), { type: 'Limited', limited }), {
        type: 'Limited',
        limited: {
          assuredConcurrencyShares: 30,
          limitResponse: { type: 'Queue', queuing: { queues: 2, handSize: 8, queueLengthLimit: 50 } },
        },
      });
    });
  }
});
