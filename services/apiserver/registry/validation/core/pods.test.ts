import assert from 'node:assert/strict';
import { changed, KindUnderTest } from '../testing/cases.js';
import {
  AT_LEAST_0,
  DATA_KEY as KEY,
  ENV_NAME as ENV,
  FILE_MODE as MODE,
  LABEL,
  LABEL_VALUE,
  PORT,
  QUALIFIED,
  SUBDOMAIN,
} from '../testing/words.js';

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    serviceAccountName: 'web',
    containers: [{ name: 'main', image: 'nginx' }],
    volumes: [{ name: 'data', emptyDir: {} }],
  },
};
const C = 'spec.containers.0';
const P = 'spec.containers[0]';
const V = 'spec.volumes.0';

for (const words of ['kubernetes', 'platform'] as const) {
  describe(`validation of pods in the ${words} vocabulary`, () => {
    const kind = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod', words });
    kind.acceptsManifest('a small pod', pod);
    const own = words === 'platform' ? 'platform.io' : 'kubernetes.io';
    kind.refuses(pod, [
      [
        { [`${C}.resources`]: { limits: { 'fancy.io/gpu': '500m' } } },
        `${P}.resources.limits[fancy.io/gpu]`,
        'Invalid value: "500m": must be an integer',
        `${P}.resources.requests[fancy.io/gpu]`,
        'Invalid value: "500m": must be an integer',
      ],
      [
        { [`${C}.resources`]: { requests: { 'fancy.io/gpu': '1' } } },
        `${P}.resources.limits`,
        'Required value: Limit must be set for non overcommitable resources',
      ],
    ]);
    kind.accepts(pod, [{ [`${C}.resources`]: { requests: { [`${own}/batch-cpu`]: '1' } } }]);
  });
}

describe('validation of pods', () => {
  const kind = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod' });

  describe('containers', () => {
    kind.refuses(pod, [
      [{ 'spec.containers': [] }, 'spec.containers', 'Required value'],
      [{ [`${C}.name`]: undefined }, `${P}.name`, 'Required value'],
      [{ [`${C}.name`]: 'Main' }, `${P}.name`, `Invalid value: "Main": ${LABEL}`],
      [{ [`${C}.image`]: '' }, `${P}.image`, 'Required value'],
      [
        { [`${C}.image`]: ' nginx' },
        `${P}.image`,
        'Invalid value: " nginx": must not have leading or trailing whitespace',
      ],
      [{ 'spec.containers.1': { name: 'main', image: 'a' } }, 'spec.containers[1].name', 'Duplicate value: "main"'],
      [
        { [`${C}.imagePullPolicy`]: 'Sometimes' },
        `${P}.imagePullPolicy`,
        'Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
      ],
      [
        { [`${C}.terminationMessagePolicy`]: 'Log' },
        `${P}.terminationMessagePolicy`,
        'Unsupported value: "Log": supported values: "File", "FallbackToLogsOnError"',
      ],
      [
        { 'spec.initContainers': [{ name: 'main', image: 'a' }] },
        'spec.initContainers[0].name',
        'Duplicate value: "main"',
      ],
      [
        { 'spec.initContainers': [{ name: 'init', image: 'a', lifecycle: {} }] },
        'spec.initContainers[0].lifecycle',
        'Forbidden: may not be set for init containers',
      ],
      [
        { 'spec.initContainers': [{ name: 'init', image: 'a', readinessProbe: { exec: { command: ['a'] } } }] },
        'spec.initContainers[0].readinessProbe',
        'Forbidden: may not be set for init containers',
      ],
      [
        { 'spec.ephemeralContainers': [{ name: 'debug', image: 'a' }] },
        'spec.ephemeralContainers',
        'Forbidden: cannot be set on create',
      ],
    ]);

    it('tells everything that is wrong', () => {
      const found = kind.onCreate(changed(pod, { [C]: { name: 'UPPER' }, 'spec.restartPolicy': 'Maybe' }));
      assert.deepEqual(
        found.map(({ field }) => field),
        [`${P}.name`, `${P}.image`, 'spec.restartPolicy'],
      );
    });
  });

  describe('ports', () => {
    const ports = (...list: readonly object[]): object => ({ [`${C}.ports`]: list });
    kind.refuses(pod, [
      [{ ...ports({}) }, `${P}.ports[0].containerPort`, 'Required value'],
      [{ ...ports({ containerPort: 65536 }) }, `${P}.ports[0].containerPort`, `Invalid value: 65536: ${PORT}`],
      [{ ...ports({ containerPort: 80, hostPort: -1 }) }, `${P}.ports[0].hostPort`, `Invalid value: -1: ${PORT}`],
      [
        { ...ports({ containerPort: 80, protocol: 'tcp' }) },
        `${P}.ports[0].protocol`,
        'Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"',
      ],
      [
        { ...ports({ containerPort: 80, name: 'a-much-too-long-name' }) },
        `${P}.ports[0].name`,
        'Invalid value: "a-much-too-long-name": must be no more than 15 characters',
      ],
      [
        { ...ports({ containerPort: 80, name: '80' }) },
        `${P}.ports[0].name`,
        'Invalid value: "80": must contain at least one letter (a-z)',
      ],
      [
        { ...ports({ containerPort: 80, name: 'a--b' }) },
        `${P}.ports[0].name`,
        'Invalid value: "a--b": must not contain consecutive hyphens',
      ],
      [
        { ...ports({ containerPort: 80, name: '-a' }) },
        `${P}.ports[0].name`,
        'Invalid value: "-a": must not begin or end with a hyphen',
      ],
      [
        { ...ports({ containerPort: 80, name: 'A' }) },
        `${P}.ports[0].name`,
        'Invalid value: "A": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
        `${P}.ports[0].name`,
        'Invalid value: "A": must contain at least one letter (a-z)',
      ],
      [
        { ...ports({ containerPort: 80, name: 'a' }, { containerPort: 81, name: 'a' }) },
        `${P}.ports[1].name`,
        'Duplicate value: "a"',
      ],
      [
        {
          [`${C}.ports`]: [{ containerPort: 80, hostPort: 80 }],
          'spec.containers.1': { name: 'b', image: 'b', ports: [{ containerPort: 81, hostPort: 80 }] },
        },
        'spec.containers[1].ports[0].hostPort',
        'Duplicate value: "TCP//80"',
      ],
      [
        { 'spec.hostNetwork': true, [`${C}.ports`]: [{ containerPort: 80, hostPort: 81 }] },
        `${P}.ports[0].containerPort`,
        'Invalid value: 80: must match `hostPort` when `hostNetwork` is true',
      ],
    ]);
  });

  describe('environment', () => {
    const from = (valueFrom: object, value?: string): object => ({ [`${C}.env`]: [{ name: 'A', value, valueFrom }] });
    const F = `${P}.env[0].valueFrom`;
    kind.refuses(pod, [
      [{ [`${C}.env`]: [{ value: 'a' }] }, `${P}.env[0].name`, 'Required value'],
      [{ [`${C}.env`]: [{ name: '1A' }] }, `${P}.env[0].name`, `Invalid value: "1A": ${ENV}`],
      [{ [`${C}.env`]: [{ name: '..' }] }, `${P}.env[0].name`, `Invalid value: "..": must not be '..'`],
      [
        { ...from({}) },
        F,
        'Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
      ],
      [
        { ...from({ fieldRef: { fieldPath: 'metadata.name' } }, 'x') },
        F,
        'Invalid value: "": may not be specified when `value` is not empty',
      ],
      [
        { ...from({ fieldRef: { fieldPath: 'metadata.name' }, secretKeyRef: { name: 'a', key: 'b' } }) },
        F,
        'Invalid value: "": may not have more than one field specified at a time',
      ],
      [{ ...from({ fieldRef: {} }) }, `${F}.fieldRef.fieldPath`, 'Required value'],
      [
        { ...from({ fieldRef: { fieldPath: 'metadata.whoops' } }) },
        `${F}.fieldRef.fieldPath`,
        'Invalid value: "metadata.whoops": error converting fieldPath: field label not supported: metadata.whoops',
      ],
      [
        { ...from({ fieldRef: { fieldPath: 'metadata.labels' } }) },
        `${F}.fieldRef.fieldPath`,
        'Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.podIP", "status.podIPs"',
      ],
      [
        { ...from({ fieldRef: { fieldPath: "metadata.name['a']" } }) },
        `${F}.fieldRef.fieldPath`,
        `Invalid value: "metadata.name['a']": error converting fieldPath: field label does not support subscript: metadata.name['a']`,
      ],
      [
        { ...from({ fieldRef: { fieldPath: "metadata.labels['a b']" } }) },
        `${F}.fieldRef`,
        `Invalid value: "a b": ${QUALIFIED}`,
      ],
      [
        { ...from({ fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } }) },
        `${F}.fieldRef.fieldPath`,
        'Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
      ],
      [{ ...from({ resourceFieldRef: {} }) }, `${F}.resourceFieldRef.resource`, 'Required value'],
      [
        { ...from({ resourceFieldRef: { resource: 'limits.gpu' } }) },
        `${F}.resourceFieldRef.resource`,
        'Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
      ],
      [
        { ...from({ resourceFieldRef: { resource: 'limits.cpu', divisor: '1Mi' } }) },
        `${F}.resourceFieldRef.divisor`,
        `Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
      ],
      [
        { ...from({ resourceFieldRef: { resource: 'limits.memory', divisor: '1m' } }) },
        `${F}.resourceFieldRef.divisor`,
        `Invalid value: "limits.memory": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource`,
      ],
      [{ ...from({ configMapKeyRef: { key: 'a' } }) }, `${F}.configMapKeyRef.name`, `Invalid value: "": ${SUBDOMAIN}`],
      [{ ...from({ secretKeyRef: { name: 'a' } }) }, `${F}.secretKeyRef.key`, 'Required value'],
      [
        { ...from({ secretKeyRef: { name: 'a', key: 'b/c' } }) },
        `${F}.secretKeyRef.key`,
        `Invalid value: "b/c": ${KEY}`,
      ],
      [
        { [`${C}.envFrom`]: [{}] },
        `${P}.envFrom`,
        'Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
      ],
      [
        { [`${C}.envFrom`]: [{ configMapRef: { name: 'a' }, secretRef: { name: 'a' } }] },
        `${P}.envFrom`,
        'Invalid value: "": may not have more than one field specified at a time',
      ],
      [{ [`${C}.envFrom`]: [{ configMapRef: {} }] }, `${P}.envFrom[0].configMapRef.name`, 'Required value'],
      [
        { [`${C}.envFrom`]: [{ prefix: 'a=', configMapRef: { name: 'a' } }] },
        `${P}.envFrom[0].prefix`,
        `Invalid value: "a=": ${ENV}`,
      ],
    ]);
    kind.accepts(pod, [
      from({ fieldRef: { fieldPath: "metadata.annotations['example.com/A']" } }) as Record<string, unknown>,
      from({ resourceFieldRef: { resource: 'requests.memory', divisor: '1Mi' } }) as Record<string, unknown>,
      { [`${C}.env`]: [{ name: '_my.env-name', value: '' }] },
    ]);
  });

  describe('probes and hooks', () => {
    const L = `${P}.livenessProbe`;
    const live = (probe: object): object => ({ [`${C}.livenessProbe`]: probe });
    const exec = { exec: { command: ['a'] } };
    kind.refuses(pod, [
      [{ ...live({}) }, L, 'Required value: must specify a handler type'],
      [
        { ...live({ ...exec, tcpSocket: { port: 80 } }) },
        `${L}.tcpSocket`,
        'Forbidden: may not specify more than 1 handler type',
      ],
      [{ ...live({ exec: {} }) }, `${L}.exec.command`, 'Required value'],
      [{ ...live({ httpGet: { port: 0 } }) }, `${L}.httpGet.port`, `Invalid value: 0: ${PORT}`],
      [
        { ...live({ httpGet: { port: 'a_b' } }) },
        `${L}.httpGet.port`,
        'Invalid value: "a_b": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      ],
      [
        { ...live({ httpGet: { port: 80, scheme: 'FTP' } }) },
        `${L}.httpGet.scheme`,
        'Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
      ],
      [
        { ...live({ httpGet: { port: 80, httpHeaders: [{ name: 'a b', value: 'c' }] } }) },
        `${L}.httpGet.httpHeaders`,
        `Invalid value: "a b": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')`,
      ],
      [{ ...live({ tcpSocket: { port: 70000 } }) }, `${L}.tcpSocket.port`, `Invalid value: 70000: ${PORT}`],
      [{ ...live({ grpc: { port: 0 } }) }, `${L}.grpc.port`, `Invalid value: 0: ${PORT}`],
      [{ ...live({ ...exec, timeoutSeconds: -1 }) }, `${L}.timeoutSeconds`, `Invalid value: -1: ${AT_LEAST_0}`],
      [{ ...live({ ...exec, periodSeconds: -1 }) }, `${L}.periodSeconds`, `Invalid value: -1: ${AT_LEAST_0}`],
      [{ ...live({ ...exec, successThreshold: 2 }) }, `${L}.successThreshold`, 'Invalid value: 2: must be 1'],
      [
        { ...live({ ...exec, terminationGracePeriodSeconds: 0 }) },
        `${L}.terminationGracePeriodSeconds`,
        'Invalid value: 0: must be greater than 0',
      ],
      [
        { [`${C}.startupProbe`]: { ...exec, successThreshold: 3 } },
        `${P}.startupProbe.successThreshold`,
        'Invalid value: 3: must be 1',
      ],
      [
        { [`${C}.readinessProbe`]: { ...exec, terminationGracePeriodSeconds: 5 } },
        `${P}.readinessProbe.terminationGracePeriodSeconds`,
        'Invalid value: 5: must not be set for readinessProbes',
      ],
      [
        { [`${C}.lifecycle`]: { preStop: {} } },
        `${P}.lifecycle.preStop`,
        'Required value: must specify a handler type',
      ],
      [{ [`${C}.lifecycle`]: { postStart: { exec: {} } } }, `${P}.lifecycle.postStart.exec.command`, 'Required value'],
    ]);
    kind.accepts(pod, [{ [`${C}.readinessProbe`]: { ...exec, successThreshold: 3 } }]);
  });

  describe('resources', () => {
    const resources = (limits: object, requests: object = {}): object => ({ [`${C}.resources`]: { limits, requests } });
    const R = `${P}.resources`;
    kind.refuses(pod, [
      [
        { ...resources({ cpu: '-1' }) },
        `${R}.limits[cpu]`,
        `Invalid value: "-1": ${AT_LEAST_0}`,
        `${R}.requests[cpu]`,
        `Invalid value: "-1": ${AT_LEAST_0}`,
      ],
      [
        { ...resources({ cpu: '1' }, { cpu: '1500m' }) },
        `${R}.requests`,
        'Invalid value: "1500m": must be less than or equal to cpu limit of 1',
      ],
      [
        { ...resources({ memory: '1Gi' }, { memory: '2G' }) },
        `${R}.requests`,
        'Invalid value: "2G": must be less than or equal to memory limit of 1Gi',
      ],
      [
        { ...resources({}, { pods: '1' }) },
        `${R}.requests[pods]`,
        'Invalid value: "pods": must be a standard resource for containers',
      ],
      [
        { ...resources({}, { tea: '1' }) },
        `${R}.requests[tea]`,
        'Invalid value: "tea": must be a standard resource type or fully qualified',
        `${R}.requests[tea]`,
        'Invalid value: "tea": must be a standard resource for containers',
      ],
      [
        { ...resources({ 'a.com/b': '2' }, { 'a.com/b': '1' }) },
        `${R}.requests`,
        'Invalid value: "1": must be equal to a.com/b limit of 2',
      ],
      [
        { ...resources({ 'hugepages-2Mi': '2Mi' }, { 'hugepages-2Mi': '2Mi' }) },
        R,
        'Forbidden: HugePages require cpu or memory',
      ],
      [
        { ...resources({ cpu: '1', 'hugepages-2Mi': '3Mi' }, { cpu: '1', 'hugepages-2Mi': '3Mi' }) },
        `${R}.limits[hugepages-2Mi]`,
        'Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
        `${R}.requests[hugepages-2Mi]`,
        'Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      ],
      [{ 'spec.overhead': { cpu: '-1' } }, 'spec.overhead.limits[cpu]', `Invalid value: "-1": ${AT_LEAST_0}`],
    ]);
  });

  describe('mounts', () => {
    const mount = (...volumeMounts: readonly object[]): object => ({ [`${C}.volumeMounts`]: volumeMounts });
    const M = `${P}.volumeMounts[0]`;
    const data = { name: 'data', mountPath: '/data' };
    const claim = { name: 'block', persistentVolumeClaim: { claimName: 'block' } };
    kind.refuses(pod, [
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
          [`${C}.volumeMounts`]: [{ name: 'block', mountPath: '/a' }],
          [`${C}.volumeDevices`]: [{ name: 'block', devicePath: '/dev/a' }],
        },
        `${M}.name`,
        'Invalid value: "block": must not already exist in volumeDevices',
        `${P}.volumeDevices[0].name`,
        'Invalid value: "block": must not already exist in volumeMounts',
      ],
    ]);
    kind.accepts(pod, [
      {
        ...mount({ ...data, mountPropagation: 'Bidirectional' }),
        [`${C}.securityContext`]: { privileged: true },
      },
      { [V]: claim, [`${C}.volumeDevices`]: [{ name: 'block', devicePath: '/dev/a' }] },
    ]);
  });

  describe('volumes', () => {
    const source = (member: string, value: object): object => ({ [V]: { name: 'v', [member]: value } });
    const S = 'spec.volumes[0]';
    kind.refuses(pod, [
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
        `Invalid value: 512: ${MODE}`,
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
        `Invalid value: -1: ${MODE}`,
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
      const [first] = kind.onCreate(changed(pod, { [V]: { name: 'v' } }), false);
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
        kind.onCreate(changed(pod, { 'spec.volumes': volumes })).map(({ field }) => field),
        ['spec.volumes[1].persistentVolumeClaim.claimName'],
      );
    });
  });

  describe('the rest of the spec', () => {
    kind.refuses(pod, [
      [
        { 'spec.restartPolicy': 'always' },
        'spec.restartPolicy',
        'Unsupported value: "always": supported values: "Always", "OnFailure", "Never"',
      ],
      [
        { 'spec.dnsPolicy': 'Mine' },
        'spec.dnsPolicy',
        'Unsupported value: "Mine": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
      ],
      [
        { 'spec.dnsPolicy': 'None' },
        'spec.dnsConfig',
        'Required value: must provide `dnsConfig` when `dnsPolicy` is None',
      ],
      [
        { 'spec.dnsPolicy': 'None', 'spec.dnsConfig': {} },
        'spec.dnsConfig.nameservers',
        'Required value: must provide at least one DNS nameserver when `dnsPolicy` is None',
      ],
      [
        { 'spec.dnsConfig': { nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4'] } },
        'spec.dnsConfig.nameservers',
        'Invalid value: []string{"1.1.1.1", "2.2.2.2", "3.3.3.3", "4.4.4.4"}: must not have more than 3 nameservers',
      ],
      [
        { 'spec.dnsConfig': { nameservers: ['here'] } },
        'spec.dnsConfig.nameservers[0]',
        'Invalid value: "here": must be valid IP address',
      ],
      [{ 'spec.dnsConfig': { searches: ['A'] } }, 'spec.dnsConfig.searches[0]', `Invalid value: "A": ${SUBDOMAIN}`],
      [{ 'spec.dnsConfig': { options: [{}] } }, 'spec.dnsConfig.options[0]', 'Required value: must not be empty'],
      [{ 'spec.nodeSelector': { a: 'b c' } }, 'spec.nodeSelector', `Invalid value: "b c": ${LABEL_VALUE}`],
      [
        { 'spec.activeDeadlineSeconds': 0 },
        'spec.activeDeadlineSeconds',
        'Invalid value: 0: must be between 1 and 2147483647, inclusive',
      ],
      [{ 'spec.hostname': 'A' }, 'spec.hostname', `Invalid value: "A": ${LABEL}`],
      [{ 'spec.subdomain': 'a.b' }, 'spec.subdomain', `Invalid value: "a.b": ${LABEL}`],
      [{ 'spec.nodeName': 'A' }, 'spec.nodeName', `Invalid value: "A": ${SUBDOMAIN}`],
      [{ 'spec.serviceAccountName': 'A' }, 'spec.serviceAccountName', `Invalid value: "A": ${SUBDOMAIN}`],
      [{ 'spec.priorityClassName': 'A' }, 'spec.priorityClassName', `Invalid value: "A": ${SUBDOMAIN}`],
      [{ 'spec.runtimeClassName': 'A' }, 'spec.runtimeClassName', `Invalid value: "A": ${SUBDOMAIN}`],
      [
        { 'spec.hostAliases': [{ ip: 'x', hostnames: ['a'] }] },
        'spec.hostAliases.ip',
        'Invalid value: "x": must be valid IP address',
      ],
      [
        { 'spec.hostAliases': [{ ip: '1.2.3.4', hostnames: ['a_b'] }] },
        'spec.hostAliases.hostnames',
        `Invalid value: "a_b": ${SUBDOMAIN}`,
      ],
      [
        { 'spec.readinessGates': [{ conditionType: 'a b' }] },
        'spec.readinessGates[0].conditionType',
        `Invalid value: "a b": ${QUALIFIED}`,
      ],
      [
        { 'spec.preemptionPolicy': 'Push' },
        'spec.preemptionPolicy',
        'Unsupported value: "Push": supported values: "PreemptLowerPriority", "Never"',
      ],
      [{ 'spec.os': { name: 'plan9' } }, 'spec.os', 'Unsupported value: "plan9": supported values: "linux", "windows"'],
      [
        { 'spec.os': { name: 'windows' }, 'spec.securityContext': { runAsUser: 1 } },
        'spec.securityContext.runAsUser',
        'Forbidden: cannot be set for a windows pod',
      ],
      [
        { 'spec.os': { name: 'linux' }, [`${C}.securityContext`]: { windowsOptions: {} } },
        `${P}.securityContext.windowsOptions`,
        'Forbidden: windows options cannot be set for a linux pod',
      ],
      [
        { 'spec.securityContext': { windowsOptions: { hostProcess: true } } },
        'spec.hostNetwork',
        'Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
      ],
    ]);
  });

  describe('security', () => {
    const ID = 'must be between 0 and 4294967295, inclusive';
    kind.refuses(pod, [
      [{ 'spec.securityContext': { runAsUser: -1 } }, 'spec.securityContext.runAsUser', `Invalid value: -1: ${ID}`],
      [{ 'spec.securityContext': { fsGroup: -1 } }, 'spec.securityContext.fsGroup', `Invalid value: -1: ${ID}`],
      [
        { 'spec.securityContext': { supplementalGroups: [1, -1] } },
        'spec.securityContext.supplementalGroups[1]',
        `Invalid value: -1: ${ID}`,
      ],
      [
        { 'spec.securityContext': { fsGroupChangePolicy: 'Never' } },
        'spec.securityContext.fsGroupChangePolicy',
        'Unsupported value: "Never": supported values: "Always", "OnRootMismatch"',
      ],
      [
        { 'spec.securityContext': { sysctls: [{ value: 'a' }] } },
        'spec.securityContext.sysctls[0].name',
        'Required value',
      ],
      [
        { 'spec.securityContext': { sysctls: [{ name: 'A', value: 'a' }] } },
        'spec.securityContext.sysctls[0].name',
        String.raw`Invalid value: "A": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`,
      ],
      [
        {
          'spec.securityContext': {
            sysctls: [
              { name: 'a', value: 'a' },
              { name: 'a', value: 'b' },
            ],
          },
        },
        'spec.securityContext.sysctls[1].name',
        'Duplicate value: "a"',
      ],
      [
        { 'spec.securityContext': { seccompProfile: { type: 'Mine' } } },
        'spec.securityContext.seccompProfile.type',
        'Unsupported value: "Mine": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
      ],
      [
        { 'spec.securityContext': { seccompProfile: { type: 'Localhost' } } },
        'spec.securityContext.seccompProfile.localhostProfile',
        'Required value: must be set when seccomp type is Localhost',
      ],
      [{ [`${C}.securityContext`]: { runAsGroup: -1 } }, `${P}.securityContext.runAsGroup`, `Invalid value: -1: ${ID}`],
      [
        { [`${C}.securityContext`]: { procMount: 'Masked' } },
        `${P}.securityContext.procMount`,
        'Unsupported value: "Masked": supported values: "Default", "Unmasked"',
      ],
      [
        { [`${C}.securityContext`]: { privileged: true, allowPrivilegeEscalation: false } },
        `${P}.securityContext`,
        'Invalid value: {"privileged":true,"allowPrivilegeEscalation":false}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
      ],
      [
        { 'spec.hostPID': true, 'spec.shareProcessNamespace': true },
        'spec.securityContext.shareProcessNamespace',
        'Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
      ],
    ]);
  });

  describe('scheduling', () => {
    const term = (matchExpressions: readonly object[]): object => ({
      'spec.affinity': {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
        },
      },
    });
    const N = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution';
    const E = `${N}.nodeSelectorTerms[0].matchExpressions[0]`;
    const tolerate = (toleration: object): object => ({ 'spec.tolerations': [toleration] });
    const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
    kind.refuses(pod, [
      [
        {
          'spec.affinity': {
            nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
          },
        },
        `${N}.nodeSelectorTerms`,
        'Required value: must have at least one node selector term',
      ],
      [
        { ...term([{ key: 'a', operator: 'In' }]) },
        `${E}.values`,
        "Required value: must be specified when `operator` is 'In' or 'NotIn'",
      ],
      [
        { ...term([{ key: 'a', operator: 'Exists', values: ['b'] }]) },
        `${E}.values`,
        "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      ],
      [
        { ...term([{ key: 'a', operator: 'Gt' }]) },
        `${E}.values`,
        "Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
      ],
      [
        { ...term([{ key: 'a', operator: 'Is' }]) },
        `${E}.operator`,
        'Invalid value: "Is": not a valid selector operator',
      ],
      [
        {
          'spec.affinity': {
            nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, preference: {} }] },
          },
        },
        'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight',
        'Invalid value: 101: must be in the range 1-100',
      ],
      [
        {
          'spec.affinity': {
            podAntiAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 0, podAffinityTerm: { topologyKey: 'a', labelSelector: { matchLabels: { a: 'b c' } } } },
              ],
            },
          },
        },
        'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight',
        'Invalid value: 0: must be in the range 1-100',
        'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchLabels',
        `Invalid value: "b c": ${LABEL_VALUE}`,
      ],
      [
        { 'spec.affinity': { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } },
        'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey',
        'Required value: can not be empty',
        'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey',
        'Invalid value: "": name part must be non-empty',
        'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey',
        `Invalid value: "": ${QUALIFIED}`,
      ],
      [
        { ...tolerate({ operator: 'Equal', value: 'a' }) },
        'spec.tolerations[0].operator',
        'Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ],
      [
        { ...tolerate({ key: 'a', operator: 'Exists', tolerationSeconds: 1 }) },
        'spec.tolerations[0].effect',
        `Invalid value: "": effect must be 'NoExecute' when \`tolerationSeconds\` is set`,
      ],
      [
        { ...tolerate({ key: 'a', operator: 'Exists', value: 'b' }) },
        'spec.tolerations[0].operator',
        `Invalid value: {"key":"a","operator":"Exists","value":"b"}: value must be empty when \`operator\` is 'Exists'`,
      ],
      [
        { ...tolerate({ key: 'a', operator: 'Like' }) },
        'spec.tolerations[0].operator',
        'Unsupported value: "Like": supported values: "Equal", "Exists"',
      ],
      [
        { ...tolerate({ key: 'a', effect: 'Never' }) },
        'spec.tolerations[0].effect',
        'Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ],
      [
        { 'spec.topologySpreadConstraints': [{ ...spread, maxSkew: 0 }] },
        'spec.topologySpreadConstraints[0].maxSkew',
        'Invalid value: 0: must be greater than zero',
      ],
      [
        { 'spec.topologySpreadConstraints': [{ ...spread, topologyKey: '' }] },
        'spec.topologySpreadConstraints[0].topologyKey',
        'Required value: can not be empty',
      ],
      [
        { 'spec.topologySpreadConstraints': [{ ...spread, whenUnsatisfiable: 'Wait' }] },
        'spec.topologySpreadConstraints[0].whenUnsatisfiable',
        'Unsupported value: "Wait": supported values: "DoNotSchedule", "ScheduleAnyway"',
      ],
      [
        { 'spec.topologySpreadConstraints': [spread, spread] },
        'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}',
        'Duplicate value: "{zone, DoNotSchedule}"',
      ],
    ]);
    kind.accepts(pod, [
      tolerate({ operator: 'Exists' }) as Record<string, unknown>,
      term([{ key: 'a', operator: 'Gt', values: ['1'] }]) as Record<string, unknown>,
    ]);
  });
});

describe('updates of pods', () => {
  const kind = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod' });
  const old = changed(pod, {
    [`${C}.imagePullPolicy`]: 'Always', // what it is by default depends on the image
    'spec.activeDeadlineSeconds': 100,
    'spec.tolerations': [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
  });
  const OTHER =
    'Forbidden: pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions to existing tolerations) or `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
  kind.refusesUpdates(old, [
    [{ 'spec.nodeName': 'a' }, 'spec', OTHER],
    [{ [`${C}.env`]: [{ name: 'A', value: 'b' }] }, 'spec', OTHER],
    [{ 'spec.terminationGracePeriodSeconds': 1 }, 'spec', OTHER],
    [
      { 'spec.containers.1': { name: 'b', image: 'b' } },
      'spec.containers',
      'Forbidden: pod updates may not add or remove containers',
    ],
    [
      { 'spec.activeDeadlineSeconds': 101 },
      'spec.activeDeadlineSeconds',
      'Invalid value: 101: must be less than or equal to previous value',
    ],
    [
      { 'spec.activeDeadlineSeconds': undefined },
      'spec.activeDeadlineSeconds',
      'Invalid value: "null": must not update from a positive integer to nil value',
    ],
    [
      { 'spec.tolerations': [] },
      'spec.tolerations',
      'Forbidden: existing toleration can not be modified except its tolerationSeconds',
    ],
  ]);
  kind.acceptsUpdates(old, [
    { [`${C}.image`]: 'nginx:2' },
    { 'spec.activeDeadlineSeconds': 50 },
    { 'spec.tolerations.1': { key: 'b', operator: 'Exists' } },
    { 'spec.tolerations.0.tolerationSeconds': 7 },
    { 'metadata.labels': { a: 'b' } },
  ]);

  kind.refusesPart('status', changed(pod, { 'spec.restartPolicy': 'Never' }), [
    [
      { 'status.podIPs': [{ ip: 'x' }] },
      'status.podIPs[0]',
      'Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
    [
      { 'status.podIPs': [{ ip: '1.1.1.1' }, { ip: '1.1.1.2' }] },
      'status.podIPs',
      'Invalid value: [{"ip":"1.1.1.1"},{"ip":"1.1.1.2"}]: may specify no more than one IP for each IP family',
    ],
    [{ 'status.nominatedNodeName': 'A' }, 'status.nominatedNodeName', `Invalid value: "A": ${SUBDOMAIN}`],
    [
      { 'status.conditions': [{ type: 'a b', status: 'True' }] },
      'metadata.conditions[0].Type',
      `Invalid value: "a b": ${QUALIFIED}`,
    ],
  ]);
  const status = (state: object): object => ({
    name: 'main',
    state,
    ready: false,
    restartCount: 0,
    image: '',
    imageID: '',
  });
  kind.refusesPart(
    'status',
    changed(pod, {
      'spec.restartPolicy': 'OnFailure',
      'status.containerStatuses': [status({ terminated: { exitCode: 0 } })],
    }),
    [
      [
        { 'status.containerStatuses': [status({ running: {} })] },
        'status.containerStatuses[0].state',
        'Forbidden: may not be transitioned to non-terminated state',
      ],
    ],
  );
  const debugged = changed(pod, { 'spec.ephemeralContainers': [{ name: 'debug', image: 'a' }] });
  kind.refusesPart('ephemeralcontainers', debugged, [
    [
      { 'spec.ephemeralContainers': [] },
      'spec.ephemeralContainers',
      'Forbidden: existing ephemeral containers "debug" may not be removed\n',
    ],
    [
      { 'spec.ephemeralContainers.0.image': 'b' },
      'spec.ephemeralContainers',
      'Forbidden: existing ephemeral containers "debug" may not be changed\n',
    ],
    [
      { 'spec.ephemeralContainers.1': { name: 'two', image: 'b', targetContainerName: 'who' } },
      'spec.ephemeralContainers[1].targetContainerName',
      'Not found: "who"',
    ],
    [
      { 'spec.ephemeralContainers.1': { name: 'two', image: 'b', ports: [{ containerPort: 1 }] } },
      'spec.ephemeralContainers[1].ports',
      'Forbidden: cannot be set for an Ephemeral Container',
    ],
  ]);
});
