import { changed, KindUnderTest } from '../testing/cases.js';
import { AT_LEAST_0, LABEL_VALUE } from '../testing/words.js';

const metadata = { name: 'web', namespace: 'default' };
const selector = { matchLabels: { app: 'web' } };
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
const T = 'spec.template';
const UNMATCHED = (labels: string): string =>
  `Invalid value: map[string]string{${labels}}: \`selector\` does not match template \`labels\``;
const WEB = '"app":"web"';
const disk = (readOnly: boolean): object => [{ name: 'd', gcePersistentDisk: { pdName: 'd', readOnly } }];
const ONE_MACHINE =
  'Invalid value: false: must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only';

describe('validation of replica sets', () => {
  const kind = new KindUnderTest({ group: 'apps', resource: 'replicasets', type: 'apps/v1.ReplicaSet' });
  const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec: { replicas: 2, selector, template } };
  kind.acceptsManifest('a replica set', set);
  kind.accepts(set, [
    { [`${T}.spec.volumes`]: disk(true) },
    { 'spec.replicas': 1, [`${T}.spec.volumes`]: disk(false) },
  ]);
  kind.refuses(set, [
    [{ 'spec.replicas': -1 }, 'spec.replicas', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'spec.minReadySeconds': -1 }, 'spec.minReadySeconds', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'spec.selector': undefined }, 'spec.selector', 'Required value', `${T}.metadata.labels`, UNMATCHED(WEB)],
    [{ 'spec.selector': {} }, 'spec.selector', 'Invalid value: {}: empty selector is invalid for deployment'],
    [
      { 'spec.selector': { matchLabels: { a: 'b c' } } },
      'spec.selector.matchLabels',
      `Invalid value: "b c": ${LABEL_VALUE}`,
      'spec.selector',
      'Invalid value: {"matchLabels":{"a":"b c"}}: invalid label selector',
    ],
    [{ [`${T}.metadata.labels`]: { a: 'b' } }, `${T}.metadata.labels`, UNMATCHED('"a":"b"')],
    [{ [`${T}.spec.containers.0.image`]: undefined }, `${T}.spec.containers[0].image`, 'Required value'],
    [{ [`${T}.spec.volumes`]: disk(false) }, `${T}.spec.volumes[0].gcePersistentDisk.readOnly`, ONE_MACHINE],
    [
      { [`${T}.spec.restartPolicy`]: 'OnFailure' },
      `${T}.spec.restartPolicy`,
      'Unsupported value: "OnFailure": supported values: "Always"',
    ],
    [
      { [`${T}.spec.activeDeadlineSeconds`]: 1 },
      `${T}.spec.activeDeadlineSeconds`,
      'Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
    ],
  ]);
  kind.refusesPart('status', set, [
    [
      { 'status.replicas': 1, 'status.fullyLabeledReplicas': 2 },
      'status.fullyLabeledReplicas',
      'Invalid value: 2: cannot be greater than status.replicas',
    ],
  ]);
});

describe('validation of daemon sets', () => {
  const kind = new KindUnderTest({ group: 'apps', resource: 'daemonsets', type: 'apps/v1.DaemonSet' });
  const set = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec: { selector, template } };
  const rolling = 'spec.updateStrategy.rollingUpdate';
  kind.acceptsManifest('a daemon set', set);
  kind.accepts(set, [
    { 'spec.updateStrategy': { type: 'OnDelete' } },
    { [rolling]: { maxUnavailable: 0, maxSurge: '10%' } },
    { [rolling]: { maxUnavailable: '100%' } },
  ]);
  kind.refuses(set, [
    [{ 'spec.selector': undefined }, `${T}.metadata.labels`, UNMATCHED(WEB)],
    [{ 'spec.selector': {} }, 'spec.selector', 'Invalid value: {}: empty selector is invalid for daemonset'],
    [{ [`${T}.metadata.labels`]: {} }, `${T}.metadata.labels`, UNMATCHED('')],
    [{ [`${T}.spec.containers`]: [] }, `${T}.spec.containers`, 'Required value'],
    [{ [`${T}.spec.volumes`]: disk(false) }, `${T}.spec.volumes[0].gcePersistentDisk.readOnly`, ONE_MACHINE],
    [
      { [`${T}.spec.restartPolicy`]: 'Never' },
      `${T}.spec.restartPolicy`,
      'Unsupported value: "Never": supported values: "Always"',
    ],
    [
      { [`${T}.spec.activeDeadlineSeconds`]: 1 },
      `${T}.spec.activeDeadlineSeconds`,
      'Forbidden: activeDeadlineSeconds in DaemonSet is not Supported',
    ],
    [{ 'spec.minReadySeconds': -1 }, 'spec.minReadySeconds', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'spec.revisionHistoryLimit': -1 }, 'spec.revisionHistoryLimit', `Invalid value: -1: ${AT_LEAST_0}`],
    [
      { 'spec.updateStrategy': { type: 'Blue' } },
      'spec.updateStrategy',
      'Unsupported value: {"type":"Blue"}: supported values: "RollingUpdate", "OnDelete"',
    ],
    [
      { [rolling]: { maxUnavailable: '101%' } },
      `${rolling}.maxUnavailable`,
      'Invalid value: "101%": must not be greater than 100%',
    ],
    [
      { [rolling]: { maxUnavailable: 0, maxSurge: '101%' } },
      `${rolling}.maxSurge`,
      'Invalid value: "101%": must not be greater than 100%',
    ],
    [{ [rolling]: { maxUnavailable: -1 } }, `${rolling}.maxUnavailable`, `Invalid value: -1: ${AT_LEAST_0}`],
    [
      { [rolling]: { maxUnavailable: 1, maxSurge: 1 } },
      `${rolling}.maxSurge`,
      'Invalid value: 1: may not be set when maxUnavailable is non-zero',
    ],
    [
      { [rolling]: { maxUnavailable: 0, maxSurge: 0 } },
      `${rolling}.maxUnavailable`,
      'Required value: cannot be 0 when maxSurge is 0',
    ],
  ]);
  kind.refusesPart('status', changed(set, { 'status.collisionCount': 2 }), [
    [{ 'status.numberReady': -1 }, 'status.numberReady', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'status.collisionCount': undefined }, 'status.collisionCount', 'Invalid value: 0: cannot be decremented'],
  ]);
});

describe('validation of stateful sets', () => {
  const kind = new KindUnderTest({ group: 'apps', resource: 'statefulsets', type: 'apps/v1.StatefulSet' });
  const volumeClaimTemplates = [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  ];
  const spec = { serviceName: 'db', replicas: 3, selector, template, volumeClaimTemplates };
  const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec };
  kind.acceptsManifest('a stateful set', set);
  kind.accepts(set, [
    { 'spec.serviceName': '' },
    { 'spec.podManagementPolicy': 'Parallel' },
    { 'spec.updateStrategy': { type: 'OnDelete' } },
    { 'spec.persistentVolumeClaimRetentionPolicy': { whenDeleted: 'Delete', whenScaled: 'Retain' } },
    // What is mounted is there when the pod is.
    { [`${T}.spec.containers.0.volumeMounts`]: [{ name: 'data', mountPath: '/data' }] },
  ]);
  kind.refuses(set, [
    [
      { 'spec.podManagementPolicy': 'Any' },
      'spec.podManagementPolicy',
      `Invalid value: "Any": must be 'OrderedReady' or 'Parallel'`,
    ],
    [
      { 'spec.updateStrategy': { type: 'Recreate' } },
      'spec.updateStrategy',
      `Invalid value: {"type":"Recreate"}: must be 'RollingUpdate' or 'OnDelete'`,
    ],
    [
      { 'spec.updateStrategy': { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
      'spec.updateStrategy.rollingUpdate',
      `Invalid value: {"partition":1}: only allowed for updateStrategy 'RollingUpdate'`,
    ],
    [
      { 'spec.updateStrategy': { rollingUpdate: { partition: -1, maxUnavailable: 0 } } },
      'spec.updateStrategy.rollingUpdate.partition',
      `Invalid value: -1: ${AT_LEAST_0}`,
      'spec.updateStrategy.rollingUpdate.maxUnavailable',
      'Invalid value: 0: cannot be 0',
    ],
    [
      { 'spec.persistentVolumeClaimRetentionPolicy': { whenDeleted: 'Keep', whenScaled: 'Keep' } },
      'spec.persistentVolumeClaimRetentionPolicy.whenDeleted',
      'Unsupported value: "Keep": supported values: "Retain", "Delete"',
      'spec.persistentVolumeClaimRetentionPolicy.whenScaled',
      'Unsupported value: "Keep": supported values: "Retain", "Delete"',
    ],
    [{ 'spec.replicas': -1 }, 'spec.replicas', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'spec.minReadySeconds': -1 }, 'spec.minReadySeconds', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'spec.selector': undefined }, 'spec.selector', 'Required value', `${T}.metadata.labels`, UNMATCHED(WEB)],
    [{ 'spec.selector': {} }, 'spec.selector', 'Invalid value: {}: empty selector is invalid for statefulset'],
    [{ [`${T}.metadata.labels`]: {} }, `${T}.metadata.labels`, UNMATCHED('')],
    [{ [`${T}.metadata.labels.b`]: 'c d' }, `${T}.labels`, `Invalid value: "c d": ${LABEL_VALUE}`],
    [
      { [`${T}.spec.restartPolicy`]: 'Never' },
      `${T}.spec.restartPolicy`,
      'Unsupported value: "Never": supported values: "Always"',
    ],
    [
      { [`${T}.spec.activeDeadlineSeconds`]: 1 },
      `${T}.spec.activeDeadlineSeconds`,
      'Forbidden: activeDeadlineSeconds in StatefulSet is not Supported',
    ],
  ]);
  const FIXED =
    "Forbidden: updates to statefulset spec for fields other than 'replicas', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  kind.refusesUpdates(set, [
    [{ 'spec.serviceName': 'other' }, 'spec', FIXED],
    [{ 'spec.volumeClaimTemplates': [] }, 'spec', FIXED],
    [{ 'spec.selector.matchLabels.b': 'c', [`${T}.metadata.labels.b`]: 'c' }, 'spec', FIXED],
    [{ 'spec.podManagementPolicy': 'Parallel' }, 'spec', FIXED],
  ]);
  kind.acceptsUpdates(set, [
    {
      'spec.replicas': 1,
      'spec.minReadySeconds': 1,
      'spec.updateStrategy': { type: 'OnDelete' },
      [`${T}.spec.containers.0.image`]: 'nginx:2',
      'spec.persistentVolumeClaimRetentionPolicy': { whenDeleted: 'Delete', whenScaled: 'Delete' },
    },
  ]);
  kind.refusesPart('status', changed(set, { 'status.collisionCount': 2, 'status.replicas': 2 }), [
    [
      { 'status.currentReplicas': 3 },
      'status.currentReplicas',
      'Invalid value: 3: cannot be greater than status.replicas',
    ],
    [
      { 'status.readyReplicas': 1, 'status.availableReplicas': 2 },
      'status.availableReplicas',
      'Invalid value: 2: cannot be greater than status.readyReplicas',
    ],
    [{ 'status.updatedReplicas': -1 }, 'status.updatedReplicas', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'status.collisionCount': 1 }, 'status.collisionCount', 'Invalid value: 1: cannot be decremented'],
  ]);
});

describe('validation of controller revisions', () => {
  const kind = new KindUnderTest({
    group: 'apps',
    resource: 'controllerrevisions',
    type: 'apps/v1.ControllerRevision',
  });
  const revision = { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, data: { spec: {} }, revision: 1 };
  kind.acceptsManifest('a revision', revision);
  kind.refuses(revision, [
    [{ data: undefined }, 'data', 'Required value: data is mandatory'],
    [{ revision: -1 }, 'revision', `Invalid value: -1: ${AT_LEAST_0}`],
  ]);
});
