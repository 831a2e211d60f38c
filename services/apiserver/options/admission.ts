import type { FlagTable } from '../../machinery/flags/flags.js';

/** Plugins that are there, and whether they run where nothing is said; NodeRestriction does with the mode Node. */
export const ADMISSION_PLUGINS = ['NamespaceLifecycle', 'NodeRestriction'] as const;

export type AdmissionPluginName = (typeof ADMISSION_PLUGINS)[number];

/** Plugins that servers of this API have (spec 2, 4.4) and this one has not yet: what they would do is not done. */
const MISSING_PLUGINS = [
  'AlwaysAdmit',
  'AlwaysDeny',
  'AlwaysPullImages',
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DefaultStorageClass',
  'DefaultTolerationSeconds',
  'DenyEscalatingExec',
  'DenyExecOnPrivileged',
  'DenyServiceExternalIPs',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'ImagePolicyWebhook',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'MutatingAdmissionWebhook',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'PersistentVolumeLabel',
  'PodNodeSelector',
  'PodSecurity',
  'PodSecurityPolicy',
  'PodTolerationRestriction',
  'Priority',
  'ResourceQuota',
  'RuntimeClass',
  'SecurityContextDeny',
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'TaintNodesByCondition',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
] as const;

/** What is looked at, changed and refused between authorization and the store (spec 2, 4.4). */
export const ADMISSION_FLAGS = {
  enableAdmissionPlugins: {
    flag: 'enable-admission-plugins',
    type: 'list',
    metavar: 'NAME,...',
    choices: ADMISSION_PLUGINS,
    help: 'plugins to run besides those that run where nothing is said, in whatever order',
  },
  disableAdmissionPlugins: {
    flag: 'disable-admission-plugins',
    type: 'list',
    metavar: 'NAME,...',
    choices: [...ADMISSION_PLUGINS, ...MISSING_PLUGINS],
    help: 'plugins not to run, even when they are enabled; may name some that are not there yet',
  },
} as const satisfies FlagTable;

export interface AdmissionOptions {
  readonly enableAdmissionPlugins: readonly string[];
  readonly disableAdmissionPlugins: readonly string[];
  readonly authorizationMode: readonly string[];
}

/** Whether a plugin runs: what disables it wins. */
export function runsPlugin(o: AdmissionOptions, name: AdmissionPluginName): boolean {
  if (o.disableAdmissionPlugins.includes(name)) return false;
  return name !== 'NodeRestriction' || o.authorizationMode.includes('Node') || o.enableAdmissionPlugins.includes(name);
}
