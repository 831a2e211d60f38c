import { KindUnderTest } from '../testing/cases.js';
import { POD, V } from '../testing/pod.js';
import { AT_LEAST_0 } from '../testing/words.js';

/* Checks of single fields that are alike, which the tests of kinds take one of each. */

const COUNTS: readonly (readonly [resource: string, kind: string, ...counts: readonly string[]])[] = [
  [
    'daemonsets',
    'DaemonSet',
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
  ],
  [
    'deployments',
    'Deployment',
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
  ],
  ['replicasets', 'ReplicaSet', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'],
  ['statefulsets', 'StatefulSet', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
];

for (const [resource, kind, ...counts] of COUNTS) {
  describe(`counts in the status of ${resource}`, () => {
    const tested = new KindUnderTest({ group: 'apps', resource, type: `apps/v1.${kind}` });
    const old = { apiVersion: 'apps/v1', kind, metadata: { name: 'x', namespace: 'default' } };
    // Enough of all, so that one that is below zero is not more than the others as well.
    const status = { replicas: 9, readyReplicas: kind === 'DaemonSet' ? undefined : 9 };
    tested.refusesPart(
      'status',
      kind === 'DaemonSet' ? old : { ...old, status },
      counts
        .filter((count) => count !== 'replicas' && count !== 'readyReplicas')
        .map((count) => [{ [`status.${count}`]: -1 }, `status.${count}`, `Invalid value: -1: ${AT_LEAST_0}`]),
    );
  });
}

describe('counts that rules between fields look at as well', () => {
  const BELOW_0 = `Invalid value: -1: ${AT_LEAST_0}`;
  const ready = ['status.readyReplicas', BELOW_0, 'status.availableReplicas', 'Invalid value: 0: cannot be greater than readyReplicas']; // prettier-ignore
  const collisions = ['status.collisionCount', BELOW_0, 'status.collisionCount', 'Invalid value: -1: cannot be decremented']; // prettier-ignore
  for (const [resource, kind, problems] of [
    ['deployments', 'Deployment', ready],
    ['replicasets', 'ReplicaSet', ready],
    ['daemonsets', 'DaemonSet', collisions],
    ['deployments', 'Deployment', collisions],
    ['statefulsets', 'StatefulSet', collisions],
  ] as const) {
    const tested = new KindUnderTest({ group: 'apps', resource, type: `apps/v1.${kind}` });
    const object = { apiVersion: 'apps/v1', kind, metadata: { name: 'x', namespace: 'default' } };
    tested.refusesPart('status', object, [[{ [problems[0] ?? '']: -1 }, ...problems]]);
  }
});

/** Members that a source must have, in their order. */
const NEEDED = {
  awsElasticBlockStore: ['volumeID'],
  azureFile: ['secretName', 'shareName'],
  cephfs: ['monitors'],
  cinder: ['volumeID'],
  flexVolume: ['driver'],
  glusterfs: ['endpoints', 'path'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  quobyte: ['registry', 'volume'],
  rbd: ['monitors', 'image'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  storageos: ['volumeName'],
  vsphereVolume: ['volumePath'],
} as const;

describe('what sources of volumes must have', () => {
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'x' },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
  };
  const pods = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod' });
  const volumes = new KindUnderTest({ resource: 'persistentvolumes', type: 'core/v1.PersistentVolume' });
  for (const [source, members] of Object.entries(NEEDED)) {
    const missing = (at: string): string[] =>
      members.flatMap((member) => [`${at}.${source}.${member}`, 'Required value']);
    const { hostPath: _other, ...spec } = volume.spec;
    volumes.refuses(volume, [[{ spec: { ...spec, [source]: {} } }, ...missing('spec')]]);
    pods.refuses(POD, [[{ [V]: { name: 'data', [source]: {} } }, ...missing('spec.volumes[0]')]]);
  }

  const csi = { driver: 'csi.example.com', volumeHandle: 'x' };
  const { hostPath: _other, ...spec } = volume.spec;
  for (const ref of [
    'controllerPublishSecretRef',
    'nodePublishSecretRef',
    'controllerExpandSecretRef',
    'nodeExpandSecretRef',
  ]) {
    volumes.refuses({ ...volume, spec: { ...spec, csi } }, [
      [
        { [`spec.csi.${ref}`]: {} },
        `spec.csi.${ref}.name`,
        'Required value',
        `spec.csi.${ref}.namespace`,
        'Required value',
      ],
    ]);
  }
});
