import type { PodSecurityPolicySpec } from '../../../../machinery/types/generated/policy.v1beta1.js';
import { containersOf, type Container, type PlacedContainer, type PodSpec } from '../../pods/pod.js';

type Policy = PodSecurityPolicySpec;
type Volume = NonNullable<PodSpec['volumes']>[number];
type Context = NonNullable<Container['securityContext']>;
type SeLinux = Context['seLinuxOptions'];
type Strategy = Policy['runAsGroup'] | Policy['supplementalGroups'];

const invalid = (path: string, value: unknown, why: string): string =>
  `${path}: Invalid value: ${typeof value === 'string' ? JSON.stringify(value) : String(value)}${why === '' ? '' : `: ${why}`}`;
const when = (is: boolean, problem: () => string): string[] => (is ? [problem()] : []);

/** What a pod does against a policy, in the words and the order that users know. */
export function problemsOf(spec: PodSpec, policy: Policy): string[] {
  const context = spec.securityContext ?? {};
  const at = 'spec.securityContext';
  return [
    ...groupProblems(`${at}.supplementalGroups`, context.supplementalGroups ?? [], policy.supplementalGroups),
    ...groupProblems(`${at}.fsGroup`, context.fsGroup === undefined ? [] : [context.fsGroup], policy.fsGroup),
    ...seLinuxProblems(`${at}.seLinuxOptions`, context.seLinuxOptions, policy),
    ...hostProblems(spec, policy),
    ...sysctlProblems(context.sysctls ?? [], policy),
    ...(spec.volumes ?? []).flatMap((volume, i) => volumeProblems(spec, volume, i, policy)),
    ...runtimeClassProblems(spec, policy),
    ...containersOf(spec).flatMap((placed) => containerProblems(spec, placed, policy)),
  ];
}

const shownRanges = (strategy: Strategy): string =>
  `[${(strategy?.ranges ?? []).map(({ min = 0, max = 0 }) => `{${min} ${max}}`).join(' ')}]`;

const isWithin = (id: number, strategy: Strategy): boolean =>
  (strategy?.ranges ?? []).some(({ min = 0, max = 0 }) => min <= id && id <= max);

function groupProblems(path: string, groups: readonly number[], strategy: Strategy): string[] {
  const { rule = 'RunAsAny' } = strategy ?? {};
  if (rule === 'RunAsAny') return [];
  const shown = `[]int64{${groups.join(', ')}}`;
  if (groups.length === 0) {
    const why = 'unable to validate empty groups against required ranges';
    return when(rule === 'MustRunAs', () => `${path}: Invalid value: ${shown}: ${why}`);
  }
  return groups
    .filter((group) => !isWithin(group, strategy))
    .map((group) => `${path}: Invalid value: ${shown}: group ${group} must be in the ranges: ${shownRanges(strategy)}`);
}

function seLinuxProblems(path: string, given: SeLinux, { seLinux }: Policy): string[] {
  if (seLinux?.rule !== 'MustRunAs') return [];
  if (given == null) return [`${path}: Required value`];
  const wanted = seLinux.seLinuxOptions ?? {};
  return (['level', 'role', 'type', 'user'] as const).flatMap((member) =>
    when((given[member] ?? '') !== (wanted[member] ?? ''), () =>
      invalid(`${path}.${member}`, given[member] ?? '', `must be ${wanted[member] ?? ''}`),
    ),
  );
}

const HOST = [
  ['hostNetwork', 'Host network'],
  ['hostPID', 'Host PID'],
  ['hostIPC', 'Host IPC'],
] as const;

const hostProblems = (spec: PodSpec, policy: Policy): string[] =>
  HOST.filter(([member]) => spec[member] === true && policy[member] !== true).map(([member, word]) =>
    invalid(`spec.securityContext.${member}`, true, `${word} is not allowed to be used`),
  );

const SAFE_SYSCTLS: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]);

const matchesAny = (patterns: readonly string[] | undefined, name: string): boolean =>
  (patterns ?? []).some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));

const sysctlProblems = (sysctls: readonly { readonly name?: string }[], policy: Policy): string[] =>
  sysctls.flatMap(({ name = '' }, i) => {
    const path = `pod.spec.securityContext.sysctls[${i}]`;
    if (matchesAny(policy.forbiddenSysctls, name)) return [`${path}: Forbidden: sysctl "${name}" is not allowed`];
    const isAllowed = SAFE_SYSCTLS.has(name) || matchesAny(policy.allowedUnsafeSysctls, name);
    return when(!isAllowed, () => `${path}: Forbidden: unsafe sysctl "${name}" is not allowed`);
  });

/** Policies have another name for one of the sources. */
const typeOf = (volume: Volume): string => {
  const source = Object.entries(volume as Readonly<Record<string, unknown>>).find(
    ([member, it]) => member !== 'name' && it != null,
  )?.[0];
  return source === 'cephfs' ? 'cephFS' : (source ?? 'emptyDir');
};

/** The volume that containers find their token in: policies from before it was one allow it along with secrets. */
const isOfToken = ({ projected }: Volume): boolean =>
  (projected?.sources ?? []).length > 0 &&
  (projected?.sources ?? []).every(({ secret }) => secret == null) &&
  (projected?.sources ?? []).some(({ serviceAccountToken }) => serviceAccountToken != null);

function volumeProblems(spec: PodSpec, volume: Volume, i: number, policy: Policy): string[] {
  const path = `spec.volumes[${i}]`;
  const type = typeOf(volume);
  const { volumes = [], allowedFlexVolumes = [], allowedCSIDrivers = [] } = policy;
  const isAllowed =
    volumes.includes('*') || volumes.includes(type) || (volumes.includes('secret') && isOfToken(volume));
  if (!isAllowed) return [invalid(path, type, `${type} volumes are not allowed to be used`)];
  if (volume.hostPath != null) return hostPathProblems(spec, volume, path, policy);
  const flex = volume.flexVolume?.driver ?? '';
  if (
    type === 'flexVolume' &&
    allowedFlexVolumes.length > 0 &&
    !allowedFlexVolumes.some(({ driver }) => driver === flex)
  ) {
    return [invalid(`${path}.driver`, flex, 'Flexvolume driver is not allowed to be used')];
  }
  const csi = volume.csi?.driver ?? '';
  if (type === 'csi' && allowedCSIDrivers.length > 0 && !allowedCSIDrivers.some(({ name }) => name === csi)) {
    return [invalid(`${path}.csi.driver`, csi, 'Inline CSI driver is not allowed to be used')];
  }
  return [];
}

function hostPathProblems(spec: PodSpec, { name = '', hostPath }: Volume, at: string, policy: Policy): string[] {
  const path = hostPath?.path ?? '';
  const allowed = policy.allowedHostPaths ?? [];
  const matching = allowed.filter(({ pathPrefix = '' }) => isBelow(path, pathPrefix));
  if (allowed.length > 0 && matching.length === 0) {
    return [invalid(`${at}.hostPath.pathPrefix`, path, 'is not allowed to be used')];
  }
  if (allowed.length === 0 || matching.some(({ readOnly }) => readOnly !== true)) return [];
  return containersOf(spec).flatMap(({ container, list, index }) =>
    (container.volumeMounts ?? []).flatMap((mount, i) =>
      when(mount.name === name && mount.readOnly !== true, () =>
        invalid(`spec.${list}[${index}].volumeMounts[${i}].readOnly`, false, 'must be read-only'),
      ),
    ),
  );
}

const stripped = (path: string): string => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);

function isBelow(path: string, prefix: string): boolean {
  const [below, above] = [stripped(path), stripped(prefix)];
  return below === above || below.startsWith(above === '/' ? above : `${above}/`);
}

function runtimeClassProblems({ runtimeClassName }: PodSpec, { runtimeClass }: Policy): string[] {
  if (runtimeClassName === undefined || runtimeClass == null) return [];
  const allowed = runtimeClass.allowedRuntimeClassNames ?? [];
  const isAllowed = allowed.includes('*') || allowed.includes(runtimeClassName);
  return when(!isAllowed, () => invalid('spec.runtimeClassName', runtimeClassName, ''));
}

function containerProblems(spec: PodSpec, { container, list, index }: PlacedContainer, policy: Policy): string[] {
  const at = `spec.${list}[${index}]`;
  const own = container.securityContext ?? {};
  const ofPod = spec.securityContext ?? {};
  const context: Context = {
    ...own,
    ...effective('runAsUser', own.runAsUser ?? ofPod.runAsUser),
    ...effective('runAsGroup', own.runAsGroup ?? ofPod.runAsGroup),
    ...effective('runAsNonRoot', own.runAsNonRoot ?? ofPod.runAsNonRoot),
    ...effective('seLinuxOptions', own.seLinuxOptions ?? ofPod.seLinuxOptions),
  };
  const path = `${at}.securityContext`;
  return [
    ...userProblems(path, context, policy),
    ...groupProblems(path, context.runAsGroup === undefined ? [] : [context.runAsGroup], policy.runAsGroup),
    ...seLinuxProblems(`${path}.seLinuxOptions`, context.seLinuxOptions, policy),
    ...when(context.privileged === true && policy.privileged !== true, () =>
      invalid(`${path}.privileged`, true, 'Privileged containers are not allowed'),
    ),
    ...capabilityProblems(`${path}.capabilities`, context, policy),
    ...portProblems(`${at}.hostPort`, container, policy),
    ...flagProblems(path, context, policy),
  ];
}

const effective = (member: keyof Context, value: unknown): object => (value == null ? {} : { [member]: value });

function userProblems(
  path: string,
  { runAsUser: user, runAsNonRoot }: Context,
  { runAsUser: strategy }: Policy,
): string[] {
  if (strategy?.rule === 'MustRunAs') {
    if (user === undefined) return [`${path}.runAsUser: Required value`];
    return when(!isWithin(user, strategy), () =>
      invalid(`${path}.runAsUser`, user, `must be in the ranges: ${shownRanges(strategy)}`),
    );
  }
  if (strategy?.rule !== 'MustRunAsNonRoot') return [];
  if (runAsNonRoot === undefined && user === undefined) return [`${path}.runAsNonRoot: Required value: must be true`];
  return [
    ...when(runAsNonRoot === false, () => invalid(`${path}.runAsNonRoot`, false, 'must be true')),
    ...when(user === 0, () => invalid(`${path}.runAsUser`, 0, 'running with the root UID is forbidden')),
  ];
}

function capabilityProblems(path: string, { capabilities }: Context, policy: Policy): string[] {
  const { add = [], drop = [] } = capabilities ?? {};
  const { allowedCapabilities = [], defaultAddCapabilities = [], requiredDropCapabilities = [] } = policy;
  const isAllowed = (one: string): boolean =>
    allowedCapabilities.includes('*') || allowedCapabilities.includes(one) || defaultAddCapabilities.includes(one);
  return [
    ...add.filter((one) => !isAllowed(one)).map((one) => invalid(`${path}.add`, one, 'capability may not be added')),
    ...requiredDropCapabilities
      .filter((one) => !drop.includes(one) && !drop.includes('ALL'))
      .map((one) =>
        invalid(`${path}.drop`, `[${drop.join(' ')}]`, `${one} is required to be dropped but was not found`),
      ),
  ];
}

function portProblems(path: string, { ports = [] }: Container, { hostPorts = [] }: Policy): string[] {
  const isAllowed = (port: number): boolean => hostPorts.some(({ min = 0, max = 0 }) => min <= port && port <= max);
  const shown = hostPorts.map(({ min = 0, max = 0 }) => (min === max ? String(min) : `${min}-${max}`)).join(',');
  return ports.flatMap(({ hostPort = 0 }) =>
    when(hostPort !== 0 && !isAllowed(hostPort), () =>
      invalid(path, hostPort, `Host port ${hostPort} is not allowed to be used. Allowed ports: [${shown}]`),
    ),
  );
}

function flagProblems(path: string, context: Context, policy: Policy): string[] {
  const { allowPrivilegeEscalation: escalates, readOnlyRootFilesystem: readOnly, procMount = 'Default' } = context;
  const { allowPrivilegeEscalation = true, readOnlyRootFilesystem = false, allowedProcMountTypes = [] } = policy;
  const isMountAllowed = procMount === 'Default' || allowedProcMountTypes.includes(procMount);
  return [
    ...when(!allowPrivilegeEscalation && escalates !== false, () =>
      invalid(
        `${path}.allowPrivilegeEscalation`,
        escalates ?? null,
        'Allowing privilege escalation for containers is not allowed',
      ),
    ),
    ...when(readOnlyRootFilesystem && readOnly !== true, () =>
      invalid(`${path}.readOnlyRootFilesystem`, readOnly ?? null, 'ReadOnlyRootFilesystem must be set to true'),
    ),
    ...when(!isMountAllowed, () => invalid(`${path}.procMount`, procMount, 'ProcMountType is not allowed')),
  ];
}
