import { KindUnderTest } from '../testing/cases.js';
import { C, P, POD } from '../testing/pod.js';
import { LABEL, LABEL_VALUE, QUALIFIED, SUBDOMAIN } from '../testing/words.js';

const LONG = 'x'.repeat(62);

describe('specs of pods where containers may not be privileged', () => {
  const kind = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod', allowPrivileged: false });
  kind.refuses(POD, [
    [
      { [`${C}.securityContext`]: { privileged: true } },
      `${P}.securityContext.privileged`,
      'Forbidden: disallowed by cluster policy',
    ],
  ]);
  kind.accepts(POD, [{ [`${C}.securityContext`]: { privileged: false } }]);
});

describe('specs of pods', () => {
  const kind = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod' });

  describe('the rest of the spec', () => {
    kind.refuses(POD, [
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
        { 'spec.dnsConfig': { searches: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] } },
        'spec.dnsConfig.searches',
        'Invalid value: []string{"a", "b", "c", "d", "e", "f", "g"}: must not have more than 6 search paths',
      ],
      [
        { 'spec.dnsConfig': { searches: [LONG, `${LONG}.${LONG}.${LONG}.${LONG}`] } },
        'spec.dnsConfig.searches',
        `Invalid value: []string{"${LONG}", "${LONG}.${LONG}.${LONG}.${LONG}"}: must not have more than 256 characters (including spaces) in the search list`,
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
        {
          'spec.hostNetwork': true,
          'spec.securityContext': { windowsOptions: { hostProcess: true } },
          [`${C}.securityContext`]: { windowsOptions: { hostProcess: false } },
          'spec.containers.1': { name: 'b', image: 'b' },
        },
        `${P}.securityContext.windowsOptions.hostProcess`,
        'Invalid value: false: pod hostProcess value must be identical if both are specified, was true',
        'spec',
        'Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers',
      ],
      [{ 'spec.os': {} }, 'spec.os.name', 'Required value: cannot be empty'],
      [
        { 'spec.securityContext': { windowsOptions: { hostProcess: true } } },
        'spec.hostNetwork',
        'Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
      ],
    ]);
  });

  describe('security', () => {
    const ID = 'must be between 0 and 4294967295, inclusive';
    kind.refuses(POD, [
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
        { 'spec.securityContext': { seccompProfile: {} } },
        'spec.securityContext.seccompProfile.type',
        'Required value: type is required when seccompProfile is set',
      ],
      [
        { 'spec.securityContext': { seccompProfile: { type: 'Unconfined', localhostProfile: 'a' } } },
        'spec.securityContext.seccompProfile.localhostProfile',
        'Invalid value: {"type":"Unconfined","localhostProfile":"a"}: can only be set when seccomp type is Localhost',
      ],
      [
        { 'spec.securityContext': { seccompProfile: { type: 'Localhost', localhostProfile: '/a' } } },
        'spec.securityContext.seccompProfile.localhostProfile',
        'Invalid value: "/a": must be a relative path',
      ],
      [
        {
          [`${C}.securityContext`]: { allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } },
        },
        `${P}.securityContext`,
        'Invalid value: {"capabilities":{"add":["CAP_SYS_ADMIN"]},"allowPrivilegeEscalation":false}: cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
      ],
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
    const byField = (requirement: object): object => ({
      'spec.affinity': {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [requirement] }] },
        },
      },
    });
    const F = `${N}.nodeSelectorTerms[0].matchFields[0]`;
    const tolerate = (toleration: object): object => ({ 'spec.tolerations': [toleration] });
    const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
    kind.refuses(POD, [
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
        { ...byField({ key: 'metadata.uid', operator: 'In', values: ['a'] }) },
        `${F}.key`,
        'Invalid value: "metadata.uid": not a valid field selector key',
      ],
      [
        { ...byField({ key: 'metadata.name', operator: 'Exists' }) },
        `${F}.operator`,
        'Invalid value: "Exists": not a valid selector operator',
      ],
      [
        { ...byField({ key: 'metadata.name', operator: 'In', values: ['a', 'b'] }) },
        `${F}.values`,
        "Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      ],
      [
        { ...byField({ key: 'metadata.name', operator: 'In', values: ['A'] }) },
        `${F}.values[0]`,
        `Invalid value: "A": ${SUBDOMAIN}`,
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
        { 'spec.topologySpreadConstraints': [{ ...spread, minDomains: 0 }] },
        'spec.topologySpreadConstraints[0].minDomains',
        'Invalid value: 0: must be greater than zero',
      ],
      [
        { 'spec.topologySpreadConstraints': [{ ...spread, whenUnsatisfiable: 'ScheduleAnyway', minDomains: 1 }] },
        'spec.topologySpreadConstraints[0].minDomains',
        'Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
      ],
      [
        { 'spec.topologySpreadConstraints': [spread, spread] },
        'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}',
        'Duplicate value: "{zone, DoNotSchedule}"',
      ],
    ]);
    kind.accepts(POD, [
      tolerate({ operator: 'Exists' }) as Record<string, unknown>,
      term([{ key: 'a', operator: 'Gt', values: ['1'] }]) as Record<string, unknown>,
    ]);
  });
});
