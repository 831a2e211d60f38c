import type { ApiObject } from '../../../machinery/meta/object.js';
import type { PodSpec, SeccompProfile } from '../../../machinery/types/generated/core.v1.js';
import { LOCALHOST, profileOf, type SeccompAnnotations } from '../validation/pods/seccomp.js';

function annotationOf({ type, localhostProfile = '' }: SeccompProfile): string | undefined {
  if (type === 'Unconfined') return 'unconfined';
  if (type === 'RuntimeDefault') return 'runtime/default';
  return type === 'Localhost' && localhostProfile !== '' ? LOCALHOST + localhostProfile : undefined;
}

interface Holder {
  securityContext?: { seccompProfile?: SeccompProfile };
}

/**
 * Brings the profiles of a new pod and their older annotations in line: what only one of the two says, the other says as
 * well. A profile of the pod is for all of its containers.
 */
export function alignSeccomp(pod: ApiObject, names: SeccompAnnotations): void {
  const spec = (pod['spec'] ?? {}) as PodSpec & Holder;
  if (spec.os?.name === 'windows') return;
  align(pod, names.seccompOfPod, spec);
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    align(pod, names.seccompOfContainer + (container.name ?? ''), container);
  }
}

function align({ metadata }: ApiObject, name: string, holder: Holder): void {
  const profile = holder.securityContext?.seccompProfile;
  const { annotations = {} } = metadata;
  const annotation = Object.hasOwn(annotations, name) ? annotations[name] : undefined;
  if (profile === undefined) {
    const meant = annotation === undefined ? undefined : profileOf(annotation);
    if (meant !== undefined) holder.securityContext = { ...holder.securityContext, seccompProfile: meant };
  } else if (annotation === undefined) {
    const said = annotationOf(profile);
    if (said !== undefined) metadata.annotations = { ...annotations, [name]: said };
  }
}
