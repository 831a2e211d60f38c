import { changed, KindUnderTest } from '../testing/cases.js';
import { LABEL, LABEL_VALUE, SUBDOMAIN } from '../testing/words.js';

const AFFINITY = {
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] },
};

describe('validation of persistent volumes', () => {
  const kind = new KindUnderTest({ resource: 'persistentvolumes', type: 'core/v1.PersistentVolume' });
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'x' },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
  };
  const MODES = '"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"';
  kind.refuses(volume, [
    [{ 'spec.accessModes': [] }, 'spec.accessModes', 'Required value'],
    [{ 'spec.accessModes': ['RWO'] }, 'spec.accessModes', `Unsupported value: "RWO": supported values: ${MODES}`],
    [
      { 'spec.accessModes': ['ReadWriteOncePod', 'ReadWriteOnce'] },
      'spec.accessModes',
      'Forbidden: may not use ReadWriteOncePod with other access modes',
    ],
    [
      { 'spec.capacity': undefined },
      'spec.capacity',
      'Required value',
      'spec.capacity',
      'Unsupported value: {}: supported values: "storage"',
    ],
    [
      { 'spec.capacity': { storage: '-1' } },
      'spec.capacity[storage]',
      'Invalid value: "-1": must be a valid resource quantity',
      'spec.capacity[storage]',
      'Invalid value: "-1": must be greater than zero',
    ],
    [{ 'spec.hostPath': undefined }, 'spec', 'Required value: must specify a volume type'],
    [{ 'spec.nfs': { server: 'a', path: '/a' } }, 'spec.nfs', 'Forbidden: may not specify more than 1 volume type'],
    [{ 'spec.hostPath.path': '' }, 'spec.hostPath.path', 'Required value'],
    [
      { 'spec.persistentVolumeReclaimPolicy': 'Keep' },
      'spec.persistentVolumeReclaimPolicy',
      'Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"',
    ],
    [
      { 'spec.hostPath.path': '/', 'spec.persistentVolumeReclaimPolicy': 'Recycle' },
      'spec.persistentVolumeReclaimPolicy',
      "Forbidden: may not be 'recycle' for a hostPath mount of '/'",
    ],
    [{ 'spec.storageClassName': 'A' }, 'spec.storageClassName', `Invalid value: "A": ${SUBDOMAIN}`],
    [
      { 'spec.volumeMode': 'Raw' },
      'spec.volumeMode',
      'Unsupported value: "Raw": supported values: "Block", "Filesystem"',
    ],
    [
      { 'spec.nodeAffinity': {} },
      'spec.nodeAffinity.required',
      'Required value: must specify required node constraints',
    ],
    [
      { 'spec.hostPath': undefined, 'spec.local': { path: '/a' } },
      'spec.nodeAffinity',
      'Required value: Local volume requires node affinity',
    ],
    [
      {
        'spec.hostPath': undefined,
        'spec.csi': { driver: 'a.b', nodeStageSecretRef: {}, nodePublishSecretRef: { name: 'a' } },
      },
      'spec.csi.volumeHandle',
      'Required value',
      'spec.csi.nodePublishSecretRef.namespace',
      'Required value',
    ],
  ]);
  const source = (member: string, value: object): object => ({ 'spec.hostPath': undefined, [`spec.${member}`]: value });
  kind.refuses(volume, [
    [{ ...source('local', {}), 'spec.nodeAffinity': AFFINITY }, 'spec.local.path', 'Required value'],
    [
      { ...source('cinder', { volumeID: 'a', secretRef: { name: 'a' } }) },
      'spec.cinder.secretRef.namespace',
      'Required value',
    ],
    [
      { ...source('iscsi', { targetPortal: 'a', iqn: 'iqn.2001-04.com.example:a', lun: 0, secretRef: {} }) },
      'spec.iscsi.secretRef.name',
      'Required value',
    ],
    [
      { ...source('storageos', { volumeName: 'a', volumeNamespace: 'A' }) },
      'spec.storageos.volumeNamespace',
      `Invalid value: "A": ${LABEL}`,
    ],
  ]);
  kind.refusesUpdates(changed(volume, { 'spec.nodeAffinity': AFFINITY }), [
    [{ 'spec.nodeAffinity': undefined }, 'nodeAffinity', 'Invalid value: "null": field is immutable'],
  ]);
  kind.refusesUpdates(volume, [
    [
      { 'spec.hostPath.path': '/other' },
      'spec.persistentvolumesource',
      'Forbidden: spec.persistentvolumesource is immutable after creation',
    ],
    [{ 'spec.volumeMode': 'Block' }, 'volumeMode', 'Invalid value: "Block": field is immutable'],
  ]);
  kind.acceptsUpdates(volume, [
    { 'spec.capacity.storage': '2Gi' },
    { 'spec.claimRef': { namespace: 'a', name: 'b' } },
    { 'spec.persistentVolumeReclaimPolicy': 'Delete' },
  ]);
});

describe('validation of persistent volume claims', () => {
  const kind = new KindUnderTest({ resource: 'persistentvolumeclaims', type: 'core/v1.PersistentVolumeClaim' });
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'x', namespace: 'default' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'fast' },
  };
  kind.refuses(claim, [
    [{ 'spec.accessModes': [] }, 'spec.accessModes', 'Required value: at least 1 access mode is required'],
    [{ 'spec.resources': {} }, 'spec.resources[storage]', 'Required value'],
    [
      { 'spec.resources.requests.storage': '0' },
      'spec.resources[storage]',
      'Invalid value: "0": must be greater than zero',
    ],
    [{ 'spec.storageClassName': 'A' }, 'spec.storageClassName', `Invalid value: "A": ${SUBDOMAIN}`],
    [
      { 'spec.selector': { matchLabels: { a: 'b c' } } },
      'spec.selector.matchLabels',
      `Invalid value: "b c": ${LABEL_VALUE}`,
    ],
    [
      { 'spec.selector': { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      'spec.selector.matchExpressions[0].values',
      "Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
    [
      { 'spec.selector': { matchExpressions: [{ key: 'a', operator: 'Like' }] } },
      'spec.selector.matchExpressions[0].operator',
      'Invalid value: "Like": not a valid selector operator',
    ],
    [
      { 'spec.dataSource': { kind: 'Pod', name: 'a' } },
      'spec.dataSource',
      `Invalid value: "Pod": must be 'PersistentVolumeClaim' when referencing the default apiGroup`,
    ],
    [{ 'spec.dataSource': { kind: 'PersistentVolumeClaim' } }, 'spec.dataSource.name', 'Required value'],
  ]);
  const IMMUTABLE = 'Forbidden: spec is immutable after creation except resources.requests for bound claims';
  kind.refusesUpdates(claim, [
    [{ 'spec.accessModes': ['ReadOnlyMany'] }, 'spec', IMMUTABLE],
    [{ 'spec.storageClassName': 'slow' }, 'spec', IMMUTABLE],
    [{ 'spec.resources.requests.storage': '2Gi' }, 'spec', IMMUTABLE],
    [{ 'spec.volumeMode': 'Block' }, 'spec', IMMUTABLE, 'volumeMode', 'Invalid value: "Block": field is immutable'],
  ]);
  kind.acceptsUpdates(claim, [{ 'spec.volumeName': 'v' }, { 'metadata.labels': { a: 'b' } }]);
  kind.refuses(claim, [
    [
      {
        'spec.dataSource': { kind: 'PersistentVolumeClaim', name: 'a' },
        'spec.dataSourceRef': { kind: 'PersistentVolumeClaim', name: 'b' },
      },
      'spec',
      'Invalid value: "spec.dataSource": must match dataSourceRef',
    ],
    [
      { 'spec.selector': { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } },
      'spec.selector.matchExpressions[0].values',
      "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
  ]);
  kind.refusesPart('status', claim, [
    [
      { 'status.capacity': { storage: '-1' } },
      'status.capacity[storage]',
      'Invalid value: "-1": must be a valid resource quantity',
    ],
  ]);
  const bound = changed(claim, { 'spec.volumeName': 'v', 'status.phase': 'Bound' });
  kind.acceptsUpdates(bound, [{ 'spec.resources.requests.storage': '2Gi' }]);
  kind.refusesUpdates(bound, [
    [{ 'spec.volumeName': 'w' }, 'spec', IMMUTABLE],
    [
      { 'spec.resources.requests.storage': '512Mi' },
      'spec.resources.requests.storage',
      'Forbidden: field can not be less than previous value',
    ],
  ]);
  const annotated = changed(claim, {
    'metadata.annotations': { 'volume.beta.kubernetes.io/storage-class': 'fast' },
    'spec.storageClassName': undefined,
  });
  kind.acceptsUpdates(annotated, [{ 'spec.storageClassName': 'fast' }]);
  kind.refusesUpdates(annotated, [
    [
      { 'metadata.annotations': {} },
      'metadata.annotations.volume.beta.kubernetes.io/storage-class',
      'Invalid value: "": field is immutable',
    ],
  ]);
});
