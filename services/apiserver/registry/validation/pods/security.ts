import type { SeccompProfile, SecurityContext, Sysctl } from '../../../../machinery/types/generated/core.v1.js';
import { checkText } from '../checks/at.js';
import { localPath } from '../checks/text.js';
import type { TypeRule } from '../types.js';

export const checkSeccomp: TypeRule<SeccompProfile> = (at, profile) => {
  const { type = '', localhostProfile } = profile;
  if (type !== 'Localhost') {
    if (localhostProfile === undefined) return;
    at.invalid('localhostProfile', profile, 'can only be set when seccomp type is Localhost');
  } else if (localhostProfile === undefined) {
    at.required('localhostProfile', 'must be set when seccomp type is Localhost');
  } else {
    checkText(at, 'localhostProfile', localhostProfile, localPath);
  }
};

const SYSCTL_MAX = 253;
const SYSCTL_SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL_FORM = String.raw`^(${SYSCTL_SEGMENT}[\./])*${SYSCTL_SEGMENT}$`;
const SYSCTL = new RegExp(SYSCTL_FORM);

export const checkSysctl: TypeRule<Sysctl> = (at, { name = '' }) => {
  if (name === '' || (name.length <= SYSCTL_MAX && SYSCTL.test(name))) return;
  at.invalid('name', name, `must have at most ${SYSCTL_MAX} characters and match regex ${SYSCTL_FORM}`);
};

export const checkContainerSecurity =
  (allowPrivileged: boolean): TypeRule<SecurityContext> =>
  (at, context) => {
    if (context.privileged === true && !allowPrivileged) at.forbidden('privileged', 'disallowed by cluster policy');
    if (context.allowPrivilegeEscalation !== false) return;
    if (context.privileged === true) {
      at.invalid('', context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true');
    }
    if (context.capabilities?.add?.includes('CAP_SYS_ADMIN') === true) {
      at.invalid('', context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN');
    }
  };
