import type { FlagTable } from '../../machinery/flags/flags.js';

/** Plugins that servers of this API have (spec 2, 4.4). Any of them may be disabled, whether it is there or not. */
export const ADMISSION_PLUGIN_NAMES = [
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
  'NamespaceLifecycle',
  'NodeRestriction',
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

/** Which admission plugins run (spec 2, 4.4). Names are checked where the plugins are. */
export const ADMISSION_FLAGS = {
  enableAdmissionPlugins: {
    flag: 'enable-admission-plugins',
    type: 'list',
    metavar: 'NAME,...',
    help: 'plugins to run besides those that run where nothing is said, in whatever order',
  },
  disableAdmissionPlugins: {
    flag: 'disable-admission-plugins',
    type: 'list',
    metavar: 'NAME,...',
    help: 'plugins not to run, even when they are enabled; may name some that are not there yet',
  },
} as const satisfies FlagTable;
