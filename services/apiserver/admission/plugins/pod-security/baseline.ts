import { containersOf, type Container, type PodSpec } from '../../pods/pod.js';
import {
  byContainers,
  containersNamed,
  namesWhere,
  plural,
  quoted,
  setters,
  sorted,
  type AnnotationWords,
  type CheckedPod,
  type Control,
} from './words.js';

/* Controls of the standard `baseline`: what gives a container the rights of its node. */

const violated = (reason: string, parts: readonly string[]): ReturnType<Control> =>
  parts.length === 0 ? undefined : { reason, detail: parts.join(', ') };

export const appArmorProfile: Control = ({ annotations }, { appArmor }) => {
  const forbidden = Object.entries(annotations)
    .filter(([key, profile]) => key.startsWith(appArmor) && !isProfile(profile, ['', 'runtime/default']))
    .map(([key, profile]) => `${key}="${profile}"`);
  return violated(
    plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', forbidden.length),
    forbidden.sort(),
  );
};

const isProfile = (profile: string, allowed: readonly string[]): boolean =>
  allowed.includes(profile) || profile.startsWith('localhost/');

const USUAL_CAPABILITIES: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

/** What containers add beyond some capabilities; '' when it is nothing. */
export function addedBeyond(spec: PodSpec, allowed: ReadonlySet<string>): string {
  const beyond = ({ securityContext }: Container): string[] =>
    (securityContext?.capabilities?.add ?? []).filter((capability) => !allowed.has(capability));
  const names = namesWhere(spec, (container) => beyond(container).length > 0);
  if (names.length === 0) return '';
  const all = containersOf(spec).flatMap(({ container }) => beyond(container));
  return `${containersNamed(names)} must not include ${sorted(all)} in securityContext.capabilities.add`;
}

export const capabilities: Control = ({ spec }) => {
  const detail = addedBeyond(spec, USUAL_CAPABILITIES);
  return violated('non-default capabilities', detail === '' ? [] : [detail]);
};

export const hostNamespaces: Control = ({ spec }) =>
  violated(
    'host namespaces',
    (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((one) => spec[one] === true).map((one) => `${one}=true`),
  );

export const hostPathVolumes: Control = ({ spec }) => {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath != null).map(({ name = '' }) => name);
  if (names.length === 0) return undefined;
  return { reason: 'hostPath volumes', detail: `${plural('volume', 'volumes', names.length)} ${quoted(names)}` };
};

export const hostPorts: Control = ({ spec }) => {
  const portsOf = ({ ports = [] }: Container): string[] =>
    ports.flatMap(({ hostPort = 0 }) => (hostPort === 0 ? [] : [String(hostPort)]));
  const names = namesWhere(spec, (container) => portsOf(container).length > 0);
  if (names.length === 0) return undefined;
  const ports = [...new Set(containersOf(spec).flatMap(({ container }) => portsOf(container)))].sort();
  const use = `${plural('uses', 'use', names.length)} ${plural('hostPort', 'hostPorts', ports.length)}`;
  return { reason: 'hostPort', detail: `${containersNamed(names)} ${use} ${ports.join(', ')}` };
};

export const privileged = byContainers(
  'privileged',
  ({ securityContext }) => securityContext?.privileged === true,
  'must not set securityContext.privileged=true',
);

const isOddMount = ({ securityContext }: Container): boolean => (securityContext?.procMount ?? 'Default') !== 'Default';

export const procMount: Control = ({ spec }) => {
  const names = namesWhere(spec, isOddMount);
  if (names.length === 0) return undefined;
  const types = containersOf(spec).flatMap(({ container }) =>
    isOddMount(container) ? [container.securityContext?.procMount ?? ''] : [],
  );
  return {
    reason: 'procMount',
    detail: `${containersNamed(names)} must not set securityContext.procMount to ${sorted(types)}`,
  };
};

type SeLinux = NonNullable<NonNullable<PodSpec['securityContext']>['seLinuxOptions']>;

const SELINUX_TYPES: ReadonlySet<string> = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t']);

const isOddSeLinux = (options: SeLinux | null | undefined): options is SeLinux => {
  const { type = '', user = '', role = '' } = options ?? {};
  return !SELINUX_TYPES.has(type) || user !== '' || role !== '';
};

export const seLinuxOptions: Control = ({ spec }) => {
  const ofPod = spec.securityContext?.seLinuxOptions;
  const names = namesWhere(spec, ({ securityContext }) => isOddSeLinux(securityContext?.seLinuxOptions));
  const odd = [ofPod, ...containersOf(spec).map(({ container }) => container.securityContext?.seLinuxOptions)].filter(
    isOddSeLinux,
  );
  if (odd.length === 0) return undefined;
  const types = odd.flatMap(({ type = '' }) => (SELINUX_TYPES.has(type) ? [] : [type]));
  const parts = [
    ...(types.length === 0 ? [] : [`${plural('type', 'types', new Set(types).size)} ${sorted(types)}`]),
    ...(odd.some(({ user = '' }) => user !== '') ? ['user may not be set'] : []),
    ...(odd.some(({ role = '' }) => role !== '') ? ['role may not be set'] : []),
  ];
  const who = setters(isOddSeLinux(ofPod), names);
  return {
    reason: 'seLinuxOptions',
    detail: `${who} set forbidden securityContext.seLinuxOptions: ${parts.join('; ')}`,
  };
};

/** Before release 1.19 profiles were annotations. What the fields say counts as if an annotation said it. */
export const seccompAnnotations: Control = (pod, words) => {
  const forbidden = Object.entries(seccompAnnotationsOf(pod, words))
    .filter(([, profile]) => !isProfile(profile, ['', 'runtime/default', 'docker/default']))
    .map(([key, profile]) => `${key}="${profile}"`)
    .sort();
  if (forbidden.length === 0) return undefined;
  const what = plural('forbidden annotation', 'forbidden annotations', forbidden.length);
  return { reason: 'seccompProfile', detail: `${what} ${forbidden.join(', ')}` };
};

const PROFILE_TYPES: ReadonlyMap<string, string> = new Map([
  ['Unconfined', 'unconfined'],
  ['RuntimeDefault', 'runtime/default'],
  ['Localhost', 'localhost/'],
]);

function seccompAnnotationsOf({ annotations, spec }: CheckedPod, words: AnnotationWords): Record<string, string> {
  const typed = (type = ''): string => PROFILE_TYPES.get(type) ?? type;
  const keys: [string, string | undefined][] = [
    [words.seccompOfPod, spec.securityContext?.seccompProfile?.type],
    ...containersOf(spec).map(({ container: { name = '', securityContext } }): [string, string | undefined] => [
      words.seccompOfContainer + name,
      securityContext?.seccompProfile?.type,
    ]),
  ];
  return Object.fromEntries(
    keys.map(([key, type]) => [key, Object.hasOwn(annotations, key) ? (annotations[key] ?? '') : typed(type)]),
  );
}

/** Types of profiles that are set against the standards. */
export const oddProfiles = (types: readonly (string | undefined)[]): string[] =>
  types.flatMap((type) => (type === undefined || CONFINED.has(type) ? [] : [type]));

const CONFINED: ReadonlySet<string> = new Set(['RuntimeDefault', 'Localhost']);

export const profileOf = ({ securityContext }: Pick<Container, 'securityContext'> | PodSpec): string | undefined =>
  securityContext?.seccompProfile?.type;

export const seccompProfile: Control = ({ spec }) => {
  const isOdd = (type: string | undefined): boolean => oddProfiles([type]).length > 0;
  const names = namesWhere(spec, (container) => isOdd(profileOf(container)));
  const who = setters(isOdd(profileOf(spec)), names);
  if (who === '') return undefined;
  const types = oddProfiles([profileOf(spec), ...containersOf(spec).map(({ container }) => profileOf(container))]);
  return {
    reason: 'seccompProfile',
    detail: `${who} must not set securityContext.seccompProfile.type to ${sorted(types)}`,
  };
};

const SAFE_SYSCTLS: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]);

export const sysctls: Control = ({ spec }) =>
  violated(
    'forbidden sysctls',
    (spec.securityContext?.sysctls ?? []).flatMap(({ name = '' }) => (SAFE_SYSCTLS.has(name) ? [] : [name])),
  );

export const windowsHostProcess: Control = ({ spec }) => {
  const names = namesWhere(spec, ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true);
  const who = setters(spec.securityContext?.windowsOptions?.hostProcess === true, names);
  if (who === '') return undefined;
  return { reason: 'hostProcess', detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` };
};
