import { changed, KindUnderTest } from '../testing/cases.js';
import { C, P, POD } from '../testing/pod.js';
import { QUALIFIED, SUBDOMAIN } from '../testing/words.js';

for (const words of ['kubernetes', 'platform'] as const) {
  describe(`validation of pods in the ${words} vocabulary`, () => {
    const kind = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod', words });
    kind.acceptsManifest('a small pod', POD);
    const own = words === 'platform' ? 'platform.io' : 'kubernetes.io';
    kind.refuses(POD, [
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
    kind.accepts(POD, [{ [`${C}.resources`]: { requests: { [`${own}/batch-cpu`]: '1' } } }]);

    const seccomp = `seccomp.security.alpha.${own}/pod`;
    const ofContainer = `container.seccomp.security.alpha.${own}/main`;
    const MISMATCH = 'Forbidden: seccomp type in annotation and field must match';
    const profile = (type: string, more = {}): object => ({ seccompProfile: { type, ...more } });
    kind.refuses(POD, [
      [
        { 'metadata.annotations': { [seccomp]: 'junk' } },
        `metadata.annotations.${seccomp}`,
        'Invalid value: "junk": must be a valid seccomp profile',
      ],
      [
        { 'metadata.annotations': { [seccomp]: 'runtime/default' }, 'spec.securityContext': profile('Unconfined') },
        'spec.securityContext.seccompProfile.type',
        MISMATCH,
      ],
      [
        {
          'metadata.annotations': { [seccomp]: 'localhost/a' },
          'spec.securityContext': profile('Localhost', { localhostProfile: 'b' }),
        },
        'spec.securityContext.seccompProfile.localhostProfile',
        MISMATCH,
      ],
      [
        {
          'spec.containers.0.name': 'main',
          'metadata.annotations': { [ofContainer]: 'unconfined' },
          [`${C}.securityContext`]: profile('RuntimeDefault'),
        },
        `${P}.securityContext.seccompProfile.type`,
        MISMATCH,
      ],
    ]);
    kind.accepts(POD, [
      { 'metadata.annotations': { [seccomp]: 'localhost/' } },
      { 'metadata.annotations': { [seccomp]: 'runtime/default' }, 'spec.securityContext': profile('RuntimeDefault') },
    ]);
  });
}

describe('updates of pods', () => {
  const kind = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod' });
  const old = changed(POD, {
    [`${C}.imagePullPolicy`]: 'Always', // what it is by default depends on the image
    'spec.activeDeadlineSeconds': 100,
    'spec.tolerations': [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
  });
  const OTHER =
    'Forbidden: pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions to existing tolerations) or `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
  kind.refusesUpdates(old, [
    [{ 'spec.nodeName': 'a' }, 'spec', OTHER],
    [
      { 'spec.activeDeadlineSeconds': -1 },
      'spec.activeDeadlineSeconds',
      'Invalid value: -1: must be between 1 and 2147483647, inclusive',
      'spec.activeDeadlineSeconds',
      'Invalid value: -1: must be between 0 and 2147483647, inclusive',
    ],
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
    [
      { 'spec.tolerations.1': { key: 'b', operator: 'Exists', value: 'c' } },
      ...[1, 2].flatMap(() => [
        'spec.tolerations[1].operator',
        'Invalid value: {"key":"b","operator":"Exists","value":"c"}: value must be empty when `operator` is \'Exists\'',
      ]),
    ],
  ]);
  kind.acceptsUpdates(old, [
    { [`${C}.image`]: 'nginx:2' },
    { 'spec.activeDeadlineSeconds': 50 },
    { 'spec.tolerations.1': { key: 'b', operator: 'Exists' } },
    { 'spec.tolerations.0.tolerationSeconds': 7 },
    { 'metadata.labels': { a: 'b' } },
  ]);

  kind.refusesPart('status', changed(POD, { 'spec.restartPolicy': 'Never' }), [
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
    [
      { 'status.podIPs': [{ ip: '1.1.1.1' }, { ip: 'fd00::1' }, { ip: '1.1.1.1' }] },
      'status.podIPs',
      'Invalid value: [{"ip":"1.1.1.1"},{"ip":"fd00::1"},{"ip":"1.1.1.1"}]: may specify no more than one IP for each IP family',
      'status.podIPs[2]',
      'Duplicate value: {"ip":"1.1.1.1"}',
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
    changed(POD, {
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
  const debugged = changed(POD, { 'spec.ephemeralContainers': [{ name: 'debug', image: 'a' }] });
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
      {
        'spec.ephemeralContainers.1': {
          name: 'two',
          image: 'b',
          volumeMounts: [{ name: 'data', mountPath: '/a', subPath: 'b' }],
        },
      },
      'spec.ephemeralContainers[1].volumeMounts[0].subPath',
      'Forbidden: cannot be set for an Ephemeral Container',
    ],
    [
      { 'spec.ephemeralContainers.1': { name: 'two', image: 'b', ports: [{ containerPort: 1 }] } },
      'spec.ephemeralContainers[1].ports',
      'Forbidden: cannot be set for an Ephemeral Container',
    ],
  ]);
});
