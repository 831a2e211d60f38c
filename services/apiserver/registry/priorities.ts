/**
 * How much groups are preferred in discovery, where clients take the first that knows a name; the higher the better. Those
 * of the project's domain stand here without it. APIService objects tell them, and those of other servers have their own.
 */
const GROUPS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    '': 18_000,
    'apiregistration.*': 20_001,
    apps: 17_800,
    'events.*': 17_750,
    'authentication.*': 17_700,
    'authorization.*': 17_600,
    autoscaling: 17_500,
    batch: 17_400,
    'certificates.*': 17_300,
    'networking.*': 17_200,
    policy: 17_100,
    'rbac.authorization.*': 17_000,
    'storage.*': 16_800,
    'admissionregistration.*': 16_700,
    'apiextensions.*': 16_700,
    'scheduling.*': 16_600,
    'coordination.*': 16_500,
    'node.*': 16_300,
    'discovery.*': 16_200,
    'flowcontrol.apiserver.*': 16_100,
  }),
);
/** Of groups that definitions add, and of all that nothing is known of. */
const OF_OTHERS = 1_000;
const DOMAIN = /\.(?:platform|k8s)\.io$/;

const known = (group: string): number | undefined => GROUPS.get(group.replace(DOMAIN, '.*'));

/** The priority of a group that this server serves itself. */
export const groupPriority = (group: string): number => known(group) ?? OF_OTHERS;

/** Whether it is a group that definitions do not make. */
export const isBuiltInGroup = (group: string): boolean => known(group) !== undefined;

/** Versions of built-in groups whose priority their name does not tell. */
const VERSIONS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    '/v1': 1,
    'autoscaling/v2': 30,
    'autoscaling/v2beta2': 1,
    'events.*/v1beta1': 5,
    'discovery.*/v1beta1': 12,
    'flowcontrol.apiserver.*/v1': 21,
    'flowcontrol.apiserver.*/v1beta3': 18,
    'flowcontrol.apiserver.*/v1beta2': 15,
    'flowcontrol.apiserver.*/v1beta1': 12,
  }),
);
/** All versions of a definition, which are in the order of their names. */
export const DEFINED_VERSION_PRIORITY = 100;

/** The priority of a built-in version in its group. */
export function versionPriority(group: string, version: string): number {
  const found = VERSIONS.get(`${group.replace(DOMAIN, '.*')}/${version}`);
  if (found !== undefined) return found;
  return version.includes('alpha') ? 1 : version.includes('beta') ? 9 : 15;
}
