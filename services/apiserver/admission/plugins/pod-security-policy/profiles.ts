import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { containersOf, specOf } from '../../pods/pod.js';

type Annotations = Readonly<Record<string, string>>;

/** Profiles of seccomp and AppArmor are annotations of policies and of pods. */
export type ProfileWords = Vocabulary['profiles'];

const namesIn = (annotations: Annotations, key: string): readonly string[] | undefined => annotations[key]?.split(',');

/** Gives a pod the profiles that a policy has for those that name none. What the fields say follows from the annotations. */
export function assignProfiles(pod: ApiObject, policy: Annotations, words: ProfileWords): void {
  const spec = specOf(pod);
  const given = pod.metadata.annotations ?? {};
  const names = containersOf(spec).map(({ container }) => container.name ?? '');
  const [seccomp, appArmor] = [policy[words.defaultSeccomp], policy[words.defaultAppArmor]];
  const wanted = [
    ...(seccomp === undefined || spec.securityContext?.seccompProfile != null ? [] : [[words.seccompOfPod, seccomp]]),
    ...(appArmor === undefined ? [] : names.map((name) => [words.appArmor + name, appArmor])),
  ].filter(([key = '']) => !Object.hasOwn(given, key));
  if (wanted.length > 0) pod.metadata.annotations = { ...given, ...(Object.fromEntries(wanted) as Annotations) };
}

/** Profiles of a pod that a policy does not allow. */
export function profileProblems(pod: ApiObject, policy: Annotations, words: ProfileWords): string[] {
  const annotations = pod.metadata.annotations ?? {};
  const containers = containersOf(specOf(pod)).map(({ container }) => container.name ?? '');
  const seccomp = namesIn(policy, words.allowedSeccomp);
  const appArmor = namesIn(policy, words.allowedAppArmor);
  const given = (keys: readonly string[]): [key: string, profile: string][] =>
    keys.flatMap((key) => (Object.hasOwn(annotations, key) ? [[key, annotations[key] ?? '']] : []));
  return [
    ...given([words.seccompOfPod, ...containers.map((name) => words.seccompOfContainer + name)]).flatMap(
      ([key, profile]) =>
        seccomp === undefined
          ? [`pod.metadata.annotations[${key}]: Forbidden: seccomp may not be set`]
          : forbidden(key, profile, seccomp, 'seccomp profile'),
    ),
    ...given(containers.map((name) => words.appArmor + name)).flatMap(([key, profile]) =>
      appArmor === undefined ? [] : forbidden(key, profile, appArmor, 'AppArmor profile'),
    ),
  ];
}

function forbidden(key: string, profile: string, allowed: readonly string[], what: string): string[] {
  if (allowed.includes('*') || allowed.includes(profile)) return [];
  return [
    `pod.metadata.annotations[${key}]: Forbidden: ${profile} is not an allowed ${what}. Valid values are ${allowed.join(',')}`,
  ];
}
