import assert from 'node:assert/strict';
import { changed, KindUnderTest } from '../testing/cases.js';
import { C, P, POD, V } from '../testing/pod.js';
import { FILE_MODE, LABEL, SUBDOMAIN } from '../testing/words.js';

const CLAIM = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

describe('volumes of pods', () => {
  const kind = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod' });

  describe('volumes', () => {
    const source = (member: string, value: object): object => ({ [V]: { name: 'v', [member]: value } });
    const S = 'spec.volumes[0]';
    kind.refuses(POD, [
      [{ [V]: { emptyDir: {} } }, `${S}.name`, 'Required value'],
      [{ [V]: { name: 'A', emptyDir: {} } }, `${S}.name`, `Invalid value: "A": ${LABEL}`],
      [{ 'spec.volumes.1': { name: 'data', emptyDir: {} } }, 'spec.volumes[1].name', 'Duplicate value: "data"'],
      [
        { [V]: { name: 'v', emptyDir: {}, hostPath: { path: '/a' } } },
        `${S}.emptyDir`,
        'Forbidden: may not specify more than 1 volume type',
      ],
      [
        { ...source('emptyDir', { sizeLimit: '-1' }) },
        `${S}.emptyDir.sizeLimit`,
        'Forbidden: SizeLimit field must be a valid resource quantity',
      ],
      [{ ...source('hostPath', {}) }, `${S}.hostPath.path`, 'Required value'],
      [
        { ...source('hostPath', { path: '/a/../b' }) },
        `${S}.hostPath.path`,
        `Invalid value: "/a/../b": must not contain '..'`,
      ],
      [
        { ...source('hostPath', { path: '/a', type: 'Pipe' }) },
        `${S}.hostPath.type`,
        'Unsupported value: "Pipe": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      ],
      [{ ...source('secret', {}) }, `${S}.secret.secretName`, 'Required value'],
      [
        { ...source('secret', { secretName: 'a', defaultMode: 512 }) },
        `${S}.secret.defaultMode`,
        `Invalid value: 512: ${FILE_MODE}`,
      ],
      [{ ...source('configMap', {}) }, `${S}.configMap.name`, 'Required value'],
      [
        { ...source('configMap', { name: 'a', items: [{ path: 'b' }] }) },
        `${S}.configMap.items[0].key`,
        'Required value',
      ],
      [
        { ...source('configMap', { name: 'a', items: [{ key: 'b', path: '/b' }] }) },
        `${S}.configMap.items[0].path`,
        'Invalid value: "/b": must be a relative path',
      ],
      [
        { ...source('configMap', { name: 'a', items: [{ key: 'b', path: '..b' }] }) },
        `${S}.configMap.items[0].path`,
        `Invalid value: "..b": must not start with '..'`,
      ],
      [
        { ...source('configMap', { name: 'a', items: [{ key: 'b', path: 'b', mode: -1 }] }) },
        `${S}.configMap.items[0].mode`,
        `Invalid value: -1: ${FILE_MODE}`,
      ],
      [{ ...source('persistentVolumeClaim', {}) }, `${S}.persistentVolumeClaim.claimName`, 'Required value'],
      [
        { ...source('nfs', { path: 'a' }) },
        `${S}.nfs.server`,
        'Required value',
        `${S}.nfs.path`,
        'Invalid value: "a": must be an absolute path',
      ],
      [
        { ...source('gitRepo', { directory: '..' }) },
        `${S}.gitRepo.repository`,
        'Required value',
        `${S}.gitRepo.directory`,
        `Invalid value: "..": must not contain '..'`,
      ],
      [
        { ...source('csi', {}) },
        `${S}.csi.driver`,
        'Required value',
        `${S}.csi.driver`,
        `Invalid value: "": ${SUBDOMAIN}`,
      ],
      [
        { ...source('csi', { driver: 'a.b', nodePublishSecretRef: {} }) },
        `${S}.csi.nodePublishSecretRef.name`,
        'Required value',
      ],
      [
        { ...source('iscsi', { iqn: 'abc', targetPortal: 'a', lun: 256 }) },
        `${S}.iscsi.iqn`,
        'Invalid value: "abc": must be valid format starting with iqn, eui, or naa',
        `${S}.iscsi.lun`,
        'Invalid value: 256: must be between 0 and 255, inclusive',
      ],
      [
        { ...source('gcePersistentDisk', { partition: 256 }) },
        `${S}.persistentDisk.pdName`,
        'Required value',
        `${S}.persistentDisk.partition`,
        'Invalid value: 256: must be between 1 and 255, inclusive',
      ],
      [{ ...source('rbd', { image: 'a' }) }, `${S}.rbd.monitors`, 'Required value'],
      [
        { ...source('flexVolume', { driver: 'a', options: { 'kubernetes.io/b': 'c' } }) },
        `${S}.flexVolume.options[kubernetes.io/b]`,
        'Invalid value: "kubernetes.io/b": k8s.io and kubernetes.io namespaces are reserved',
      ],
      [
        { ...source('fc', {}) },
        `${S}.fc.targetWWNs`,
        'Required value: must specify either targetWWNs or wwids, but not both',
      ],
      [
        { ...source('fc', { targetWWNs: ['a'], wwids: ['b'] }) },
        `${S}.fc.targetWWNs`,
        'Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously',
        `${S}.fc.lun`,
        'Required value: lun is required if targetWWNs is specified',
      ],
      [
        {
          ...source('iscsi', {
            iqn: 'iqn.1',
            targetPortal: 'a',
            lun: 0,
            chapAuthSession: true,
            initiatorName: 'eui.1',
          }),
        },
        `${S}.iscsi.iqn`,
        'Invalid value: "iqn.1": must be valid format',
        `${S}.iscsi.secretRef`,
        'Required value',
        `${S}.iscsi.initiatorname`,
        'Invalid value: "eui.1": must be valid format',
      ],
      [
        { ...source('flocker', { datasetName: 'a/b', datasetUUID: 'c' }) },
        `${S}.flocker`,
        'Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
        `${S}.flocker.datasetName`,
        `Invalid value: "a/b": must not contain '/'`,
      ],
      [{ ...source('flocker', {}) }, `${S}.flocker`, 'Required value: one of datasetName and datasetUUID is required'],
      [
        { ...source('azureDisk', { diskName: 'a', diskURI: 'http://b', kind: 'Managed', cachingMode: 'Some' }) },
        `${S}.azureDisk.cachingMode`,
        'Unsupported value: "Some": supported values: "None", "ReadOnly", "ReadWrite"',
        `${S}.azureDisk.diskURI`,
        'Unsupported value: "http://b": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
      ],
      [{ ...source('storageos', {}) }, `${S}.storageos.volumeName`, 'Required value'],
      [{ ...source('cinder', { volumeID: 'a', secretRef: {} }) }, `${S}.cinder.secretRef.name`, 'Required value'],
      [{ ...source('csi', { driver: 'x'.repeat(64) }) }, `${S}.csi.driver`, 'Too long: must have at most 63 bytes'],
      [
        { ...source('ephemeral', { volumeClaimTemplate: { metadata: { name: 'a' }, spec: CLAIM } }) },
        `${S}.ephemeral.volumeClaimTemplate.metadata.name`,
        'Forbidden: cannot be set',
      ],
      [
        {
          ...source('downwardAPI', {
            items: [
              {
                path: '',
                fieldRef: { fieldPath: 'metadata.name' },
                resourceFieldRef: { containerName: 'a', resource: 'limits.cpu' },
              },
            ],
          }),
        },
        `${S}.downwardAPI.path`,
        'Required value',
        `${S}.downwardAPI`,
        'Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously',
      ],
      [
        {
          ...source('projected', { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 2 ** 32 + 1 } }] }),
        },
        `${S}.projected.sources[0].serviceAccountToken.expirationSeconds`,
        'Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
      ],
      [{ ...source('ephemeral', {}) }, `${S}.ephemeral.volumeClaimTemplate`, 'Required value'],
      [
        { ...source('ephemeral', { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'] } } }) },
        `${S}.ephemeral.volumeClaimTemplate.spec.resources[storage]`,
        'Required value',
      ],
      [
        { ...source('downwardAPI', { items: [{ path: 'a' }] }) },
        `${S}.downwardAPI`,
        'Required value: one of fieldRef and resourceFieldRef is required',
      ],
      [
        { ...source('downwardAPI', { items: [{ path: 'a', resourceFieldRef: { resource: 'limits.cpu' } }] }) },
        `${S}.downwardAPI.resourceFieldRef.containerName`,
        'Required value',
      ],
      [
        { ...source('downwardAPI', { items: [{ path: 'a', fieldRef: { fieldPath: 'status.podIP' } }] }) },
        `${S}.downwardAPI.fieldRef.fieldPath`,
        'Unsupported value: "status.podIP": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
      ],
      [
        { ...source('projected', { sources: [{ secret: {} }] }) },
        `${S}.projected.sources[0].secret.name`,
        'Required value',
      ],
      [
        { ...source('projected', { sources: [{ secret: { name: 'a' }, configMap: { name: 'b' } }] }) },
        `${S}.projected.sources[0]`,
        'Forbidden: may not specify more than 1 volume type',
      ],
      [
        {
          ...source('projected', {
            sources: [
              { secret: { name: 'a', items: [{ key: 'k', path: 'p' }] } },
              { configMap: { name: 'b', items: [{ key: 'k', path: 'p' }] } },
            ],
          }),
        },
        `${S}.projected`,
        'Invalid value: "b": conflicting duplicate paths',
      ],
      [
        { ...source('projected', { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 599 } }] }) },
        `${S}.projected.sources[0].serviceAccountToken.expirationSeconds`,
        'Invalid value: 599: may not specify a duration less than 10 minutes',
      ],
      [
        { ...source('projected', { sources: [{ serviceAccountToken: { expirationSeconds: 600 } }] }) },
        `${S}.projected.path`,
        'Required value',
      ],
      [
        {
          ...source('projected', { sources: [{ serviceAccountToken: { path: 't' } }] }),
          'spec.serviceAccountName': undefined,
        },
        `${S}.projected.sources[0].serviceAccountToken`,
        'Forbidden: must not be specified when serviceAccountName is not set',
      ],
    ]);

    it('asks for a source', () => {
      const [first] = kind.onCreate(changed(POD, { [V]: { name: 'v' } }), false);
      assert.deepEqual(first, {
        reason: 'FieldValueRequired',
        field: S,
        message: 'Required value: must specify a volume type',
      });
    });

    it('asks a claim that is made for a pod to have a name of its own', () => {
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
      const volumes = [
        { name: 'own', ephemeral: { volumeClaimTemplate: { spec } } },
        { name: 'other', persistentVolumeClaim: { claimName: 'web-own' } },
      ];
      assert.deepEqual(
        kind.onCreate(changed(POD, { 'spec.volumes': volumes })).map(({ field }) => field),
        ['spec.volumes[1].persistentVolumeClaim.claimName'],
      );
    });
  });

  describe('mounts', () => {
    const mount = (...volumeMounts: readonly object[]): object => ({ [`${C}.volumeMounts`]: volumeMounts });
    const M = `${P}.volumeMounts[0]`;
    const data = { name: 'data', mountPath: '/data' };
    const claim = { name: 'block', persistentVolumeClaim: { claimName: 'block' } };
    kind.refuses(POD, [
      [{ ...mount({ name: 'other', mountPath: '/a' }) }, `${M}.name`, 'Not found: "other"'],
      [{ ...mount({ name: 'data' }) }, `${M}.mountPath`, 'Required value'],
      [{ ...mount(data, data) }, `${P}.volumeMounts[1].mountPath`, 'Invalid value: "/data": must be unique'],
      [
        { ...mount({ ...data, subPath: '/a' }) },
        `${P}.volumeMounts.subPath`,
        'Invalid value: "/a": must be a relative path',
      ],
      [
        { ...mount({ ...data, subPath: 'a/../..' }) },
        `${P}.volumeMounts.subPath`,
        'Invalid value: "a/../..": must not contain \'..\'',
      ],
      [
        { ...mount({ ...data, subPath: 'a', subPathExpr: 'b' }) },
        `${M}.subPathExpr`,
        'Invalid value: "b": subPathExpr and subPath are mutually exclusive',
      ],
      [
        { ...mount({ ...data, mountPropagation: 'Up' }) },
        `${P}.volumeMounts.mountPropagation`,
        'Unsupported value: "Up": supported values: "Bidirectional", "HostToContainer", "None"',
      ],
      [
        { ...mount({ ...data, mountPropagation: 'Bidirectional' }) },
        `${P}.volumeMounts.mountPropagation`,
        'Forbidden: Bidirectional mount propagation is available only to privileged containers',
      ],
      [
        { [`${C}.volumeDevices`]: [{ name: 'data', devicePath: '/dev/a' }] },
        `${P}.volumeDevices[0].name`,
        'Invalid value: "data": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
      ],
      [
        { [`${C}.volumeDevices`]: [{ name: 'block', devicePath: '/dev/a' }] },
        `${P}.volumeDevices[0].name`,
        'Not found: "block"',
      ],
      [
        { [V]: claim, [`${C}.volumeDevices`]: [{ name: 'block', devicePath: '/dev/../a' }] },
        `${P}.volumeDevices[0].devicePath`,
        `Invalid value: "/dev/../a": can not contain backsteps ('..')`,
      ],
      [
        { [V]: claim, [`${C}.volumeDevices`]: [{ name: 'block' }] },
        `${P}.volumeDevices[0].devicePath`,
        'Required value',
      ],
      [
        {
          [V]: claim,
          [`${C}.volumeDevices`]: [
            { name: 'block', devicePath: '/dev/a' },
            { name: 'block', devicePath: '/dev/a' },
          ],
        },
        `${P}.volumeDevices[1].name`,
        'Invalid value: "block": must be unique',
        `${P}.volumeDevices[1].devicePath`,
        'Invalid value: "/dev/a": must be unique',
      ],
      [
        {
          'spec.volumes.1': claim,
          [`${C}.volumeMounts`]: [{ name: 'data', mountPath: '/a' }],
          [`${C}.volumeDevices`]: [{ name: 'block', devicePath: '/a' }],
        },
        `${M}.mountPath`,
        'Invalid value: "/a": must not already exist as a path in volumeDevices',
        `${P}.volumeDevices[0].devicePath`,
        'Invalid value: "/a": must not already exist as a path in volumeMounts',
      ],
      [
        {
          [V]: claim,
          [`${C}.volumeMounts`]: [{ name: 'block', mountPath: '/a' }],
          [`${C}.volumeDevices`]: [{ name: 'block', devicePath: '/dev/a' }],
        },
        `${M}.name`,
        'Invalid value: "block": must not already exist in volumeDevices',
        `${P}.volumeDevices[0].name`,
        'Invalid value: "block": must not already exist in volumeMounts',
      ],
    ]);
    kind.accepts(POD, [
      {
        ...mount({ ...data, mountPropagation: 'Bidirectional' }),
        [`${C}.securityContext`]: { privileged: true },
      },
      { [V]: claim, [`${C}.volumeDevices`]: [{ name: 'block', devicePath: '/dev/a' }] },
    ]);
  });
});
