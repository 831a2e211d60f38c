import { dns1123Subdomain } from '../../../../machinery/meta/names.js';
import type { At } from '../checks/at.js';
import { checkBetween, checkEnum, checkText, each } from '../checks/members.js';
import { localPath } from '../checks/text.js';

interface SeccompProfile {
  readonly type?: string;
  readonly localhostProfile?: string;
}

export interface WindowsOptions {
  readonly gmsaCredentialSpecName?: string;
  readonly hostProcess?: boolean;
}

interface AnySecurityContext {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly seccompProfile?: SeccompProfile;
  readonly windowsOptions?: WindowsOptions;
}

export interface PodSecurityContext extends AnySecurityContext {
  readonly fsGroup?: number;
  readonly fsGroupChangePolicy?: string;
  readonly supplementalGroups?: readonly number[];
  readonly sysctls?: readonly { readonly name?: string }[];
}

export interface SecurityContext extends AnySecurityContext {
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly procMount?: string;
  readonly capabilities?: { readonly add?: readonly string[] };
}

const MOST_ID = 0xffff_ffff;

const checkId = (at: At, member: string, id: number | undefined): void => checkBetween(at, member, id, 0, MOST_ID);

const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function checkSeccomp(at: At, profile: SeccompProfile): void {
  const { type = '', localhostProfile } = profile;
  if (type === '') at.required('type', 'type is required when seccompProfile is set');
  checkEnum(at, 'type', type, PROFILE_TYPES);
  if (type !== 'Localhost') {
    if (localhostProfile !== undefined) {
      at.invalid('localhostProfile', profile, 'can only be set when seccomp type is Localhost');
    }
  } else if (localhostProfile === undefined) {
    at.required('localhostProfile', 'must be set when seccomp type is Localhost');
  } else {
    checkText(at, 'localhostProfile', localhostProfile, localPath);
  }
}

function checkShared(at: At, { runAsUser, runAsGroup, seccompProfile, windowsOptions }: AnySecurityContext): void {
  checkId(at, 'runAsUser', runAsUser);
  checkId(at, 'runAsGroup', runAsGroup);
  if (seccompProfile !== undefined) checkSeccomp(at.child('seccompProfile'), seccompProfile);
  const name = windowsOptions?.gmsaCredentialSpecName;
  checkText(at.child('windowsOptions'), 'gmsaCredentialSpecName', name, dns1123Subdomain);
}

const SYSCTL_MAX = 253;
const SYSCTL_SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL_FORM = String.raw`^(${SYSCTL_SEGMENT}[\./])*${SYSCTL_SEGMENT}$`;
const SYSCTL = new RegExp(SYSCTL_FORM);

function checkSysctls(at: At, sysctls: PodSecurityContext['sysctls']): void {
  const seen = new Set<string>();
  each(at, 'sysctls', sysctls, ({ name = '' }, sysctlAt) => {
    if (name === '') sysctlAt.required('name');
    else if (name.length > SYSCTL_MAX || !SYSCTL.test(name)) {
      sysctlAt.invalid('name', name, `must have at most ${SYSCTL_MAX} characters and match regex ${SYSCTL_FORM}`);
    } else if (seen.has(name)) sysctlAt.duplicate('name', name);
    seen.add(name);
  });
}

export function checkPodSecurity(at: At, context: PodSecurityContext): void {
  checkId(at, 'fsGroup', context.fsGroup);
  checkShared(at, context);
  each(at, 'supplementalGroups', context.supplementalGroups, (id, idAt) => checkId(idAt, '', id));
  checkSysctls(at, context.sysctls);
  checkEnum(at, 'fsGroupChangePolicy', context.fsGroupChangePolicy, ['Always', 'OnRootMismatch']);
}

export function checkContainerSecurity(
  at: At,
  context: SecurityContext,
  { allowPrivileged }: { readonly allowPrivileged: boolean },
): void {
  if (context.privileged === true && !allowPrivileged) at.forbidden('privileged', 'disallowed by cluster policy');
  checkShared(at, context);
  checkEnum(at, 'procMount', context.procMount, ['Default', 'Unmasked']);
  if (context.allowPrivilegeEscalation !== false) return;
  if (context.privileged === true) {
    at.invalid('', context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true');
  }
  if (context.capabilities?.add?.includes('CAP_SYS_ADMIN') === true) {
    at.invalid('', context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN');
  }
}
