import assert from 'node:assert/strict';
import { changed, KindUnderTest } from '../testing/cases.js';
import { C, P, POD } from '../testing/pod.js';
import { AT_LEAST_0, LABEL, PORT } from '../testing/words.js';

describe('containers', () => {
  const kind = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod' });

  describe('containers', () => {
    kind.refuses(POD, [
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
        { 'spec.initContainers': [{ name: 'init', image: 'a', restartPolicy: 'Never' }] },
        'spec.initContainers[0].restartPolicy',
        'Unsupported value: "Never": supported values: "Always"',
      ],
      [
        { 'spec.ephemeralContainers': [{ name: 'debug', image: 'a' }] },
        'spec.ephemeralContainers',
        'Forbidden: cannot be set on create',
      ],
    ]);

    it('tells everything that is wrong', () => {
      const found = kind.onCreate(changed(POD, { [C]: { name: 'UPPER' }, 'spec.restartPolicy': 'Maybe' }));
      assert.deepEqual(
        found.map(({ field }) => field),
        [`${P}.name`, `${P}.image`, 'spec.restartPolicy'],
      );
    });
  });

  describe('ports', () => {
    const ports = (...list: readonly object[]): object => ({ [`${C}.ports`]: list });
    kind.refuses(POD, [
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

  describe('probes and hooks', () => {
    const L = `${P}.livenessProbe`;
    const live = (probe: object): object => ({ [`${C}.livenessProbe`]: probe });
    const exec = { exec: { command: ['a'] } };
    kind.refuses(POD, [
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
    kind.accepts(POD, [{ [`${C}.readinessProbe`]: { ...exec, successThreshold: 3 } }]);
  });

  describe('resources', () => {
    const resources = (limits: object, requests: object = {}): object => ({ [`${C}.resources`]: { limits, requests } });
    const R = `${P}.resources`;
    kind.refuses(POD, [
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
});
