import { KindUnderTest } from '../testing/cases.js';
import { AT_LEAST_0, LABEL_VALUE, QUALIFIED, SUBDOMAIN, TOO_LONG } from '../testing/words.js';

const PERCENT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
const REASON =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

describe('validation of pod disruption budgets', () => {
  const kind = new KindUnderTest({
    group: 'policy',
    resource: 'poddisruptionbudgets',
    type: 'policy/v1.PodDisruptionBudget',
  });
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'x', namespace: 'default' },
    spec: { minAvailable: 2, selector: { matchLabels: { app: 'x' } } },
  };
  kind.acceptsManifest('a budget', budget);
  kind.accepts(budget, [{ spec: {} }, { spec: { maxUnavailable: '100%', selector: {} } }]);
  kind.refuses(budget, [
    [
      { spec: { minAvailable: 1, maxUnavailable: 1 } },
      'spec',
      'Invalid value: {"minAvailable":1,"maxUnavailable":1}: minAvailable and maxUnavailable cannot be both set',
    ],
    [{ 'spec.minAvailable': -1 }, 'spec.minAvailable', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'spec.minAvailable': 'all' }, 'spec.minAvailable', `Invalid value: "all": ${PERCENT}`],
    [{ 'spec.minAvailable': '101%' }, 'spec.minAvailable', 'Invalid value: "101%": must not be greater than 100%'],
    [
      { spec: { maxUnavailable: '101%' } },
      'spec.maxUnavailable',
      'Invalid value: "101%": must not be greater than 100%',
    ],
    [
      { 'spec.selector.matchLabels': { a: 'b c' } },
      'spec.selector.matchLabels',
      `Invalid value: "b c": ${LABEL_VALUE}`,
    ],
  ]);
  const condition = {
    type: 'DisruptionAllowed',
    status: 'True',
    reason: 'SufficientPods',
    message: '',
    lastTransitionTime: '2024-01-01T00:00:00Z',
  };
  const C = 'status.conditions.0';
  const A = 'status.conditions[0]';
  kind.refusesPart('status', { ...budget, status: { conditions: [condition] } }, [
    [{ 'status.disruptionsAllowed': -1 }, 'status.disruptionsAllowed', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'status.currentHealthy': -1 }, 'status.currentHealthy', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'status.desiredHealthy': -1 }, 'status.desiredHealthy', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'status.expectedPods': -1 }, 'status.expectedPods', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'status.conditions.1': condition }, 'status.conditions[1].type', 'Duplicate value: "DisruptionAllowed"'],
    [{ [`${C}.type`]: 'a b' }, `${A}.type`, `Invalid value: "a b": ${QUALIFIED}`],
    [{ [`${C}.status`]: '' }, `${A}.status`, 'Unsupported value: "": supported values: "False", "True", "Unknown"'],
    [
      { [`${C}.observedGeneration`]: -1 },
      `${A}.observedGeneration`,
      'Invalid value: -1: must be greater than or equal to zero',
    ],
    [{ [`${C}.lastTransitionTime`]: undefined }, `${A}.lastTransitionTime`, 'Required value: must be set'],
    [{ [`${C}.reason`]: '' }, `${A}.reason`, 'Required value: must be set'],
    [{ [`${C}.reason`]: 'a b' }, `${A}.reason`, `Invalid value: "a b": ${REASON}`],
    [{ [`${C}.reason`]: 'a'.repeat(1025) }, `${A}.reason`, TOO_LONG(1024)],
    [{ [`${C}.message`]: 'a'.repeat(32_769) }, `${A}.message`, TOO_LONG(32_768)],
  ]);
});

describe('validation of pod security policies', () => {
  const kind = new KindUnderTest({
    group: 'policy',
    resource: 'podsecuritypolicies',
    type: 'policy/v1beta1.PodSecurityPolicy',
  });
  const any = (): object => ({ rule: 'RunAsAny' });
  const policy = {
    apiVersion: 'policy/v1beta1',
    kind: 'PodSecurityPolicy',
    metadata: { name: 'x' },
    spec: {
      privileged: false,
      allowPrivilegeEscalation: false,
      requiredDropCapabilities: ['ALL'],
      volumes: ['configMap', 'emptyDir', 'projected', 'secret', 'persistentVolumeClaim'],
      runAsUser: { rule: 'MustRunAsNonRoot' },
      seLinux: any(),
      supplementalGroups: { rule: 'MustRunAs', ranges: [{ min: 1, max: 65535 }] },
      fsGroup: any(),
      allowedHostPaths: [{ pathPrefix: '/var/log' }],
      allowedUnsafeSysctls: ['net.core.*'],
      forbiddenSysctls: ['kernel.shm_rmid_forced'],
    },
  };
  kind.acceptsManifest('a policy', policy);
  kind.accepts(policy, [
    { 'spec.volumes': ['*'], 'spec.allowedUnsafeSysctls': ['*'], 'spec.forbiddenSysctls': [] },
    { 'spec.runAsGroup': { rule: 'MayRunAs', ranges: [{ min: 0, max: 0 }] } },
    { 'spec.runtimeClass': { allowedRuntimeClassNames: ['a', 'b'], defaultRuntimeClassName: 'a' } },
    { 'spec.runtimeClass': { allowedRuntimeClassNames: ['*'], defaultRuntimeClassName: 'a' } },
  ]);
  kind.refuses(policy, [
    [
      { 'spec.runAsUser': {} },
      'spec.runAsUser.rule',
      'Unsupported value: "": supported values: "MustRunAs", "MustRunAsNonRoot", "RunAsAny"',
    ],
    [
      { 'spec.seLinux.rule': 'x' },
      'spec.seLinux.rule',
      'Unsupported value: "x": supported values: "MustRunAs", "RunAsAny"',
    ],
    [
      { 'spec.fsGroup.rule': 'x' },
      'spec.fsGroup.rule',
      'Unsupported value: "x": supported values: "MayRunAs", "MustRunAs", "RunAsAny"',
    ],
    [
      { 'spec.supplementalGroups.ranges': [{ min: 2, max: 1 }] },
      'spec.supplementalGroups.ranges[0].min',
      'Invalid value: 2: min cannot be greater than max',
    ],
    [
      { 'spec.runAsUser.ranges': [{ min: -2, max: -1 }] },
      'spec.runAsUser.ranges[0].min',
      'Invalid value: -2: min cannot be negative',
      'spec.runAsUser.ranges[0].max',
      'Invalid value: -1: max cannot be negative',
    ],
    [
      { 'spec.runAsGroup': { rule: 'MustRunAs' } },
      'spec.runAsGroup.ranges',
      'Invalid value: []: must provide at least one range',
    ],
    [
      { 'spec.runAsGroup': { rule: 'RunAsAny', ranges: [{ min: 1, max: 1 }] } },
      'spec.runAsGroup.ranges',
      'Invalid value: [{"min":1,"max":1}]: Ranges must be empty',
    ],
    [
      { 'spec.allowedCapabilities': ['*', 'ALL'] },
      'requiredDropCapabilities',
      'Invalid value: ["ALL"]: must be empty when all capabilities are allowed by a wildcard',
      'allowedCapabilities',
      'Invalid value: "ALL": capability is listed in allowedCapabilities and requiredDropCapabilities',
    ],
    [
      { 'spec.defaultAllowPrivilegeEscalation': true },
      'spec.defaultAllowPrivilegeEscalation',
      'Invalid value: true: Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true',
    ],
    [
      { 'spec.allowedProcMountTypes': ['x'] },
      'spec.allowedProcMountTypes[0]',
      'Unsupported value: "x": supported values: "Default", "Unmasked"',
    ],
    [
      { 'spec.allowedHostPaths': [{ pathPrefix: '/a/../b' }, {}] },
      'spec.allowedHostPaths[0]',
      `Invalid value: "/a/../b": must not contain '..'`,
      'spec.allowedHostPaths[1]',
      'Required value: is required',
    ],
    [{ 'spec.allowedFlexVolumes': [{}] }, 'spec.allowedFlexVolumes[0].driver', 'Required value: must specify a driver'],
    [
      { 'spec.allowedCSIDrivers': [{ name: 'a b' }] },
      'spec.allowedCSIDrivers[0].name',
      `Invalid value: "a b": ${SUBDOMAIN}`,
    ],
    [{ 'spec.forbiddenSysctls': [''] }, 'spec.forbiddenSysctls[0]', 'Invalid value: "": empty sysctl not allowed'],
    [
      { 'spec.forbiddenSysctls': ['*', 'a.b'], 'spec.allowedUnsafeSysctls': [] },
      'spec.forbiddenSysctls.items',
      "Forbidden: if '*' is present, must not specify other sysctls",
    ],
    [
      { 'spec.forbiddenSysctls': ['A'] },
      'spec.forbiddenSysctls[0]',
      String.raw`Invalid value: "A": must have at most 253 characters and match regex ([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]`,
    ],
    [
      { 'spec.forbiddenSysctls': ['net.core.somaxconn'] },
      'spec.forbiddenSysctls[0]',
      'Invalid value: "net.core.somaxconn": sysctl overlaps with net.core.*',
    ],
    [
      { 'spec.forbiddenSysctls': ['net.*'] },
      'spec.allowedUnsafeSysctls[0]',
      'Invalid value: "net.core.*": sysctl overlaps with net.*',
    ],
    [
      { 'spec.runtimeClass': { allowedRuntimeClassNames: ['a', 'a'], defaultRuntimeClassName: 'b' } },
      'spec.runtimeClass.allowedRuntimeClassNames[1]',
      'Duplicate value: "a"',
      'spec.runtimeClass.allowedRuntimeClassNames',
      'Required value: default "b" must be allowed',
    ],
    [
      { 'spec.runtimeClass': { allowedRuntimeClassNames: ['*', 'a'] } },
      'spec.runtimeClass.allowedRuntimeClassNames',
      `Invalid value: ["*","a"]: if '*' is present, must not specify other RuntimeClass names`,
    ],
  ]);
});
