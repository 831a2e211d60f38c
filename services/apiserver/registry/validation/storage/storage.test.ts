import { KindUnderTest } from '../testing/cases.js';
import { AT_LEAST_0, LABEL_VALUE, QUALIFIED, SUBDOMAIN, TOO_LONG } from '../testing/words.js';

const group = 'storage.k8s.io';
const apiVersion = `${group}/v1`;
const metadata = { name: 'x' };
const of = (resource: string, kind: string, version = 'v1'): KindUnderTest =>
  new KindUnderTest({ group, resource, type: `${group}/${version}.${kind}` });

describe('validation of storage classes', () => {
  const kind = of('storageclasses', 'StorageClass');
  const storageClass = {
    apiVersion,
    kind: 'StorageClass',
    metadata,
    provisioner: 'ebs.csi.aws.com',
    parameters: { type: 'gp3' },
    reclaimPolicy: 'Retain',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'topology.kubernetes.io/zone', values: ['a', 'b'] }] }],
  };
  const T = 'allowedTopologies.0.matchLabelExpressions';
  const A = 'allowedTopologies[0].matchLabelExpressions';
  kind.acceptsManifest('a class', storageClass);
  kind.accepts(storageClass, [{ provisioner: 'kubernetes.io/No-Provisioner', parameters: undefined }]);
  kind.refuses(storageClass, [
    [{ provisioner: '' }, 'provisioner', 'Required value'],
    [{ provisioner: 'A B' }, 'provisioner', `Invalid value: "a b": ${QUALIFIED}`],
    [{ parameters: { '': 'a' } }, 'parameters', 'Invalid value: "": field can not be empty.'],
    [{ parameters: { a: 'b'.repeat(256 * 1024) } }, 'parameters', TOO_LONG(256 * 1024)],
    [
      { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`a${i}`, ''])) },
      'parameters',
      TOO_LONG(512),
    ],
    [
      { reclaimPolicy: 'Recycle' },
      'reclaimPolicy',
      'Unsupported value: "Recycle": supported values: "Delete", "Retain"',
    ],
    [
      { volumeBindingMode: 'Late' },
      'volumeBindingMode',
      'Unsupported value: "Late": supported values: "Immediate", "WaitForFirstConsumer"',
    ],
    [{ [`${T}.0.values`]: [] }, `${A}[0].values`, 'Required value'],
    [{ [`${T}.0.values`]: ['a', 'a'] }, `${A}[0].values[1]`, 'Duplicate value: "a"'],
    [{ [`${T}.0.key`]: 'a b' }, `${A}[0].key`, `Invalid value: "a b": ${QUALIFIED}`],
    [
      {
        [T]: [
          { key: 'a', values: ['b'] },
          { key: 'a', values: ['c'] },
        ],
      },
      `${A}[1].key`,
      'Duplicate value: "a"',
    ],
    [
      { 'allowedTopologies.1.matchLabelExpressions': [{ key: 'topology.kubernetes.io/zone', values: ['b', 'a'] }] },
      'allowedTopologies[1].matchLabelExpressions',
      'Duplicate value: ""',
    ],
  ]);
  kind.refusesUpdates(storageClass, [
    [{ 'parameters.type': 'io2' }, 'parameters', 'Forbidden: updates to parameters are forbidden.'],
    [{ provisioner: 'other' }, 'provisioner', 'Forbidden: updates to provisioner are forbidden.'],
    [{ reclaimPolicy: 'Delete' }, 'reclaimPolicy', 'Forbidden: updates to reclaimPolicy are forbidden.'],
    [{ volumeBindingMode: 'Immediate' }, 'volumeBindingMode', 'Invalid value: "Immediate": field is immutable'],
  ]);
  kind.acceptsUpdates(storageClass, [{ allowVolumeExpansion: false, mountOptions: ['debug'] }]);
});

describe('validation of storage drivers', () => {
  const kind = of('csidrivers', 'CSIDriver');
  const driver = {
    apiVersion,
    kind: 'CSIDriver',
    metadata: { name: 'ebs.csi.aws.com' },
    spec: { attachRequired: true, podInfoOnMount: false, tokenRequests: [{ audience: 'a', expirationSeconds: 600 }] },
  };
  kind.acceptsManifest('a driver', driver);
  kind.accepts(driver, [
    { 'spec.fsGroupPolicy': 'None', 'spec.volumeLifecycleModes': ['Persistent', 'Ephemeral'] },
    { 'spec.tokenRequests': [{}, { audience: 'a', expirationSeconds: 2 ** 32 }] },
  ]);
  const seconds = 'spec.tokenRequests[0].expirationSeconds';
  kind.refuses(driver, [
    [
      { 'spec.fsGroupPolicy': 'x' },
      'spec.fsGroupPolicy',
      'Unsupported value: "x": supported values: "File", "None", "ReadWriteOnceWithFSType"',
    ],
    [
      { 'spec.volumeLifecycleModes': ['x'] },
      'spec.volumeLifecycleModes',
      'Unsupported value: "x": supported values: "Persistent", "Ephemeral"',
    ],
    [{ 'spec.tokenRequests.1': { audience: 'a' } }, 'spec.tokenRequests[1].audience', 'Duplicate value: "a"'],
    [
      { 'spec.tokenRequests.0.expirationSeconds': 599 },
      seconds,
      'Invalid value: 599: may not specify a duration less than 10 minutes',
    ],
    [
      { 'spec.tokenRequests.0.expirationSeconds': 2 ** 32 + 1 },
      seconds,
      'Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
    ],
  ]);
  kind.refusesUpdates(driver, [
    [{ 'spec.attachRequired': false }, 'spec.attachedRequired', 'Invalid value: false: field is immutable'],
    [{ 'spec.podInfoOnMount': true }, 'spec.podInfoOnMount', 'Invalid value: true: field is immutable'],
    [{ 'spec.fsGroupPolicy': 'File' }, 'spec.fsGroupPolicy', 'Invalid value: "File": field is immutable'],
    [
      { 'spec.volumeLifecycleModes': ['Ephemeral'] },
      'spec.volumeLifecycleModes',
      'Invalid value: ["Ephemeral"]: field is immutable',
    ],
  ]);
  kind.acceptsUpdates(driver, [{ 'spec.storageCapacity': true, 'spec.tokenRequests': [] }]);
});

describe('validation of the storage drivers of nodes', () => {
  const kind = of('csinodes', 'CSINode');
  const node = {
    apiVersion,
    kind: 'CSINode',
    metadata,
    spec: {
      drivers: [
        { name: 'a.b', nodeID: 'i-1', topologyKeys: ['topology.a.b/zone'], allocatable: { count: 25 } },
        { name: 'c.d', nodeID: 'i-1', topologyKeys: null },
      ],
    },
  };
  kind.acceptsManifest('a node', node);
  kind.accepts(node, [{ 'spec.drivers': [] }]);
  const D = 'spec.drivers.0';
  const A = 'spec.drivers[0]';
  kind.refuses(node, [
    [{ [`${D}.name`]: '' }, `${A}.name`, 'Required value', `${A}.name`, `Invalid value: "": ${SUBDOMAIN}`],
    [{ [`${D}.name`]: 'c.d' }, 'spec.drivers[1].name', 'Duplicate value: "c.d"'],
    [{ [`${D}.nodeID`]: '' }, `${A}.nodeID`, 'Required value'],
    [
      { [`${D}.nodeID`]: 'a'.repeat(193) },
      `${A}.nodeID`,
      `Invalid value: "${'a'.repeat(193)}": must be 192 characters or less`,
    ],
    [{ [`${D}.allocatable.count`]: -1 }, `${A}.allocatable.count`, `Invalid value: -1: ${AT_LEAST_0}`],
    [{ [`${D}.topologyKeys`]: ['a', 'a'] }, A, 'Duplicate value: "a"'],
    [{ [`${D}.topologyKeys`]: ['a b'] }, A, `Invalid value: "a b": ${QUALIFIED}`],
  ]);
  kind.refusesUpdates(node, [
    [
      { 'spec.drivers.1.nodeID': 'i-2' },
      'CSINodeDriver',
      'Invalid value: {"name":"c.d","nodeID":"i-2","topologyKeys":null}: field is immutable',
    ],
  ]);
  kind.acceptsUpdates(node, [{ 'spec.drivers.0': { name: 'e.f', nodeID: 'i-1' } }]);
});

describe('validation of storage capacities', () => {
  const kind = of('csistoragecapacities', 'CSIStorageCapacity', 'v1beta1');
  const capacity = {
    apiVersion: `${group}/v1beta1`,
    kind: 'CSIStorageCapacity',
    metadata: { ...metadata, namespace: 'default' },
    storageClassName: 'fast',
    nodeTopology: { matchLabels: { zone: 'a' } },
    capacity: '100Gi',
  };
  kind.acceptsManifest('a capacity', capacity);
  kind.refuses(capacity, [
    [{ storageClassName: '' }, 'storageClassName', `Invalid value: "": ${SUBDOMAIN}`],
    [{ 'nodeTopology.matchLabels': { a: 'b c' } }, 'nodeTopology.matchLabels', `Invalid value: "b c": ${LABEL_VALUE}`],
    [{ capacity: '-1Gi' }, 'capacity', `Invalid value: "-1Gi": ${AT_LEAST_0}`],
  ]);
});

describe('validation of volume attachments', () => {
  const kind = of('volumeattachments', 'VolumeAttachment');
  const attachment = {
    apiVersion,
    kind: 'VolumeAttachment',
    metadata,
    spec: { attacher: 'ebs.csi.aws.com', nodeName: 'node-1', source: { persistentVolumeName: 'pv-1' } },
  };
  const inlineVolumeSpec = { accessModes: ['ReadWriteOnce'], csi: { driver: 'a.b', volumeHandle: 'h' } };
  const ONE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  const I = 'spec.source.inlineVolumeSpec';
  kind.acceptsManifest('an attachment', attachment);
  kind.accepts(attachment, [{ 'spec.source': { inlineVolumeSpec } }]);
  kind.refuses(attachment, [
    [{ 'spec.attacher': '' }, 'spec.attacher', 'Required value', 'spec.attacher', `Invalid value: "": ${SUBDOMAIN}`],
    [{ 'spec.attacher': 'a'.repeat(64) }, 'spec.attacher', TOO_LONG(63)],
    [{ 'spec.nodeName': '' }, 'spec.nodeName', `Invalid value: "": ${SUBDOMAIN}`],
    [{ 'spec.source': {} }, 'spec.source', `Required value: ${ONE}`],
    [{ [I]: inlineVolumeSpec }, 'spec.source', `Forbidden: ${ONE}`],
    [
      { 'spec.source.persistentVolumeName': '' },
      'spec.source.persistentVolumeName',
      'Required value: must specify non empty persistentVolumeName',
    ],
    [
      { 'spec.source.persistentVolumeName': 'A' },
      'spec.source.persistentVolumeName',
      `Invalid value: "A": ${SUBDOMAIN}`,
    ],
    [
      {
        'spec.source': {
          inlineVolumeSpec: { nfs: { server: 'a', path: '/' }, capacity: { storage: '1' }, claimRef: {} },
        },
      },
      `${I}.claimRef`,
      'Forbidden: may not be specified in the context of inline volumes',
      `${I}.capacity`,
      'Forbidden: may not be specified in the context of inline volumes',
      `${I}.csi`,
      'Required value: has to be specified in the context of inline volumes',
      `${I}.accessModes`,
      'Required value',
    ],
  ]);
  kind.refusesPart('status', attachment, [
    [{ 'status.attachmentMetadata': { a: 'b'.repeat(256 * 1024) } }, 'status.attachmentMetadata', TOO_LONG(256 * 1024)],
    [{ 'status.attachError': { message: 'a'.repeat(1025) } }, 'status.attachError.message', TOO_LONG(256 * 1024)],
    [{ 'status.detachError': { message: 'a'.repeat(1025) } }, 'status.detachError.message', TOO_LONG(256 * 1024)],
  ]);
});
